//! Names near a branch that does not exist.

use std::fs;
use std::io;
use std::path::Path;

use gix::bstr::{BStr, ByteSlice};

use super::bounded::Deadline;
use super::references::References;

/// Most names that are looked at; those beyond stay unseen.
const MAX_NAMES: usize = 200_000;
/// Deepest folder below `refs/heads` that is looked at.
const MAX_DEPTH: usize = 32;

/// Calls `see` with every local branch, packed or loose, without `refs/heads/`. A branch that is both is seen twice.
/// Stops early, and without an error, at the deadline or after [`MAX_NAMES`].
pub(super) fn each_branch(
    references: &References,
    common_dir: &Path,
    deadline: &Deadline,
    mut see: impl FnMut(&str),
) -> io::Result<()> {
    let mut left = MAX_NAMES;
    if let Some(packed) = references.packed()? {
        let heads = packed.iter_prefixed("refs/heads/".into()).map_err(io::Error::other)?;
        for reference in heads.filter_map(Result::ok) {
            if left == 0 || (left.is_multiple_of(256) && deadline.has_passed()) {
                return Ok(());
            }
            left -= 1;
            if let Some(name) = short_name(reference.name.as_bstr()) {
                see(name);
            }
        }
    }
    let mut folders = vec![(common_dir.join("refs").join("heads"), String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            if left == 0 || (left.is_multiple_of(256) && deadline.has_passed()) {
                return Ok(());
            }
            left -= 1;
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let name = format!("{prefix}{name}");
            if kind.is_dir() {
                if depth < MAX_DEPTH {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
                }
            } else if !name.ends_with(".lock") {
                see(&name);
            }
        }
    }
    Ok(())
}

fn short_name(name: &BStr) -> Option<&str> {
    name.strip_prefix(b"refs/heads/")?.to_str().ok()
}
