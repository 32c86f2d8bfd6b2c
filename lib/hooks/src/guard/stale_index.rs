//! Whether a commit would revert files to their content before commits of the branch. An index older than the branch
//! (after `git reset --soft`, or in a worktree whose branch was moved) reverts others' work although nobody has changed
//! these files.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use coord_agent::git;
use coord_git::{UnfinishedOperation, WorkingCopy};

use super::change::BranchChange;
use super::pre_commit::INDEX;

/// Maximum number of compared files; the first ones count.
const MAX_FILES: usize = 500;

/// Maximum number of searched commits.
const MAX_COMMITS: &str = "--max-count=1000";

/// Digits of a commit that are shown.
const DIGITS: usize = 7;

/// Begins a commit in the list: no name of a file or object does.
const COMMIT: char = '\u{1}';

/// The staged files whose content is older than the branch, each with the newest commit that would be reverted.
///
/// # Errors
/// When git fails.
pub(super) async fn find_reverted_files(
    working_copy: &WorkingCopy,
    change: &BranchChange,
    index: Option<&Path>,
) -> anyhow::Result<BTreeMap<String, String>> {
    // Only commits on the branch can be someone else's work.
    let Some(base) = working_copy.base_head(&change.branch) else {
        return Ok(BTreeMap::new());
    };
    if working_copy.unfinished_operation() == Some(UnfinishedOperation::Revert) || change.names.files.is_empty() {
        return Ok(BTreeMap::new());
    }
    let root = working_copy.root();
    let files: Vec<&str> = change.names.files.iter().take(MAX_FILES).map(String::as_str).collect();
    let ls_files = ["--literal-pathspecs", "ls-files", "--stage", "-z", "--"];
    let index = index.map(|index| (INDEX, index));
    let staged = git::output_with(root, ls_files.iter().chain(&files), index).await?;
    let log = [
        "--literal-pathspecs",
        "log",
        "--raw",
        "-z",
        "--no-renames",
        "--no-abbrev",
        MAX_COMMITS,
        "--format=%x01%x00%H (%an: %s)%x00",
        base.as_str(),
        "--",
    ];
    let history = git::output(root, log.iter().chain(&files)).await?;
    Ok(find_outdated(
        &parse_staged(&staged),
        &String::from_utf8_lossy(&history),
    ))
}

/// The blobs of an index, by file. `MODE ID STAGE<TAB>FILE`
fn parse_staged(output: &[u8]) -> HashMap<String, String> {
    let output = String::from_utf8_lossy(output);
    let parse_entry = |entry: &str| {
        let (fields, file) = entry.split_once('\t')?;
        Some((file.to_owned(), fields.split(' ').nth(1)?.to_owned()))
    };
    output.split('\0').filter_map(parse_entry).collect()
}

/// The files of `staged` that have an earlier blob of `history`, each with its newest commit there. The newest commit
/// comes first in `history`.
fn find_outdated(staged: &HashMap<String, String>, history: &str) -> BTreeMap<String, String> {
    let mut newest_changes: HashMap<&str, (&str, &str)> = HashMap::new();
    let mut outdated = BTreeMap::new();
    let mut commit = "";
    let mut fields = history.split('\0');
    while let Some(field) = fields.next() {
        let field = field.trim_start_matches('\n');
        if field.starts_with(COMMIT) {
            commit = fields.next().unwrap_or_default();
            continue;
        }
        // `:MODE MODE BLOB BLOB STATUS`
        let words: Vec<&str> = field.split(' ').collect();
        let [_, _, before, after, _] = words[..] else { continue };
        let Some(file) = fields.next() else { break };
        let (newest_commit, head_blob) = *newest_changes.entry(file).or_insert((commit, after));
        let is_outdated = |blob: &&String| *blob != head_blob && [before, after].contains(&blob.as_str());
        if staged.get(file).filter(is_outdated).is_some() {
            outdated
                .entry(file.to_owned())
                .or_insert_with(|| shorten(newest_commit));
        }
    }
    outdated
}

/// A commit as `HASH (AUTHOR: SUBJECT)`, with a short hash.
fn shorten(commit: &str) -> String {
    let (hash, description) = commit.split_once(' ').unwrap_or((commit, ""));
    format!("{} {description}", hash.get(..DIGITS).unwrap_or(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reverted_file_is_found_with_the_newest_commit_that_it_would_revert() {
        let history = "\u{1}\0c3 (Ada: Three)\0\n:100644 100644 b2 b3 M\0a.ts\0\u{1}\0c2 (Bob: Two)\0\n\
                       :100644 100644 b1 b2 M\0a.ts\0:100644 100644 x0 x1 M\0x y.ts\0\u{1}\0c1 (Bob: One)\0\n\
                       :000000 100644 00 b1 A\0a.ts\0";
        for (file, blob, expected) in [
            ("a.ts", "b3", None),
            ("a.ts", "b2", Some("c3 (Ada: Three)")),
            ("a.ts", "b1", Some("c3 (Ada: Three)")),
            ("a.ts", "b4", None),
            ("x y.ts", "x0", Some("c2 (Bob: Two)")),
            ("x y.ts", "x1", None),
            ("new.ts", "b1", None),
        ] {
            let staged = parse_staged(format!("100644 {blob} 0\t{file}\0").as_bytes());
            let outdated = find_outdated(&staged, history);
            assert_eq!(outdated.get(file).map(String::as_str), expected, "{file} {blob}");
        }
    }
}
