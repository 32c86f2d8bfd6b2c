//! Asks a remote about pushes that no reference of the clone shows. A single-branch or shallow clone follows only one branch,
//! and a push for review (`refs/for/main`) creates none.

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

/// Most bytes of the list of a remote's references.
const MOST_BYTES: u64 = 16 << 20;

/// Where branches begin.
const BRANCHES: &str = "refs/heads/";

/// Asks the remote about the pushes of `working_copy` that no reference here shows. Whether anything new is known: with that, a
/// release may be repeated.
pub async fn query_remotes_for_pushes(working_copy: &WorkingCopy) -> bool {
    let mut is_new = false;
    for (remote, wanted) in unknown(working_copy) {
        let listed = match list(working_copy, &remote, &wanted).await {
            Ok(listed) => listed,
            Err(error) => {
                tracing::debug!(%error, remote, "the remote does not list its branches");
                continue;
            }
        };
        for (reference, begun) in wanted {
            let commit = match reference.starts_with(BRANCHES) {
                true => listed.get(&reference).cloned(),
                // The remote stores it under a different name.
                false => begun.filter(|begun| listed.values().any(|commit| commit == begun)),
            };
            let Some(commit) = commit.filter(|commit| working_copy.has_commit(commit)) else {
                continue;
            };
            let pushed = RecordedPush {
                commit,
                is_there: true,
                remote: remote.clone(),
                reference,
            };
            if !working_copy.pushed().contains(&pushed) && working_copy.note_pushed(pushed).is_ok() {
                is_new = true;
            }
        }
    }
    is_new
}

/// Whether `remote` has `branch`. `None` where it does not say.
pub async fn has_branch(working_copy: &WorkingCopy, remote: &str, branch: &Branch) -> Option<bool> {
    let reference = format!("{BRANCHES}{branch}");
    let wanted = BTreeMap::from([(reference.clone(), None)]);
    let listed = list(working_copy, remote, &wanted).await.ok()?;
    Some(listed.contains_key(&reference))
}

/// References of remotes that nothing here follows, with the commit whose push has begun.
fn unknown(working_copy: &WorkingCopy) -> BTreeMap<String, BTreeMap<String, Option<CommitSha>>> {
    let mut unknown: BTreeMap<String, BTreeMap<String, Option<CommitSha>>> = BTreeMap::new();
    let mut add = |remote: &str, reference: String, begun: Option<CommitSha>| {
        let branch = reference
            .strip_prefix(BRANCHES)
            .and_then(|name| Branch::parse(name).ok());
        if !branch.is_some_and(|branch| working_copy.is_followed(remote, &branch)) {
            unknown.entry(remote.to_owned()).or_default().insert(reference, begun);
        }
    };
    if let (Some(remote), Some(branch)) = (working_copy.push_remote(), working_copy.checked_out()) {
        add(&remote, format!("{BRANCHES}{branch}"), None);
    }
    if let Some((remote, branch)) = working_copy.upstream().filter(|(remote, _)| remote != ".") {
        add(&remote, format!("{BRANCHES}{branch}"), None);
    }
    for begun in working_copy.pushed().into_iter().filter(|pushed| !pushed.is_there) {
        add(&begun.remote, begun.reference, Some(begun.commit));
    }
    unknown
}

/// The commits that `remote` has, by reference: `wanted` alone, where all of these are branches.
async fn list(
    working_copy: &WorkingCopy,
    remote: &str,
    wanted: &BTreeMap<String, Option<CommitSha>>,
) -> anyhow::Result<HashMap<String, CommitSha>> {
    let root = working_copy.root();
    let own = git::settings::read(root)?;
    if let Some(name) = own.redirecting() {
        anyhow::bail!("the repository's own configuration sets {name}");
    }
    // Where a push goes to.
    let url = working_copy.setting(&format!("remote.{remote}.pushurl"));
    let mut args = vec!["ls-remote", "--refs", "--quiet", "--", url.as_deref().unwrap_or(remote)];
    if wanted.keys().all(|reference| reference.starts_with(BRANCHES)) {
        args.extend(wanted.keys().map(String::as_str));
    }
    let ssh = working_copy.setting("core.sshCommand");
    let listed = tokio::time::timeout(LIMIT, output(root, &args, ssh.as_deref())).await;
    let listed = listed.with_context(|| format!("{remote} gives no answer within {LIMIT:?}"))??;
    let line = |line: &str| {
        let (commit, reference) = line.split_once('\t')?;
        Some((reference.to_owned(), CommitSha::parse(commit).ok()?))
    };
    Ok(listed.lines().filter_map(line).collect())
}

async fn output(root: &Path, args: &[&str], ssh: Option<&str>) -> anyhow::Result<String> {
    let mut command = Command::from(git::network::command(root, args, ssh)?);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut running = command.spawn().context("git cannot be run")?;
    let mut group = running.id().map(Group::of);
    let stdout = running.stdout.take().context("git has no standard output")?;
    let mut listed = String::new();
    stdout.take(MOST_BYTES).read_to_string(&mut listed).await?;
    let status = running.wait().await?;
    if let Some(group) = &mut group {
        group.ended();
    }
    anyhow::ensure!(status.success(), "git ls-remote fails");
    Ok(listed)
}
