//! What was changed in a working copy and is not on its branch.

use coord_git::WorkingCopy;

use super::git;
use super::work::Work;

/// Those of `files`, which are paths of the repository, that differ from the branch as the working copy has it: by commits that
/// are not pushed, by changes that are not committed, or because they are new.
///
/// # Errors
/// When git cannot tell.
pub async fn changed(work: &Work, files: &[String]) -> anyhow::Result<Vec<String>> {
    // Without a branch to compare with, nothing is known to be pushed.
    let Some(base) = work.base_head() else {
        return Ok(files.to_vec());
    };
    let of_base = ["diff", "--name-only", "--no-renames", "-z", &base];
    let of_new = ["ls-files", "--others", "-z"];
    let (differing, new) = tokio::join!(
        listed(&work.working_copy, &of_base, files),
        listed(&work.working_copy, &of_new, files),
    );
    Ok(differing?.into_iter().chain(new?).collect())
}

/// The paths that a command of git lists of `files`.
async fn listed(working_copy: &WorkingCopy, command: &[&str], files: &[String]) -> anyhow::Result<Vec<String>> {
    let files = files.iter().map(String::as_str);
    let args = ["--literal-pathspecs"].into_iter().chain(command.iter().copied());
    let output = git::output(working_copy.root(), args.chain(["--"]).chain(files)).await?;
    Ok(git::paths(&output))
}
