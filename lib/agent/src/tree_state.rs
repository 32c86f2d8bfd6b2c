//! All files of a working copy at one time: those that git tracks, and those that it neither tracks nor ignores. Compared before
//! and after a command, they show its changes, whatever program wrote them: agents that are refused an edit write through the
//! shell.

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

/// The end of the files' names.
const END: &str = "tree";

/// In a larger working copy nothing is compared.
const MOST_FILES: usize = 50_000;

/// Largest file, in bytes: of so many files with long paths.
const MOST_BYTES: u64 = 64 << 20;

/// Digits of a blob's name that are kept.
const DIGITS: usize = 16;

/// The beginning of the file; another version's is not read.
const HEAD: &str = "coord tree 1\0";

/// The files of a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeState {
    /// The commit that was checked out.
    pub head: String,
    /// When it was taken, Unix seconds.
    pub taken: u64,
    files: BTreeMap<String, FileState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FileState {
    /// Of the file on disk; `None` where it is missing.
    stamp: Option<u64>,
    /// The content in the index, where the file on disk had it.
    blob: String,
}

impl TreeState {
    /// That of now. `None` if there are too many files, or git fails.
    pub async fn now(working_copy: &WorkingCopy) -> Option<TreeState> {
        let root = working_copy.root();
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others = git::output(root, others);
        let tracked = working_copy.tracked(MOST_FILES)?;
        let mut files = BTreeMap::new();
        for file in tracked {
            let (stamp, is_clean) = look(&root.join(&file.path), file.size, file.modified);
            let mut blob = if is_clean { file.blob } else { String::new() };
            blob.truncate(DIGITS);
            files.insert(file.path, FileState { stamp, blob });
        }
        for path in git::paths(&others.await.ok()?) {
            let stamp = stamp(&root.join(&path));
            files.insert(
                path,
                FileState {
                    stamp,
                    blob: String::new(),
                },
            );
            if files.len() > MOST_FILES {
                return None;
            }
        }
        let taken = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Some(TreeState {
            head: working_copy.head().map(|head| head.to_string()).unwrap_or_default(),
            taken: taken.map_or(0, |taken| taken.as_secs()),
            files,
        })
    }

    /// The files that are other ones in `after`: changed, new or gone.
    pub fn changed(&self, after: &TreeState, root: &Path) -> Vec<String> {
        let missing = FileState::default();
        let of_before = self.files.iter();
        let differing = of_before.filter(|(path, before)| {
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

    /// Keeps it for the hook after the command.
    pub fn keep(&self, working_copy: &WorkingCopy, agent_id: &AgentId) -> std::io::Result<()> {
        let path = path(working_copy, agent_id);
        path.make_parents(PRIVATE_MODE)?;
        let mut text = format!(
            "{HEAD}{}\0{}\0{}\0",
            working_copy.root().display(),
            self.head,
            self.taken
        )
        .into_bytes();
        for (path, FileState { stamp, blob }) in &self.files {
            let stamp = stamp.map_or_else(String::new, |stamp| format!("{stamp:x}"));
            write!(text, "{stamp} {blob} {path}\0")?;
        }
        Ok(path.write_unsynced(&text, FILE_MODE)?)
    }

    /// The one that was kept, which is kept no longer. `None` where there is none of this working copy.
    pub fn take(working_copy: &WorkingCopy, agent_id: &AgentId) -> Option<TreeState> {
        let path = path(working_copy, agent_id);
        let text = String::from_utf8(private_folder::read(&path, MOST_BYTES).ok()?).ok()?;
        let _ = path.remove();
        let mut parts = text.strip_prefix(HEAD)?.split_terminator('\0');
        if parts.next()? != working_copy.root().display().to_string() {
            return None;
        }
        let (head, taken) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
        let file = |part: &str| {
            let mut fields = part.splitn(3, ' ');
            let stamp = u64::from_str_radix(fields.next()?, 16).ok();
            let blob = fields.next()?.to_owned();
            Some((fields.next()?.to_owned(), FileState { stamp, blob }))
        };
        let files = parts.map(file).collect::<Option<_>>()?;
        Some(TreeState { head, taken, files })
    }

    /// Forgets the one that was kept.
    pub fn forget(working_copy: &WorkingCopy, agent_id: &AgentId) {
        let _ = path(working_copy, agent_id).remove();
    }
}

fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    session_notes::path(working_copy, agent_id).with_extension(END)
}

/// The stamp of a tracked file, and whether it is as git saw it last.
fn look(path: &Path, size: u32, modified: (u32, u32)) -> (Option<u64>, bool) {
    let Ok(about) = fs::symlink_metadata(path) else {
        return (None, false);
    };
    let at = about.modified().ok();
    let at = at.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let is_clean = at.is_some_and(|at| {
        let (seconds, nanoseconds) = modified;
        at.as_secs() as u32 == seconds && (nanoseconds == 0 || at.subsec_nanos() == nanoseconds)
    });
    (Some(stamp_of(&about)), is_clean && about.len() as u32 == size)
}

/// Whether the file has the content whose blob's name begins with `digits`, as it is on disk: written anew, and not changed.
fn has_blob(path: &RootedPath, digits: &str) -> bool {
    if digits.is_empty() {
        return false;
    }
    let Ok(Some(content)) = path.read(file_content::MOST_BYTES) else {
        return false;
    };
    let mut hash = sha1_smol::Sha1::from(format!("blob {}\0", content.len()));
    hash.update(&content);
    hash.digest().to_string().starts_with(digits)
}
