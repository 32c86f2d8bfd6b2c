//! The files of the commit that is being made.

use std::path::{Path, PathBuf};

use coord_agent::git;
use coord_agent::options::AgentArgs;
use coord_files::RootedPath;
use coord_git::WorkingCopy;

use super::change::{BranchChange, ChangedNames};

/// The index that git uses for this commit: a temporary one if only some files are committed (`git commit FILE`).
pub(super) const INDEX: &str = "GIT_INDEX_FILE";

/// Maximum size of the file of the commits that are being merged, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The staged files that differ from every parent of the commit, and from the head of the branch. Other changes in a
/// merge were made by someone else.
///
/// # Errors
/// When git fails, or the branch of the work is unknown.
pub(super) async fn changes(working_copy: &WorkingCopy, args: &AgentArgs) -> anyhow::Result<BranchChange> {
    let branch = args.branch(working_copy)?;
    let index = index()?;
    let root = working_copy.root();
    let mut names = ChangedNames::parse(&list_staged(root, index.as_deref(), None).await?);
    let tip = working_copy.tip(&branch).map(|tip| tip.commit.to_string());
    for parent in merged_commits(working_copy).into_iter().chain(tip) {
        if names.is_empty() {
            break;
        }
        // A commit that this clone lacks cannot be compared.
        if let Ok(staged) = list_staged(root, index.as_deref(), Some(&parent)).await {
            names.retain(&ChangedNames::parse(&staged));
        }
    }
    Ok(BranchChange { branch, names })
}

/// The absolute path of the commit's index. Git sets it relative to the folder in which it runs the hook.
pub(super) fn index() -> anyhow::Result<Option<PathBuf>> {
    let index = std::env::var_os(INDEX).map(PathBuf::from);
    Ok(index.map(std::path::absolute).transpose()?)
}

/// The staged files that differ from `commit`, or from the checked-out commit, as git lists them.
async fn list_staged(root: &Path, index: Option<&Path>, commit: Option<&str>) -> anyhow::Result<Vec<u8>> {
    let arguments = ["diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
    let arguments = arguments.into_iter().chain(commit).chain(["--"]);
    git::output_with(root, arguments, index.map(|index| (INDEX, index))).await
}

/// The commits that are being merged.
fn merged_commits(working_copy: &WorkingCopy) -> Vec<String> {
    let text = RootedPath::new(working_copy.git_folder(), "MERGE_HEAD").read(MAX_BYTES);
    let text = text.ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_id = |line: &&str| matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.lines().filter(is_id).map(str::to_owned).collect()
}
