//! Folders as descriptors. A name is always looked up in an open folder, so that no other process can replace the
//! folders above it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::{EntryInfo, EntryKind};

/// Opens a folder only to reach the names in it: the user may lack the permission to list it.
#[cfg(target_os = "linux")]
const TRAVERSE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const TRAVERSE: OFlags = OFlags::RDONLY;

#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder at `path`. Links are followed.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = TRAVERSE | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens the folder `name` in this one.
    ///
    /// # Errors
    /// When there is no such folder, or `name` is a link.
    pub fn enter(&self, name: &OsStr) -> io::Result<Folder> {
        let flags = TRAVERSE | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// A text that identifies this folder as long as it exists, even if it is moved on its file system. Nobody knows it
    /// before the folder is created, so an archive cannot contain it.
    ///
    /// # Errors
    /// When the system does not identify the folder.
    pub fn mark(&self) -> io::Result<String> {
        let metadata = File::from(self.0.try_clone()?).metadata()?;
        let created = metadata
            .created()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(format!(
            "{:x}-{:x}",
            metadata.ino(),
            created.unwrap_or_default().as_nanos()
        ))
    }

    pub(crate) fn create_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, mode_of(mode))?)
    }

    /// Opens `name` for reading. It does not wait for a writer, because `name` may be a pipe.
    ///
    /// # Errors
    /// When nothing has this name, or a link has it.
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

    pub(crate) fn entry_info(&self, name: &OsStr) -> io::Result<EntryInfo> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let seconds = u64::try_from(stat.st_mtime).ok();
        let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
        let since_epoch = seconds.map(|seconds| Duration::new(seconds, nanoseconds));
        Ok(EntryInfo {
            kind: kind(FileType::from_raw_mode(stat.st_mode)),
            len: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: since_epoch.and_then(|since_epoch| UNIX_EPOCH.checked_add(since_epoch)),
        })
    }

    pub(crate) fn link_text(&self, name: &OsStr) -> io::Result<OsString> {
        let text = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(text.into_bytes()))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Adds the name `to` for the file `from`. Fails if the name exists.
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
        let folder = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        let entries = Dir::new(folder)?;
        let names = entries.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_vec())));
        Ok(names.filter(|name| !matches!(name, Ok(name) if name == "." || name == "..")))
    }
}

fn mode_of(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as rustix::fs::RawMode)
}

fn kind(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo => EntryKind::Pipe,
        FileType::Socket => EntryKind::Socket,
        _ => EntryKind::Device,
    }
}

pub(crate) fn file_kind(file: &File) -> io::Result<EntryKind> {
    Ok(kind(FileType::from_raw_mode(
        file.metadata()?.mode() as rustix::fs::RawMode
    )))
}

pub(crate) fn has_second_name(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
}

/// The permissions of a file, as a number.
pub(crate) fn file_mode(file: &File) -> io::Result<u32> {
    Ok(file.metadata()?.mode() & 0o777)
}

pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Makes reads of `file`, which was opened without blocking, wait for its writers.
pub(crate) fn wait_for_writers(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}

/// Opens a path that the user has named, without blocking. Links are followed.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}
