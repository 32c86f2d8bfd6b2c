//! The head of the branch, and how long ago the clone was fetched.

use std::time::SystemTime;

use coord_agent::local_server;
use coord_agent::next_command::{self, missing_branch_command};
use coord_agent::terminal::output::short;
use coord_agent::terminal::times::duration;
use coord_agent::workplace::Workplace;
use coord_protocol::{ClientError, ErrorCode, Status};

use super::finding::Finding;

/// Seconds after which a fetch is old: the clone may lack much that others have pushed.
const OLD_FETCH: i64 = 24 * 3600;

/// A request needs a file; this one need not exist.
const ANY_FILE: &str = "README.md";

/// The command that shows the log of the server, or the step where the server runs elsewhere.
pub(super) fn see_the_log(workplace: &Workplace) -> String {
    let log = local_server::log(&workplace.work.working_copy);
    match workplace.connection.is_local && log.is_file() {
        true => format!("tail '{}'", log.display()),
        false => "see the log of the server".to_owned(),
    }
}

/// Checks the head of the branch, whether the working copy contains it, and how old the last fetch is.
pub(super) async fn check_head(workplace: &Workplace) -> Vec<Finding> {
    let work = &workplace.work;
    let branch = &work.branch;
    let request = work.check(vec![ANY_FILE.to_owned()], None);
    let response = match workplace.connection.client.check_status(&request).await {
        Ok(response) => response,
        Err(error) => {
            let fix = match &error {
                ClientError::Refused { error, .. } if error.error == ErrorCode::UnknownBranch => {
                    missing_branch_command(work)
                        .await
                        .unwrap_or_else(|| see_the_log(workplace))
                }
                _ => see_the_log(workplace),
            };
            return vec![Finding::wrong("head", workplace.describe_error(&error), fix)];
        }
    };
    let head = response.repo_head.as_deref().map_or("unknown", short).to_owned();
    let warning = |code: &str| response.warnings.iter().find(|warning| warning.starts_with(code));
    let is_behind = response.status == Status::Stale || warning("STALE_BRANCH").is_some();
    let finding = match warning("HEAD_UNCONFIRMED") {
        _ if response.status == Status::Offline => {
            Finding::wrong("head", response.orchestration.reason.clone(), see_the_log(workplace))
        }
        Some(warning) => Finding::warn("head", warning.clone(), see_the_log(workplace)),
        None if is_behind => {
            let sentence =
                format!("the working copy is behind {branch}, whose head is {head}: claims for writing are refused");
            match next_command::pull(work).await {
                Some(command) => Finding::warn("head", sentence, command),
                None => Finding::ok("head", sentence),
            }
        }
        None => Finding::ok(
            "head",
            format!("{branch} is at {head}, and the working copy contains that commit"),
        ),
    };
    std::iter::once(finding).chain(check_fetch_age(workplace)).collect()
}

/// Checks how long ago the clone was fetched, because the server of a clone knows no more than the clone.
fn check_fetch_age(workplace: &Workplace) -> Option<Finding> {
    let work = &workplace.work;
    if !workplace.connection.is_local || !work.working_copy.has_remote() {
        return None;
    }
    let shared = work.working_copy.shared_folder();
    let written_by_fetch = ["FETCH_HEAD", "packed-refs", "refs/remotes"].map(|name| shared.join(name));
    let times = written_by_fetch
        .iter()
        .filter_map(|path| std::fs::metadata(path).ok()?.modified().ok());
    let age = SystemTime::now().duration_since(times.max()?).unwrap_or_default();
    let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
    let sentence = format!("this clone was last fetched, pushed or cloned {} ago", duration(age));
    Some(match age > OLD_FETCH {
        true => Finding::warn("fetch", sentence, "git fetch"),
        false => Finding::ok("fetch", sentence),
    })
}
