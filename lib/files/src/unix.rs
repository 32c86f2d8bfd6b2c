//! Folders as descriptors. A name is always looked up in a folder that is open, so that the folders above it cannot be exchanged.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::{EntryInfo, Kind};

/// A folder that only leads to others may be one that its user cannot list.
#[cfg(target_os = "linux")]
const PASSING: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASSING: OFlags = OFlags::RDONLY;

#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder at `path`, through links.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = PASSING | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens the folder `name` in this one; a link is none.
    ///
    /// # Errors
    /// When there is none.
    pub fn enter(&self, name: &OsStr) -> io::Result<Folder> {
        let flags = PASSING | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// A text that no other folder has, and that is unknown before the folder is made: an archive cannot bring it. It is the same for
    /// as long as the folder exists, wherever it is moved on its file system.
    ///
    /// # Errors
    /// When the system does not say which folder it is.
    pub fn mark(&self) -> io::Result<String> {
        let about = File::from(self.0.try_clone()?).metadata()?;
        let made = about.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok(format!("{:x}-{:x}", about.ino(), made.unwrap_or_default().as_nanos()))
    }

    pub(crate) fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, mode_of(mode))?)
    }

    /// Opens `name` for reading, unless it is a link, without blocking: it may be a pipe.
    ///
    /// # Errors
    /// When there is none, or it is a link.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        self.open_with(name, OFlags::RDONLY, 0)
    }

    pub(crate) fn append(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, mode)
    }

    pub(crate) fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode)
    }

    fn open_with(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, mode_of(mode))?))
    }

    pub(crate) fn about(&self, name: &OsStr) -> io::Result<EntryInfo> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let seconds = u64::try_from(stat.st_mtime).ok();
        let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
        let since = seconds.map(|seconds| Duration::new(seconds, nanoseconds));
        Ok(EntryInfo {
            kind: kind(FileType::from_raw_mode(stat.st_mode)),
            len: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: since.and_then(|since| UNIX_EPOCH.checked_add(since)),
        })
    }

    /// The text of the link `name`.
    pub(crate) fn link_text(&self, name: &OsStr) -> io::Result<OsString> {
        let text = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(text.into_bytes()))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Gives the file `from` the name `to` as well, unless something has it.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>> + use<>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        let entries = Dir::new(listed)?;
        let names = entries.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_vec())));
        Ok(names.filter(|name| !matches!(name, Ok(name) if name == "." || name == "..")))
    }
}

fn mode_of(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as rustix::fs::RawMode)
}

fn kind(of: FileType) -> Kind {
    match of {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket => Kind::Socket,
        _ => Kind::Device,
    }
}

pub(crate) fn kind_of_open(file: &File) -> io::Result<Kind> {
    Ok(kind(FileType::from_raw_mode(
        file.metadata()?.mode() as rustix::fs::RawMode
    )))
}

pub(crate) fn has_second_name(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
}

/// The permissions of a file, as a number.
pub(crate) fn mode_of_open(file: &File) -> io::Result<u32> {
    Ok(file.metadata()?.mode() & 0o777)
}

pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// From now on, reading `file`, which was opened without waiting, waits for its writers.
pub(crate) fn wait_for_writers(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}

/// Opens a path that a person has named, through links, without blocking.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}
