//! Names of branches, to suggest in place of a branch that does not exist.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use gix::bstr::{BStr, ByteSlice};

use super::deadline::Deadline;
use super::references::{MAX_FOLDERS, References};

/// Time limit for finding names to suggest in place of a missing branch. Names not read by then are left out.
pub(super) const SUGGESTIONS_LIMIT: Duration = Duration::from_millis(300);

/// Maximum names that are read; suggestions leave out the rest.
const MAX_NAMES: usize = 200_000;

/// Calls `visit` with every branch in `folder`, such as `refs/heads/`, packed or loose, without that prefix. A branch
/// that is both is visited twice. Stops early, without an error, at the deadline or after [`MAX_NAMES`].
pub(super) fn each_branch(
    references: &References,
    common_dir: &Path,
    folder: &str,
    deadline: &Deadline,
    mut visit: impl FnMut(&str),
) -> io::Result<()> {
    let mut remaining = MAX_NAMES;
    if let Some(packed) = references.read_packed()? {
        let heads = packed.iter_prefixed(folder.into()).map_err(io::Error::other)?;
        for reference in heads.filter_map(Result::ok) {
            if remaining == 0 || (remaining.is_multiple_of(256) && deadline.has_passed()) {
                return Ok(());
            }
            remaining -= 1;
            if let Some(name) = short_name(reference.name.as_bstr(), folder) {
                visit(name);
            }
        }
    }
    let mut folders = vec![(common_dir.join(folder), String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            if remaining == 0 || (remaining.is_multiple_of(256) && deadline.has_passed()) {
                return Ok(());
            }
            remaining -= 1;
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let name = format!("{prefix}{name}");
            if kind.is_dir() {
                if depth < MAX_FOLDERS {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
                }
            } else if !name.ends_with(".lock") && name != "HEAD" {
                visit(&name);
            }
        }
    }
    Ok(())
}

fn short_name<'a>(name: &'a BStr, folder: &str) -> Option<&'a str> {
    let name = name.strip_prefix(folder.as_bytes())?.to_str().ok()?;
    (name != "HEAD").then_some(name)
}
