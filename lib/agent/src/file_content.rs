//! Hashes of files: of the bytes on disk, and of the bytes that git would commit.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::Context;
use coord_files::{Cause, EntryKind, FileError, Refusal, RootedPath, open_stream};
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;

use super::git;

/// Maximum size of a file, in bytes: larger files are not read.
pub const MAX_BYTES: u64 = 64 << 20;

/// The hash of the content on disk, of a path without symbolic links. `None` if it is too large, not a file, or
/// unreadable.
pub fn on_disk(path: &Path) -> Option<ContentHash> {
    hash(&RootedPath::beside(path))
}

fn hash(path: &RootedPath) -> Option<ContentHash> {
    let file = match path.open() {
        Ok(None) => return Some(ContentHash::Deleted),
        // The path is below a file, so it does not exist.
        Err(error) if error.refusal() == Some(Refusal::NotAFolder(EntryKind::File)) => {
            return Some(ContentHash::Deleted);
        }
        Err(FileError {
            cause: Cause::System(error),
            ..
        }) if error.kind() == ErrorKind::NotADirectory => {
            return Some(ContentHash::Deleted);
        }
        file => file.ok()??,
    };
    let is_small = file.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
    is_small
        .then(|| ContentHash::of_reader(file.take(MAX_BYTES)).ok())
        .flatten()
}

/// Opens a file that a person named for reading: `-` is standard input. In a working copy, no link is followed, because
/// anyone who can push may create links. Elsewhere the file may be a pipe, which must already have a writer.
///
/// # Errors
/// When the file cannot be opened, with a sentence.
pub fn open_named(path: &Path) -> anyhow::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let file = match inside_working_copy(path) {
        Some(inside) => inside.open()?,
        None => open_stream(path)?,
    };
    let file = file.with_context(|| format!("{} cannot be read: there is no such file", path.display()))?;
    Ok(Box::new(file))
}

/// `path` as a path in the working copy that contains it, without resolving links. `None` if no working copy does.
pub fn inside_working_copy(path: &Path) -> Option<RootedPath> {
    let absolute = std::path::absolute(path).ok()?;
    let root = absolute
        .ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists())?;
    Some(RootedPath::new(root, absolute.strip_prefix(root).ok()?))
}

/// The hash of the content that git would commit for `file`, a path of the repository: after the clean filters.
pub async fn to_commit(working_copy: &WorkingCopy, file: &str) -> Option<ContentHash> {
    let raw = hash(&RootedPath::new(working_copy.root(), file))?;
    if raw == ContentHash::Deleted || !has_filters(working_copy, file) {
        return Some(raw);
    }
    match filter(working_copy, file).await {
        Ok(content) => Some(ContentHash::of(&content)),
        Err(error) => {
            tracing::debug!(%error, "git cannot filter the file");
            Some(raw)
        }
    }
}

/// Whether a setting or a file of attributes could make git commit other bytes than those on disk.
fn has_filters(working_copy: &WorkingCopy, file: &str) -> bool {
    let is_set = |key: &str| working_copy.setting(key).is_some_and(|value| value != "false");
    let folders = Path::new(file).ancestors().skip(1);
    let mut attributes = folders.map(|folder| working_copy.root().join(folder).join(".gitattributes"));
    is_set("core.autocrlf")
        || is_set("core.attributesFile")
        || attributes.any(|attributes| attributes.exists())
        || working_copy.shared_folder().join("info/attributes").exists()
}

/// The content of `file` after the clean filters, which git itself applies. The object goes to a temporary folder.
async fn filter(working_copy: &WorkingCopy, file: &str) -> anyhow::Result<Vec<u8>> {
    let root = working_copy.root();
    let objects = tempfile::tempdir()?;
    let variable = Some(("GIT_OBJECT_DIRECTORY", objects.path()));
    let output = git::output_with(root, ["hash-object", "-w", "--", file], variable).await?;
    let blob = String::from_utf8(output)?;
    git::output_with(root, ["cat-file", "blob", blob.trim()], variable).await
}

/// A hash of `lstat` data, which changes when a file is written, replaced, moved, or gets other permissions. Files with
/// the same stamp have the same content, unless hashes collide.
pub fn stamp(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|metadata| stamp_of(&metadata))
}

/// The [`stamp`] for the result of an `lstat`.
pub(crate) fn stamp_of(lstat: &fs::Metadata) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hash = DefaultHasher::new();
    lstat.len().hash(&mut hash);
    lstat.is_symlink().hash(&mut hash);
    lstat
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .hash(&mut hash);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (lstat.ino(), lstat.ctime(), lstat.ctime_nsec(), lstat.mode()).hash(&mut hash);
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_files_have_a_hash_and_bytes_that_are_no_text_differ() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(on_disk(&path), Some(ContentHash::Deleted));
        assert_eq!(on_disk(&path.join("below")), Some(ContentHash::Deleted));
        let mut hashes = Vec::new();
        for content in [&b""[..], b"\xff", b"\xfe"] {
            fs::write(&path, content).unwrap();
            assert_eq!(on_disk(&path), Some(ContentHash::of(content)));
            hashes.push(on_disk(&path));
        }
        hashes.dedup();
        assert_eq!(hashes.len(), 3);
        assert_eq!(on_disk(folder.path()), None);
    }

    #[test]
    fn a_file_that_is_replaced_by_one_of_the_same_size_and_time_has_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("a"), folder.path().join("b"));
        let time = std::time::SystemTime::now();
        for path in [&one, &other] {
            fs::write(path, "x").unwrap();
            fs::File::options()
                .append(true)
                .open(path)
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
        let before = stamp(&one);
        assert_eq!(stamp(&one), before);
        fs::rename(&other, &one).unwrap();
        assert!(cfg!(not(unix)) || stamp(&one) != before);
        fs::remove_file(&one).unwrap();
        assert_eq!(stamp(&one), None);
    }
}
