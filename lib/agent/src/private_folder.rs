//! Private folders of the user: their content names files, messages and addresses.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use coord_files::{PRIVATE_MODE, RootedPath};

/// Makes `folder`, with its parents, for this user alone. One that exists stays as it is, and has to be the user's.
pub fn make(folder: &Path) -> io::Result<()> {
    if let Ok(about) = std::fs::metadata(folder) {
        ensure_of_user(folder, &about)?;
    }
    make_named(folder)
}

/// As [`make`], for a folder below git's own, where neither it nor a folder on the way may be a link.
pub fn make_inside(folder: &RootedPath) -> io::Result<()> {
    folder.make(PRIVATE_MODE)?;
    let path = folder.full();
    ensure_of_user(&path, &std::fs::symlink_metadata(&path)?)
}

fn ensure_of_user(folder: &Path, about: &Metadata) -> io::Result<()> {
    if is_of_user(about) {
        return Ok(());
    }
    let why = format!(
        "{} belongs to another user, who controls its content: remove it",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// The name of the user to whom `path` belongs, or the number where it has none.
pub fn owner(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let id = std::os::unix::fs::MetadataExt::uid(&std::fs::symlink_metadata(path).ok()?).to_string();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let of_id = |line: &str| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            (fields.nth(1)? == id).then_some(name)
        };
        Some(
            users
                .lines()
                .find_map(of_id)
                .unwrap_or_else(|| format!("the user {id}")),
        )
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// A text that only `folder` has, as it is on this machine. A different mark came with an archive or a copy of the folder.
pub fn mark(folder: &RootedPath) -> Option<String> {
    folder.folder().ok()??.mark().ok()
}

/// As [`make`], for a folder that the user names: it may belong to another user.
pub fn make_named(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.recursive(true).create(folder)
}

/// The content of a file of Coord's, in a folder that came with a repository perhaps. A file of another user, and one that
/// everybody may write, count as missing.
///
/// # Errors
/// When there is no such file (`NotFound`), it is not a regular one, or it is larger than `most` bytes.
pub fn read(file: &RootedPath, most: u64) -> io::Result<Vec<u8>> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let opened = file.open()?.ok_or_else(missing)?;
    ensure_own(&opened)?;
    let about = opened.metadata()?;
    if about.len() > most {
        let why = format!("{} is larger than {most} bytes", file.full().display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut content = Vec::new();
    opened.take(most).read_to_end(&mut content)?;
    Ok(content)
}

/// Fails where another user has written the file, or may write it.
///
/// # Errors
/// `NotFound`: it counts as missing.
pub fn ensure_own(file: &File) -> io::Result<()> {
    match is_own(&file.metadata()?) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::NotFound, "it is no file of this user")),
    }
}

/// Whether it is the user's or root's, and not everybody may write it.
fn is_own(about: &Metadata) -> bool {
    #[cfg(unix)]
    let is_closed = std::os::unix::fs::MetadataExt::mode(about) & 0o002 == 0;
    #[cfg(not(unix))]
    let is_closed = true;
    is_closed && is_of_user(about)
}

#[cfg(unix)]
fn is_of_user(about: &Metadata) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(about);
    owner == rustix::process::geteuid().as_raw() || owner == 0
}

#[cfg(not(unix))]
fn is_of_user(_: &Metadata) -> bool {
    true
}

/// Closes `folder`, which earlier versions made with the permissions of the user's mask, to other users.
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
