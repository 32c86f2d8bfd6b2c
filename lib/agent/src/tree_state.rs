//! The state of all tracked and untracked files of a working copy, without ignored ones. Comparing the states before
//! and after a command shows its changes, whatever program wrote them: agents that are refused an edit write through
//! the shell.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;

use super::file_content::{self, stamp, stamp_of};
use super::{git, session_notes};
use crate::private_folder;

/// The extension of the file's name.
const EXTENSION: &str = "tree";

/// Maximum number of files: larger working copies are not compared.
const MAX_FILES: usize = 50_000;

/// Maximum size of the file, in bytes: enough for [`MAX_FILES`] with long paths.
const MAX_BYTES: u64 = 64 << 20;

/// The number of stored digits of a blob's name.
const DIGITS: usize = 16;

/// The beginning of the file: a file of another version is not read.
const HEAD: &str = "coord tree 1\0";

/// The files of a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeState {
    /// The commit that was checked out.
    pub head: String,
    /// When the state was recorded, Unix seconds.
    pub time: u64,
    files: BTreeMap<String, FileState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FileState {
    /// The stamp of the file on disk. `None` if the file is missing.
    stamp: Option<u64>,
    /// The beginning of the blob's name in the index. Empty if the file on disk may differ from it.
    blob: String,
}

impl TreeState {
    /// The current state. `None` if there are too many files, or git fails.
    pub async fn now(working_copy: &WorkingCopy) -> Option<TreeState> {
        let root = working_copy.root();
        let untracked = git::output(root, ["ls-files", "--others", "--exclude-standard", "-z"]);
        let tracked = working_copy.tracked_files(MAX_FILES)?;
        let mut files = BTreeMap::new();
        for file in tracked {
            let (stamp, is_clean) = compare_with_index(&root.join(&file.path), file.size, file.modified);
            let mut blob = if is_clean { file.blob } else { String::new() };
            blob.truncate(DIGITS);
            files.insert(file.path, FileState { stamp, blob });
        }
        for path in git::paths(&untracked.await.ok()?) {
            let stamp = stamp(&root.join(&path));
            files.insert(
                path,
                FileState {
                    stamp,
                    blob: String::new(),
                },
            );
            if files.len() > MAX_FILES {
                return None;
            }
        }
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Some(TreeState {
            head: working_copy.head().map(|head| head.to_string()).unwrap_or_default(),
            time: time.map_or(0, |time| time.as_secs()),
            files,
        })
    }

    /// The files that are changed, new or deleted in `after`.
    pub fn changed(&self, after: &TreeState, root: &Path) -> Vec<String> {
        let missing = FileState::default();
        let differing = self.files.iter().filter(|(path, before)| {
            let after = after.files.get(*path).unwrap_or(&missing);
            before.stamp != after.stamp && !has_blob(&RootedPath::new(root, path), &before.blob)
        });
        let new = after.files.iter().filter(|(path, after)| {
            let is_new = !self.files.contains_key(*path);
            is_new && after.stamp.is_some()
        });
        let mut paths: Vec<String> = differing.chain(new).map(|(path, _)| path.clone()).collect();
        paths.sort();
        paths
    }

    /// Stores the state for the hook after the command.
    pub fn store(&self, working_copy: &WorkingCopy, agent_id: &AgentId) -> std::io::Result<()> {
        let path = path(working_copy, agent_id);
        path.create_parents(PRIVATE_MODE)?;
        let mut text = format!(
            "{HEAD}{}\0{}\0{}\0",
            working_copy.root().display(),
            self.head,
            self.time
        )
        .into_bytes();
        for (path, FileState { stamp, blob }) in &self.files {
            let stamp = stamp.map_or_else(String::new, |stamp| format!("{stamp:x}"));
            write!(text, "{stamp} {blob} {path}\0")?;
        }
        Ok(path.write_unsynced(&text, FILE_MODE)?)
    }

    /// Reads and deletes the stored state. `None` if there is none of this working copy.
    pub fn take(working_copy: &WorkingCopy, agent_id: &AgentId) -> Option<TreeState> {
        let path = path(working_copy, agent_id);
        let text = String::from_utf8(private_folder::read(&path, MAX_BYTES).ok()?).ok()?;
        let _ = path.remove();
        let mut fields = text.strip_prefix(HEAD)?.split_terminator('\0');
        if fields.next()? != working_copy.root().display().to_string() {
            return None;
        }
        let (head, time) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
        let parse_file = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let stamp = u64::from_str_radix(words.next()?, 16).ok();
            let blob = words.next()?.to_owned();
            Some((words.next()?.to_owned(), FileState { stamp, blob }))
        };
        let files = fields.map(parse_file).collect::<Option<_>>()?;
        Some(TreeState { head, time, files })
    }

    /// Deletes the stored state.
    pub fn forget(working_copy: &WorkingCopy, agent_id: &AgentId) {
        let _ = path(working_copy, agent_id).remove();
    }
}

fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    session_notes::path(working_copy, agent_id).with_extension(EXTENSION)
}

/// The stamp of a tracked file, and whether its size and time are those in the index.
fn compare_with_index(path: &Path, size: u32, modified: (u32, u32)) -> (Option<u64>, bool) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return (None, false);
    };
    let time = metadata.modified().ok();
    let time = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let has_index_time = time.is_some_and(|time| {
        let (seconds, nanoseconds) = modified;
        time.as_secs() as u32 == seconds && (nanoseconds == 0 || time.subsec_nanos() == nanoseconds)
    });
    (
        Some(stamp_of(&metadata)),
        has_index_time && metadata.len() as u32 == size,
    )
}

/// Whether the file on disk has the content of the blob whose name begins with `digits`: it was rewritten without a
/// change.
fn has_blob(path: &RootedPath, digits: &str) -> bool {
    if digits.is_empty() {
        return false;
    }
    let Ok(Some(content)) = path.read(file_content::MAX_BYTES) else {
        return false;
    };
    let mut hash = sha1_smol::Sha1::from(format!("blob {}\0", content.len()));
    hash.update(&content);
    hash.digest().to_string().starts_with(digits)
}
