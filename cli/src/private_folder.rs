//! Folders of the user's own: what is in them names files, messages and addresses.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;

use coord_files::Inside;

/// Makes `folder`, with its parents, for this user alone. One that exists stays as it is, and has to be the user's.
pub fn make(folder: &Path) -> io::Result<()> {
    if let Ok(about) = std::fs::metadata(folder)
        && !is_of_user(&about)
    {
        let why = format!(
            "{} belongs to another user, who decides what is in it: remove it",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    make_named(folder)
}

/// As [`make`], for a folder that the user names: it may be anybody's.
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
/// When there is no such file, it is not a regular one, or it is larger than `most` bytes.
pub fn read(file: &Inside, most: u64) -> io::Result<Vec<u8>> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let opened = file.open()?.ok_or_else(missing)?;
    let about = opened.metadata()?;
    if !is_own(&about) || about.len() > most {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it is no file of this user"));
    }
    let mut content = Vec::new();
    opened.take(most).read_to_end(&mut content)?;
    Ok(content)
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
