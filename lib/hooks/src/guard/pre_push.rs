//! The files of the commits that are being pushed.

use std::time::Duration;

use anyhow::{Context, bail};
use coord_agent::git;
use coord_agent::options::AgentArgs;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_git::{RecordedPush, WorkingCopy};
use tokio::io::AsyncReadExt;

use super::change::{BranchChange, ChangedNames};

/// Most bytes of git's lines.
const MOST_BYTES: u64 = 1 << 20;

/// Time that they may take to arrive.
const LIMIT: Duration = Duration::from_secs(2);

/// The files of each branch that is pushed to, and of the branch that the work is for: commits of a work branch may have gone past the
/// hook before a commit. None for a push to a repository other than the one that locks are kept for.
///
/// # Errors
/// When git fails, or its lines are not those of a pre-push hook.
pub(super) async fn changes(
    working_copy: &WorkingCopy,
    args: &AgentArgs,
    remote: Option<&str>,
    url: Option<&str>,
) -> anyhow::Result<Vec<BranchChange>> {
    let lines = lines().await?;
    let is_other = url
        .and_then(|url| RepoId::parse(url).ok())
        .is_some_and(|repo| repo != *working_copy.repo());
    if is_other && working_copy.has_remote() {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    // Where git refuses the push itself, nothing is left of its lines but the end of one.
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let Some(push) = Push::parse(line)? else { continue };
        note_begun(working_copy, &push, remote);
        let names = files(working_copy, &push, remote).await?;
        let target = args.branch(working_copy).ok().filter(|target| *target != push.branch);
        if let Some(target) = target {
            let names = beyond(working_copy, &target, &push, names.clone()).await?;
            changes.push(BranchChange { branch: target, names });
        }
        changes.push(BranchChange {
            branch: push.branch,
            names,
        });
    }
    Ok(changes)
}

async fn lines() -> anyhow::Result<String> {
    let mut text = String::new();
    let mut input = tokio::io::stdin().take(MOST_BYTES + 1);
    let read = tokio::time::timeout(LIMIT, input.read_to_string(&mut text)).await;
    read.with_context(|| format!("standard input did not end within {LIMIT:?}"))?
        .context("standard input")?;
    if text.len() as u64 > MOST_BYTES {
        bail!("standard input is larger than {MOST_BYTES} bytes");
    }
    Ok(text)
}

/// Notes the destination of the commit, to look it up at the remote later: no reference here may show it.
fn note_begun(working_copy: &WorkingCopy, push: &Push, remote: Option<&str>) {
    let (Some(remote), Ok(commit)) = (remote, CommitSha::parse(&push.new)) else {
        return;
    };
    let is_branch = push.reference.starts_with("refs/heads/");
    if is_branch && working_copy.is_followed(remote, &push.branch) {
        return;
    }
    let begun = RecordedPush {
        commit,
        is_there: false,
        remote: remote.to_owned(),
        reference: push.reference.clone(),
    };
    if let Err(error) = working_copy.note_pushed(begun) {
        tracing::debug!(%error, "the push cannot be noted");
    }
}

/// Those of `names` that the push itself changes: the rest was brought along from `target`.
async fn beyond(
    working_copy: &WorkingCopy,
    target: &Branch,
    push: &Push,
    mut names: ChangedNames,
) -> anyhow::Result<ChangedNames> {
    if let Some(tip) = working_copy.tip(target).filter(|_| !names.is_empty()) {
        let diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        let arguments = diff.into_iter().chain([tip.commit.as_str(), &push.new, "--"]);
        names.retain(&ChangedNames::parse(
            &git::output(working_copy.root(), arguments).await?,
        ));
    }
    Ok(names)
}

/// One branch that is pushed.
#[derive(Debug, PartialEq, Eq)]
struct Push {
    branch: Branch,
    /// The reference at the remote: that of the branch, or one for its review.
    reference: String,
    /// The commit that it gets.
    new: String,
    /// The commit that it has; `None` for a new branch.
    old: Option<String>,
}

impl Push {
    /// Of `LOCAL-REFERENCE COMMIT REMOTE-REFERENCE COMMIT`. `None` for tags, and for branches that are deleted.
    fn parse(line: &str) -> anyhow::Result<Option<Push>> {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, new, reference, old] = words[..] else {
            bail!("standard input has a line that is not git's: {line:?}");
        };
        let is_id = |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id(new) || !is_id(old) {
            bail!("standard input has a line without commits: {line:?}");
        }
        let is_zero = |id: &str| id.bytes().all(|byte| byte == b'0');
        let name = reference.strip_prefix("refs/heads/");
        // Gerrit takes options behind a percent sign.
        let reviewed = || reference.strip_prefix("refs/for/")?.split('%').next();
        let branch = name.or_else(reviewed).and_then(|name| Branch::parse(name).ok());
        Ok(branch.filter(|_| !is_zero(new)).map(|branch| Push {
            branch,
            reference: reference.to_owned(),
            new: new.to_owned(),
            old: Some(old.to_owned()).filter(|old| !is_zero(old)),
        }))
    }
}

/// The files that the commits of `push` change which the remote does not have; of merges, those whose conflicts were resolved.
async fn files(working_copy: &WorkingCopy, push: &Push, remote: Option<&str>) -> anyhow::Result<ChangedNames> {
    let root = working_copy.root();
    let of_remote = format!("--remotes={}", remote.unwrap_or_default());
    let mut arguments = vec![
        "log",
        "--format=",
        "--name-only",
        "-z",
        "--cc",
        "--no-renames",
        "--no-ext-diff",
        &push.new,
        "--not",
    ];
    match &push.old {
        // A newer commit by someone else may be unknown here; git refuses that push itself.
        Some(old) if git::output(root, ["cat-file", "-e", old]).await.is_ok() => arguments.push(old),
        _ if remote.is_some() => arguments.push(&of_remote),
        _ => arguments.push("--remotes"),
    }
    Ok(ChangedNames::parse(&git::output(root, arguments).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_are_pushes_of_branches() {
        let (one, two, zero) = ("1".repeat(40), "2".repeat(40), "0".repeat(40));
        let push = |line: String| {
            Push::parse(&line)
                .unwrap()
                .map(|push| (push.branch.to_string(), push.old))
        };
        let topic = |old: Option<&String>| Some(("topic".to_owned(), old.cloned()));
        assert_eq!(
            push(format!("refs/heads/x {one} refs/heads/topic {two}")),
            topic(Some(&two))
        );
        assert_eq!(push(format!("HEAD {one} refs/heads/topic {zero}")), topic(None));
        assert_eq!(push(format!("(delete) {zero} refs/heads/topic {two}")), None);
        assert_eq!(push(format!("HEAD {one} refs/for/topic%wip {zero}")), topic(None));
        assert_eq!(push(format!("refs/tags/v1 {one} refs/tags/v1 {zero}")), None);
        for wrong in ["", "a b c", "a b c d", &format!("x {one} refs/heads/topic abc")] {
            assert!(Push::parse(wrong).is_err(), "{wrong}");
        }
    }
}
