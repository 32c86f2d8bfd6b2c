//! The interface of a file: on the branch, and in the working copy before or after an edit. If the two differ, agents
//! that write neighbors may conflict.

use std::collections::BTreeMap;
use std::thread;

use coord_domain::{Branch, CommitSha, FilePath};
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use coord_interfaces::{InterfaceComparison, InterfaceUnknown, MAX_INTERFACE_BYTES, interface};
use coord_scan::Language;

/// Maximum number of files of one claim that are compared. Other files count as changed.
const MAX_FILES: usize = 64;

/// The total size of compared content, in bytes, from which further files count as changed.
const MAX_BYTES: usize = 8 << 20;

/// The interfaces of a branch, and of a working copy for it.
pub struct Interfaces<'a> {
    working_copy: &'a WorkingCopy,
    /// The newest commit of the branch that the working copy contains. In it, the files that this session holds are the
    /// same as at the claim's head.
    base: Option<CommitSha>,
}

impl<'a> Interfaces<'a> {
    pub fn of(working_copy: &'a WorkingCopy, branch: &Branch) -> Interfaces<'a> {
        Interfaces {
            working_copy,
            base: working_copy.base_head(branch),
        }
    }

    /// The files whose interface on disk differs from that on the branch, each with the differences.
    pub fn compare_disk(&self, files: &[String]) -> BTreeMap<String, String> {
        self.compare(files, |file| self.on_disk(file).ok_or(InterfaceUnknown::Unreadable))
    }

    /// As [`Interfaces::compare_disk`], for the future content from `after`, which is empty for a removed file.
    pub fn compare(
        &self,
        files: &[String],
        mut after: impl FnMut(&str) -> Result<Vec<u8>, InterfaceUnknown>,
    ) -> BTreeMap<String, String> {
        let mut remaining_bytes = MAX_BYTES;
        let mut differences = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            let comparison = match index < MAX_FILES && remaining_bytes > 0 {
                true => after(file).and_then(|after| {
                    remaining_bytes = remaining_bytes.saturating_sub(after.len());
                    self.compare_file(file, &after)
                }),
                false => Err(InterfaceUnknown::TooLarge),
            };
            match comparison {
                Ok(InterfaceComparison::Same) => {}
                Ok(InterfaceComparison::Changed(changes)) => {
                    differences.insert(file.clone(), changes.to_string());
                }
                Ok(InterfaceComparison::Unknown(reason)) | Err(reason) => {
                    differences.insert(file.clone(), describe_unknown(reason));
                }
            }
        }
        differences
    }

    /// The content on disk; empty if the file does not exist. `None` if it cannot be read, or is too large.
    pub fn on_disk(&self, file: &str) -> Option<Vec<u8>> {
        let content = RootedPath::new(self.working_copy.root(), file).read(MAX_INTERFACE_BYTES as u64);
        Some(content.ok()?.unwrap_or_default())
    }

    /// Compares `after` with the branch. A new file counts as unchanged, because it has no neighbors yet.
    fn compare_file(&self, file: &str, after: &[u8]) -> Result<InterfaceComparison, InterfaceUnknown> {
        let path = FilePath::parse(file).map_err(|_| InterfaceUnknown::Unreadable)?;
        let base = self.base.as_ref().ok_or(InterfaceUnknown::Unreadable)?;
        let before = self
            .working_copy
            .content_at(base, &path, MAX_INTERFACE_BYTES as u64)
            .map_err(|_| InterfaceUnknown::Unreadable)?;
        let Some(before) = before.filter(|before| before != after) else {
            return Ok(InterfaceComparison::Same);
        };
        let language = Language::of_path(file).ok_or(InterfaceUnknown::Language)?;
        // Both are parsed at once, because an agent waits for them.
        let (before, after) = thread::scope(|scope| {
            let before = scope.spawn(|| interface(language, &before));
            let after = interface(language, after);
            (before.join().unwrap_or(Err(InterfaceUnknown::NotUnderstood)), after)
        });
        Ok(InterfaceComparison::between(&before, &after))
    }
}

/// Why a file that cannot be compared counts as changed.
fn describe_unknown(reason: InterfaceUnknown) -> String {
    match reason {
        InterfaceUnknown::Language => "Coord reads no interfaces of this language".to_owned(),
        InterfaceUnknown::TooLarge => "it is too large to compare".to_owned(),
        InterfaceUnknown::Binary => "it is not text".to_owned(),
        InterfaceUnknown::Minified => "it is minified".to_owned(),
        InterfaceUnknown::Unreadable => "Coord could not read it".to_owned(),
        InterfaceUnknown::NotUnderstood => "Coord could not parse it".to_owned(),
    }
}
