//! Changes in a working copy that are not on its branch.

use std::path::Path;

use coord_domain::Branch;
use coord_git::WorkingCopy;

use super::git;

/// Maximum number of files in one call of git: systems limit the length of a command line.
const MAX_FILES: usize = 200;

/// The files of `files`, which are paths of the repository, that differ from the working copy's `branch`: by commits
/// that are not pushed, by changes that are not committed, or because they are new. A file that is as at the head of
/// the branch does not differ, whatever commit brought it there.
///
/// # Errors
/// When git fails.
pub async fn changed(working_copy: &WorkingCopy, branch: &Branch, files: &[String]) -> anyhow::Result<Vec<String>> {
    // Without a branch to compare with, nothing is known to be pushed.
    let Some(base) = working_copy.base_head(branch) else {
        return Ok(files.to_vec());
    };
    let root = working_copy.root();
    let diff_base = [
        "diff",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "-z",
        base.as_str(),
    ];
    let list_untracked = ["ls-files", "--others", "-z"];
    let (differing, untracked) = tokio::join!(
        list_files(root, &diff_base, files),
        list_files(root, &list_untracked, files)
    );
    let mut differing = differing?;
    let tip = working_copy.tip(branch).map(|tip| tip.commit);
    if let Some(tip) = tip.filter(|tip| *tip != base && !differing.is_empty()) {
        let mut diff_tip = diff_base;
        diff_tip[5] = tip.as_str();
        differing = list_files(root, &diff_tip, &differing).await?;
    }
    Ok(differing.into_iter().chain(untracked?).collect())
}

/// The files of `files` that have uncommitted changes in the working copy at `root`, including untracked files.
///
/// # Errors
/// When git fails.
pub async fn uncommitted(root: &Path, files: &[impl AsRef<str>]) -> anyhow::Result<Vec<String>> {
    // A rename would name two files in one line.
    let status = [
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
    ];
    let lines = list_files(root, &status, files).await?;
    Ok(lines
        .iter()
        .filter_map(|line| line.get(3..))
        .map(str::to_owned)
        .collect())
}

/// The entries that `git ARGS -- FILES` prints in the working copy at `root`, separated by NUL (`-z`).
///
/// # Errors
/// When git fails.
pub async fn list_files(root: &Path, args: &[&str], files: &[impl AsRef<str>]) -> anyhow::Result<Vec<String>> {
    let mut entries = Vec::new();
    for files in files.chunks(MAX_FILES) {
        let args = ["--literal-pathspecs"].iter().chain(args).chain(&["--"]).copied();
        let output = git::output(root, args.chain(files.iter().map(AsRef::as_ref))).await?;
        entries.extend(git::paths(&output));
    }
    Ok(entries)
}
