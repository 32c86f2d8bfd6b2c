//! The files of the commit that is being made.

use std::path::PathBuf;

use coord_git::WorkingCopy;

use crate::agent::git;
use crate::agent::options::AgentArgs;

use super::verdict::BranchChange;

/// The index that git has made for this commit: one of its own where only some files are committed (`git commit FILE`).
const INDEX: &str = "GIT_INDEX_FILE";

/// The staged files.
///
/// # Errors
/// When git fails, or it cannot be told which branch the work is for.
pub(super) async fn changes(working_copy: &WorkingCopy, args: &AgentArgs) -> anyhow::Result<BranchChange> {
    let branch = args.branch(working_copy)?;
    // Relative to the folder in which git runs the hook.
    let index = std::env::var_os(INDEX).map(PathBuf::from);
    let index = index.map(std::path::absolute).transpose()?;
    let arguments = ["diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
    let printed = git::output_with_index(working_copy.root(), arguments, index.as_deref()).await?;
    Ok(BranchChange {
        branch,
        files: git::paths(&printed),
    })
}
