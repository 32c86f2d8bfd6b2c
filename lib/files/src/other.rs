//! Folders as paths, on systems where Rust has no names relative to an open folder. Creating a link takes a privilege
//! there, and git creates no links by default. So each name is checked before it is opened.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{EntryInfo, EntryKind};

#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens the folder at `path`. Links are followed.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> io::Result<Folder> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Folder(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens the folder `name` in this one.
    ///
    /// # Errors
    /// When there is no such folder, or `name` is a link.
    pub fn enter(&self, name: &OsStr) -> io::Result<Folder> {
        match self.entry_info(name)?.kind {
            EntryKind::Folder => Ok(Folder(self.0.join(name))),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The time when the folder was created, as a text: hardly any other folder has the same.
    ///
    /// # Errors
    /// When the system does not report that time.
    pub fn mark(&self) -> io::Result<String> {
        let created = fs::metadata(&self.0)?.created()?;
        let created = created.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{:x}", created.as_nanos()))
    }

    pub(crate) fn create_folder(&self, name: &OsStr, _: u32) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    /// Opens the regular file `name` for reading.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        self.ensure_file(name)?;
        File::open(self.0.join(name))
    }

    pub(crate) fn append(&self, name: &OsStr, _: u32) -> io::Result<File> {
        self.ensure_file(name).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(self.0.join(name))
    }

    pub(crate) fn create_new(&self, name: &OsStr, _: u32) -> io::Result<File> {
        File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.0.join(name))
    }

    fn ensure_file(&self, name: &OsStr) -> io::Result<()> {
        match self.entry_info(name)?.kind {
            EntryKind::File => Ok(()),
            _ => Err(io::Error::other("it is not a file")),
        }
    }

    pub(crate) fn entry_info(&self, name: &OsStr) -> io::Result<EntryInfo> {
        let metadata = fs::symlink_metadata(self.0.join(name))?;
        Ok(EntryInfo {
            kind: kind(metadata.file_type()),
            len: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    pub(crate) fn link_text(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(fs::read_link(self.0.join(name))?.into_os_string())
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Adds the name `to` for the file `from`. Fails if the name exists.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(crate) fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>> + use<>> {
        Ok(fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())))
    }
}

fn kind(file_type: fs::FileType) -> EntryKind {
    match file_type {
        _ if file_type.is_symlink() => EntryKind::Link,
        _ if file_type.is_dir() => EntryKind::Folder,
        _ if file_type.is_file() => EntryKind::File,
        _ => EntryKind::Device,
    }
}

pub(crate) fn file_kind(file: &File) -> io::Result<EntryKind> {
    Ok(kind(file.metadata()?.file_type()))
}

pub(crate) fn has_second_name(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Files have no permissions here that a replacement would lose.
pub(crate) fn file_mode(_: &File) -> io::Result<u32> {
    Ok(super::FILE_MODE)
}

pub(crate) fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

pub(crate) fn wait_for_writers(_: &File) -> io::Result<()> {
    Ok(())
}

/// Opens a path that the user has named. Links are followed.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    File::open(path)
}
