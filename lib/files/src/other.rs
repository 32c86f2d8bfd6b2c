//! Folders as paths, where the system has no names relative to an open folder in Rust. To make a link takes a privilege here, and git makes
//! none by itself, so that each name is looked at before it is opened.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{EntryInfo, Kind};

#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens the folder at `path`, through links.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(path: &Path) -> io::Result<Folder> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Folder(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens the folder `name` in this one; a link is none.
    ///
    /// # Errors
    /// When there is none.
    pub fn enter(&self, name: &OsStr) -> io::Result<Folder> {
        match self.about(name)?.kind {
            Kind::Folder => Ok(Folder(self.0.join(name))),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// A text that hardly another folder has: when it was made.
    ///
    /// # Errors
    /// When the system does not say when.
    pub fn mark(&self) -> io::Result<String> {
        let made = fs::metadata(&self.0)?.created()?;
        let made = made.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{:x}", made.as_nanos()))
    }

    pub(crate) fn make(&self, name: &OsStr, _: u32) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    /// Opens the regular file `name` for reading.
    ///
    /// # Errors
    /// When there is none.
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
        match self.about(name)?.kind {
            Kind::File => Ok(()),
            _ => Err(io::Error::other("it is no file")),
        }
    }

    pub(crate) fn about(&self, name: &OsStr) -> io::Result<EntryInfo> {
        let about = fs::symlink_metadata(self.0.join(name))?;
        Ok(EntryInfo {
            kind: kind(about.file_type()),
            len: about.len(),
            modified: about.modified().ok(),
        })
    }

    /// The text of the link `name`.
    pub(crate) fn link_text(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(fs::read_link(self.0.join(name))?.into_os_string())
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Gives the file `from` the name `to` as well, unless something has it.
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

fn kind(of: fs::FileType) -> Kind {
    match of {
        _ if of.is_symlink() => Kind::Link,
        _ if of.is_dir() => Kind::Folder,
        _ if of.is_file() => Kind::File,
        _ => Kind::Device,
    }
}

pub(crate) fn kind_of_open(file: &File) -> io::Result<Kind> {
    Ok(kind(file.metadata()?.file_type()))
}

pub(crate) fn has_second_name(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Files have no permissions here that a new one would lose.
pub(crate) fn mode_of_open(_: &File) -> io::Result<u32> {
    Ok(super::FILE_MODE)
}

pub(crate) fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

pub(crate) fn wait_for_writers(_: &File) -> io::Result<()> {
    Ok(())
}

/// Opens a path that a person has named, through links.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    File::open(path)
}
