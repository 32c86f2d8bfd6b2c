//! The files of the commits that are being pushed.

use std::time::Duration;

use anyhow::{Context, bail};
use coord_agent::git;
use coord_agent::options::AgentArgs;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_git::{RecordedPush, WorkingCopy};
use tokio::io::AsyncReadExt;

use super::change::{BranchChange, ChangedNames};

/// Maximum size of git's lines, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Time limit for git's lines to arrive.
const LIMIT: Duration = Duration::from_secs(2);

/// The files of each branch that is pushed to, and of the branch that the work is for: commits of a work branch may
/// have bypassed the pre-commit hook. Empty for a push to another repository, because it has other locks.
///
/// # Errors
/// When git fails, or its lines are not those of a pre-push hook.
pub(super) async fn changes(
    working_copy: &WorkingCopy,
    args: &AgentArgs,
    remote: Option<&str>,
    url: Option<&str>,
) -> anyhow::Result<Vec<BranchChange>> {
    let input = read_stdin().await?;
    let is_other_repo = url
        .and_then(|url| RepoId::parse(url).ok())
        .is_some_and(|repo| repo != *working_copy.repo());
    if is_other_repo && working_copy.has_remote() {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    // If git itself refuses the push, its input is only a newline.
    for line in input.lines().filter(|line| !line.is_empty()) {
        let Some(push) = Push::parse(line)? else { continue };
        note_push(working_copy, &push, remote);
        let names = pushed_files(working_copy, &push, remote).await?;
        let target = args.branch(working_copy).ok().filter(|target| *target != push.branch);
        if let Some(target) = target {
            let names = exclude_merged(working_copy, &target, &push, names.clone()).await?;
            changes.push(BranchChange { branch: target, names });
        }
        changes.push(BranchChange {
            branch: push.branch,
            names,
        });
    }
    Ok(changes)
}

async fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let mut input = tokio::io::stdin().take(MAX_BYTES + 1);
    let result = tokio::time::timeout(LIMIT, input.read_to_string(&mut text)).await;
    result
        .with_context(|| format!("standard input did not end within {LIMIT:?}"))?
        .context("standard input")?;
    if text.len() as u64 > MAX_BYTES {
        bail!("standard input is larger than {MAX_BYTES} bytes");
    }
    Ok(text)
}

/// Notes the destination of the commit, so that a later command can query the remote: a local reference may never show
/// the push.
fn note_push(working_copy: &WorkingCopy, push: &Push, remote: Option<&str>) {
    let (Some(remote), Ok(commit)) = (remote, CommitSha::parse(&push.new)) else {
        return;
    };
    let is_branch = push.reference.starts_with("refs/heads/");
    if is_branch && working_copy.is_followed(remote, &push.branch) {
        return;
    }
    let recorded = RecordedPush {
        commit,
        is_there: false,
        remote: remote.to_owned(),
        reference: push.reference.clone(),
    };
    if let Err(error) = working_copy.record_push(recorded) {
        tracing::debug!(%error, "the push cannot be noted");
    }
}

/// Keeps the names that the push itself changes. The others were merged from `target`.
async fn exclude_merged(
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

/// The push of one branch.
#[derive(Debug, PartialEq, Eq)]
struct Push {
    branch: Branch,
    /// The reference at the remote: that of the branch, or one for its review.
    reference: String,
    /// The pushed commit.
    new: String,
    /// The commit that the branch has now; `None` for a new branch.
    old: Option<String>,
}

impl Push {
    /// Parses `LOCAL-REFERENCE COMMIT REMOTE-REFERENCE COMMIT`. `None` for tags, and for branches that are deleted.
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
        let branch_name = reference.strip_prefix("refs/heads/");
        // Gerrit takes options after a percent sign.
        let review_name = || reference.strip_prefix("refs/for/")?.split('%').next();
        let branch = branch_name
            .or_else(review_name)
            .and_then(|name| Branch::parse(name).ok());
        Ok(branch.filter(|_| !is_zero(new)).map(|branch| Push {
            branch,
            reference: reference.to_owned(),
            new: new.to_owned(),
            old: Some(old.to_owned()).filter(|old| !is_zero(old)),
        }))
    }
}

/// The files that the new commits of `push` change. A merge counts only the files whose conflicts it resolves.
async fn pushed_files(working_copy: &WorkingCopy, push: &Push, remote: Option<&str>) -> anyhow::Result<ChangedNames> {
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
        // This clone may lack a newer commit by someone else; git itself refuses that push.
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
