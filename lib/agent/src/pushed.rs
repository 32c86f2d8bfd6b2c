//! Asks a remote about pushes that no reference of the clone shows. A single-branch or shallow clone follows only one
//! branch, and a push for review (`refs/for/main`) creates no branch.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use coord_domain::{Branch, CommitSha};
use coord_git::{RecordedPush, WorkingCopy};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::git::{self, Group};

/// Time limit of a request to a remote.
const LIMIT: Duration = Duration::from_secs(10);

/// Maximum number of bytes of the list of a remote's references.
const MAX_BYTES: u64 = 16 << 20;

/// The prefix of references to branches.
const BRANCHES: &str = "refs/heads/";

/// References, each with the commit whose push to it has begun, if there is one.
type PushedReferences = BTreeMap<String, Option<CommitSha>>;

/// Asks the remotes about the pushes of `working_copy` that no reference of the clone shows. Returns whether a new push
/// was found: then a release may be repeated.
pub async fn query_remotes_for_pushes(working_copy: &WorkingCopy) -> bool {
    let mut is_new = false;
    for (remote, references) in unfollowed_references(working_copy) {
        let commits = match list_commits(working_copy, &remote, &references).await {
            Ok(commits) => commits,
            Err(error) => {
                tracing::debug!(%error, remote, "the remote does not list its branches");
                continue;
            }
        };
        for (reference, unconfirmed) in references {
            let commit = match reference.starts_with(BRANCHES) {
                true => commits.get(&reference).cloned(),
                // The remote stores it under a different name.
                false => unconfirmed.filter(|unconfirmed| commits.values().any(|commit| commit == unconfirmed)),
            };
            let Some(commit) = commit.filter(|commit| working_copy.has_commit(commit)) else {
                continue;
            };
            let push = RecordedPush {
                commit,
                is_there: true,
                remote: remote.clone(),
                reference,
            };
            if !working_copy.recorded_pushes().contains(&push) && working_copy.record_push(push).is_ok() {
                is_new = true;
            }
        }
    }
    is_new
}

/// Whether `remote` has `branch`. `None` if the remote does not answer.
pub async fn has_branch(working_copy: &WorkingCopy, remote: &str, branch: &Branch) -> Option<bool> {
    let reference = format!("{BRANCHES}{branch}");
    let references = BTreeMap::from([(reference.clone(), None)]);
    let commits = list_commits(working_copy, remote, &references).await.ok()?;
    Some(commits.contains_key(&reference))
}

/// The pushed references that the clone does not follow, by remote.
fn unfollowed_references(working_copy: &WorkingCopy) -> BTreeMap<String, PushedReferences> {
    let mut by_remote: BTreeMap<String, PushedReferences> = BTreeMap::new();
    let mut add = |remote: &str, reference: String, unconfirmed: Option<CommitSha>| {
        let branch = reference
            .strip_prefix(BRANCHES)
            .and_then(|name| Branch::parse(name).ok());
        if !branch.is_some_and(|branch| working_copy.is_followed(remote, &branch)) {
            by_remote
                .entry(remote.to_owned())
                .or_default()
                .insert(reference, unconfirmed);
        }
    };
    if let (Some(remote), Some(branch)) = (working_copy.push_remote(), working_copy.checked_out()) {
        add(&remote, format!("{BRANCHES}{branch}"), None);
    }
    if let Some((remote, branch)) = working_copy.upstream().filter(|(remote, _)| remote != ".") {
        add(&remote, format!("{BRANCHES}{branch}"), None);
    }
    for push in working_copy.recorded_pushes().into_iter().filter(|push| !push.is_there) {
        add(&push.remote, push.reference, Some(push.commit));
    }
    by_remote
}

/// The commits of `remote` by reference: of all its references, or of `references` if these are all branches.
async fn list_commits(
    working_copy: &WorkingCopy,
    remote: &str,
    references: &PushedReferences,
) -> anyhow::Result<HashMap<String, CommitSha>> {
    let root = working_copy.root();
    let own_settings = git::settings::read(root)?;
    if let Some(name) = own_settings.redirecting() {
        anyhow::bail!("the repository's own configuration sets {name}");
    }
    // A push goes to this address if it is set.
    let push_url = working_copy.setting(&format!("remote.{remote}.pushurl"));
    let address = push_url.as_deref().unwrap_or(remote);
    let mut args = vec!["ls-remote", "--refs", "--quiet", "--", address];
    if references.keys().all(|reference| reference.starts_with(BRANCHES)) {
        args.extend(references.keys().map(String::as_str));
    }
    let ssh_command = working_copy.setting("core.sshCommand");
    let output = tokio::time::timeout(LIMIT, output(root, &args, ssh_command.as_deref())).await;
    let output = output.with_context(|| format!("{remote} does not answer within {LIMIT:?}"))??;
    let parse = |line: &str| {
        let (commit, reference) = line.split_once('\t')?;
        Some((reference.to_owned(), CommitSha::parse(commit).ok()?))
    };
    Ok(output.lines().filter_map(parse).collect())
}

async fn output(root: &Path, args: &[&str], ssh_command: Option<&str>) -> anyhow::Result<String> {
    let mut command = Command::from(git::network::command(root, args, ssh_command)?);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut running = command.spawn().context("git cannot be run")?;
    let mut group = running.id().map(Group::of);
    let stdout = running.stdout.take().context("git has no standard output")?;
    let mut text = String::new();
    stdout.take(MAX_BYTES).read_to_string(&mut text).await?;
    let status = running.wait().await?;
    if let Some(group) = &mut group {
        group.disarm();
    }
    anyhow::ensure!(status.success(), "git ls-remote fails");
    Ok(text)
}
