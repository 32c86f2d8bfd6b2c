//! Folders that only the user may read: their files contain names of files, messages and addresses.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use coord_files::{PRIVATE_MODE, RootedPath};
use serde::de::DeserializeOwned;

/// Creates `folder` and its parents, for this user only. An existing folder is not changed; it must belong to the user.
pub fn make(folder: &Path) -> io::Result<()> {
    if let Ok(metadata) = std::fs::metadata(folder) {
        ensure_of_user(folder, &metadata)?;
    }
    make_named(folder)
}

/// As [`make`], for a folder below git's own folder. Neither `folder` nor a parent in it may be a link.
pub fn make_inside(folder: &RootedPath) -> io::Result<()> {
    folder.make(PRIVATE_MODE)?;
    let path = folder.full();
    ensure_of_user(&path, &std::fs::symlink_metadata(&path)?)
}

fn ensure_of_user(folder: &Path, metadata: &Metadata) -> io::Result<()> {
    if is_of_user(metadata) {
        return Ok(());
    }
    let message = format!(
        "{} belongs to another user, who controls its content: remove it",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// The name of the user to whom `path` belongs, or the user's number if it has no name.
pub fn owner(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let id = std::os::unix::fs::MetadataExt::uid(&std::fs::symlink_metadata(path).ok()?).to_string();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name_for_id = |line: &str| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            (fields.nth(1)? == id).then_some(name)
        };
        Some(
            users
                .lines()
                .find_map(name_for_id)
                .unwrap_or_else(|| format!("the user {id}")),
        )
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// A text that identifies `folder` on this machine. A file with a different mark came with an archive or a copy of the
/// folder.
pub fn mark(folder: &RootedPath) -> Option<String> {
    folder.folder().ok()??.mark().ok()
}

/// As [`make`], for a folder that the user names. It may belong to another user.
pub fn make_named(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.recursive(true).create(folder)
}

/// The content of one of Coord's files, which may be in a folder that came with a repository. A file counts as missing
/// if it belongs to another user, or every user may write it.
///
/// # Errors
/// When there is no such file (`NotFound`), it is not a regular file, or it is larger than `most` bytes.
pub fn read(path: &RootedPath, most: u64) -> io::Result<Vec<u8>> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let file = path.open()?.ok_or_else(missing)?;
    ensure_own(&file)?;
    if file.metadata()?.len() > most {
        let message = format!("{} is larger than {most} bytes", path.full().display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut content = Vec::new();
    file.take(most).read_to_end(&mut content)?;
    Ok(content)
}

/// The content of a JSON file, as [`read`] returns it. `None` without that content, or if it is not a `T`.
pub fn read_json<T: DeserializeOwned>(path: &RootedPath, most: u64) -> Option<T> {
    serde_json::from_slice(&read(path, most).ok()?).ok()
}

/// Fails if another user has written the file, or may write it.
///
/// # Errors
/// `NotFound`: the file counts as missing.
pub fn ensure_own(file: &File) -> io::Result<()> {
    match is_own(&file.metadata()?) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::NotFound, "it is not a file of this user")),
    }
}

/// Whether the file belongs to the user or root, and not every user may write it.
fn is_own(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    let is_closed = std::os::unix::fs::MetadataExt::mode(metadata) & 0o002 == 0;
    #[cfg(not(unix))]
    let is_closed = true;
    is_closed && is_of_user(metadata)
}

#[cfg(unix)]
fn is_of_user(metadata: &Metadata) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    owner == rustix::process::geteuid().as_raw() || owner == 0
}

#[cfg(not(unix))]
fn is_of_user(_: &Metadata) -> bool {
    true
}

/// Removes the permissions of other users from `folder`. Earlier versions created it with those of the user's umask.
pub fn close(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let is_open = std::fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
        if is_open && let Err(error) = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)) {
            tracing::warn!(%error, folder = %folder.display(), "other users may be able to read the folder of Coord");
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
}
