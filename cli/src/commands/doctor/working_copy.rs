//! Git, the repository, the branch and the session.

use std::path::Path;

use coord_agent::clone_list::CloneList;
use coord_agent::git;
use coord_agent::next_command::missing_branch_command;
use coord_agent::options::AgentArgs;
use coord_agent::work::Work;
use coord_domain::Branch;
use coord_git::{OpenError, WorkingCopy};
use coord_settings::env_vars;

use super::finding::Finding;

/// The oldest git that works with the commands: the first with `config --show-scope`.
const MIN_GIT: (u32, u32) = (2, 26);

/// Checks that git can be run, and is not too old.
pub(super) async fn check_git() -> Finding {
    const FIX: &str = "install git 2.26 or later";
    let output = match git::output(".".as_ref(), ["--version"]).await {
        Ok(output) => String::from_utf8_lossy(&output).trim().to_owned(),
        Err(error) => return Finding::wrong("git", format!("{error:#}"), FIX),
    };
    match version(&output) {
        Some(version) if version < MIN_GIT => Finding::wrong("git", format!("{output} is too old"), FIX),
        Some(_) => Finding::ok("git", output),
        None => Finding::warn("git", format!("'{output}' is not a version"), FIX),
    }
}

/// Major and minor version in the output of `git --version`.
fn version(output: &str) -> Option<(u32, u32)> {
    let mut numbers = output.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The finding where the folder is in no working copy, or an option is not valid.
pub(super) fn open_failure(error: &anyhow::Error) -> Finding {
    let sentence = format!("{error:#}");
    let fix = match error.downcast_ref() {
        Some(OpenError::Unsafe { path }) => format!("git config --global --add safe.directory {}", path.display()),
        _ if sentence.contains("no branch is checked out") => "git switch main".to_owned(),
        _ => "cd to a clone of the repository".to_owned(),
    };
    Finding::wrong("repository", sentence, fix)
}

/// Checks the repository, the branch and the session.
pub(super) async fn check(work: &Work) -> Vec<Finding> {
    vec![check_repository(work), check_branch(work).await, check_session(work)]
}

fn check_repository(work: &Work) -> Finding {
    let copy = &work.working_copy;
    let repository = format!("{} in {}", work.repo, copy.root().display());
    match copy.has_remote() {
        true => Finding::ok("repository", repository),
        false => Finding::warn(
            "repository",
            format!(
                "{repository} has no remote with a URL of host, owner and name: other clones do not share its locks"
            ),
            "git remote add origin URL",
        ),
    }
}

async fn check_branch(work: &Work) -> Finding {
    let branch = &work.branch;
    let copy = &work.working_copy;
    let checked_out = copy.checked_out().map(|branch| branch.to_string());
    let sentence = match checked_out {
        Some(name) if name == branch.as_str() => format!("the work is for {branch}"),
        Some(name) => format!("the work on {name} is for {branch}"),
        None => format!("the work is for {branch}; no branch is checked out"),
    };
    match (copy.head(), copy.tip(branch)) {
        (None, _) => Finding::wrong("branch", format!("{sentence}; there is no commit yet"), "git commit"),
        (Some(_), None) if copy.has_remote() => Finding::warn(
            "branch",
            format!("{sentence}, which this clone does not know"),
            missing_branch_command(work)
                .await
                .unwrap_or_else(|| "git fetch".to_owned()),
        ),
        (Some(_), _) => Finding::ok("branch", sentence),
    }
}

/// The git command that stores the remote's default branch in the clone.
const SET_HEAD: &str = "remote set-head origin --auto";

/// Checks that agents in other clones of the repository, here or elsewhere, take the same branch as the default.
pub(super) fn check_default_branch(args: &AgentArgs, work: &Work) -> Vec<Finding> {
    let copy = &work.working_copy;
    let is_named = args.branch.is_some() || copy.setting("coord.branch").is_some();
    let own = copy.default_branch().filter(|_| copy.has_remote() && !is_named);
    let Some((own, is_from_remote)) = own else {
        return Vec::new();
    };
    let list = CloneList::read(copy.repo());
    let other_clones = list.all().filter(|clone| *clone != copy.shared_folder());
    let difference = |clone: &Path| {
        let other = WorkingCopy::find(clone).ok()??;
        let (theirs, is_theirs_from_remote) = other.default_branch().filter(|_| other.repo() == copy.repo())?;
        let fix = match is_theirs_from_remote {
            true => format!("git {SET_HEAD}"),
            false => format!("git -C '{}' {SET_HEAD}", other.root().display()),
        };
        (theirs != own).then(|| {
            let sentence = format!(
                "the default branch is {own} in this clone and {theirs} in {}: agents in the two clones do not see each other's locks",
                other.root().display()
            );
            Finding::warn("default branch", sentence, fix)
        })
    };
    let mut findings: Vec<Finding> = other_clones.filter_map(difference).collect();
    let has = |name: &str| Branch::parse(name).is_ok_and(|branch| copy.tip(&branch).is_some());
    if findings.is_empty() && !is_from_remote && has("main") && has("master") {
        findings.push(Finding::warn(
            "default branch",
            format!(
                "the remote has main and master, and this clone was not told which is the default; it takes {own}, where another clone may \
                 take the other"
            ),
            format!("git {SET_HEAD}"),
        ));
    }
    findings
}

fn check_session(work: &Work) -> Finding {
    let sentence = match &work.agent_id {
        Some(agent) => format!("you are the agent {}", agent.as_str()),
        None => format!(
            "you are a person: no agent runs this, and {} is not set",
            env_vars::COORD_AGENT
        ),
    };
    Finding::ok("session", sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fix_for_a_working_copy_depends_on_its_problem() {
        let path = std::path::PathBuf::from("/srv/shop");
        let fix = |error: OpenError| open_failure(&anyhow::Error::new(error)).fix;
        assert_eq!(
            fix(OpenError::Unsafe { path: path.clone() }).as_deref(),
            Some("git config --global --add safe.directory /srv/shop")
        );
        assert_eq!(
            fix(OpenError::NoRepository { path }).as_deref(),
            Some("cd to a clone of the repository")
        );
    }

    #[test]
    fn the_version_of_git_is_read_on_every_system() {
        assert_eq!(version("git version 2.47.0"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 2.44.0.windows.1"), Some((2, 44)));
        assert_eq!(version("hub version 3"), None);
        assert!(version("git version 1.8.3").unwrap() < MIN_GIT);
    }
}
