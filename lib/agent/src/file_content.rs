//! Hashes of files: of the bytes on disk, and of those that git would commit.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::Context;
use coord_files::{Cause, FileError, Kind, Refusal, RootedPath, open_stream};
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;

use super::git;

/// Larger files are not read.
pub const MOST_BYTES: u64 = 64 << 20;

/// The content on disk, of a path without symbolic links. `None` if it is too large, not a file, or unreadable.
pub fn on_disk(path: &Path) -> Option<ContentHash> {
    hash(&RootedPath::beside(path))
}

fn hash(file: &RootedPath) -> Option<ContentHash> {
    let opened = match file.open() {
        Ok(None) => return Some(ContentHash::Deleted),
        // Below a file there is nothing.
        Err(error) if error.refusal() == Some(Refusal::NotAFolder(Kind::File)) => return Some(ContentHash::Deleted),
        Err(FileError {
            cause: Cause::System(error),
            ..
        }) if error.kind() == ErrorKind::NotADirectory => {
            return Some(ContentHash::Deleted);
        }
        opened => opened.ok()??,
    };
    let is_small = opened.metadata().is_ok_and(|about| about.len() <= MOST_BYTES);
    is_small
        .then(|| ContentHash::of_reader(opened.take(MOST_BYTES)).ok())
        .flatten()
}

/// A file that a person named for reading: `-` is standard input. In a working copy links are not followed, because anyone who can push
/// may create them. Elsewhere the file may be a pipe, which must already have a writer.
///
/// # Errors
/// When it cannot be opened, with a sentence.
pub fn open_named(path: &Path) -> anyhow::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let about = || format!("{} cannot be read", path.display());
    let file = match inside_working_copy(path) {
        Some(inside) => inside.open()?,
        None => open_stream(path)?,
    };
    let file = file.with_context(|| format!("{}: there is no such file", about()))?;
    Ok(Box::new(file))
}

/// `path` by the root of the working copy that it is in, as it is named.
pub fn inside_working_copy(path: &Path) -> Option<RootedPath> {
    let absolute = std::path::absolute(path).ok()?;
    let root = absolute
        .ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists())?;
    Some(RootedPath::new(root, absolute.strip_prefix(root).ok()?))
}

/// The content that git would commit for `file`, a path of the repository: after the clean filters.
pub async fn to_commit(working_copy: &WorkingCopy, file: &str) -> Option<ContentHash> {
    let raw = hash(&RootedPath::new(working_copy.root(), file))?;
    if raw == ContentHash::Deleted || !has_filters(working_copy, file) {
        return Some(raw);
    }
    match cleaned(working_copy, file).await {
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

/// By git itself, which knows the filters. The object goes to a temporary folder.
async fn cleaned(working_copy: &WorkingCopy, file: &str) -> anyhow::Result<Vec<u8>> {
    let root = working_copy.root();
    let objects = tempfile::tempdir()?;
    let written = git::output_with_objects(root, ["hash-object", "-w", "--", file], objects.path()).await?;
    let blob = String::from_utf8(written)?;
    git::output_with_objects(root, ["cat-file", "blob", blob.trim()], objects.path()).await
}

/// A hash of `lstat` data, which changes when a file is written, replaced, moved, or gets other permissions. Two files of the
/// same number have the same content, but for hashes that collide.
pub fn stamp(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|about| stamp_of(&about))
}

/// The number of [`stamp`] for the result of an `lstat`.
pub fn stamp_of(about: &fs::Metadata) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hash = DefaultHasher::new();
    about.len().hash(&mut hash);
    about.is_symlink().hash(&mut hash);
    about
        .modified()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .hash(&mut hash);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (about.ino(), about.ctime(), about.ctime_nsec(), about.mode()).hash(&mut hash);
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
