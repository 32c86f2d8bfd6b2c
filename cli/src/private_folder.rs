//! Folders of the user's own: what is in them names files, messages and addresses.

use std::io;
use std::path::Path;

/// Makes `folder`, with its parents, for this user alone. One that exists stays as it is.
pub fn make(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.recursive(true).create(folder)
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
