//! A file by its root and its path below. Links are followed up to the root, and no further.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::system::{self, Folder};
use super::{EntryInfo, EntryKind, FileError, Refusal, StagedFile};

/// A file or folder below a root, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootedPath {
    root: PathBuf,
    path: PathBuf,
}

impl RootedPath {
    /// The file or folder at `path` below `root`.
    pub fn new(root: impl Into<PathBuf>, path: impl Into<PathBuf>) -> RootedPath {
        RootedPath {
            root: root.into(),
            path: path.into(),
        }
    }

    /// The file or folder at `path`. Its own folder is the root, so only a link with its name is not followed.
    #[must_use]
    pub fn beside(path: &Path) -> RootedPath {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => RootedPath::new(folder, name),
            _ => RootedPath::new(path, ""),
        }
    }

    #[must_use]
    pub fn full(&self) -> PathBuf {
        match self.path.as_os_str().is_empty() {
            true => self.root.clone(),
            false => self.root.join(&self.path),
        }
    }

    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> RootedPath {
        RootedPath::new(&self.root, self.path.join(name))
    }

    #[must_use]
    pub fn with_extension(&self, extension: impl AsRef<OsStr>) -> RootedPath {
        RootedPath::new(&self.root, self.path.with_extension(extension))
    }

    /// Metadata of the entry. `None` if it does not exist.
    ///
    /// # Errors
    /// When a parent is not a folder, or the system refuses.
    pub fn about(&self) -> Result<Option<EntryInfo>, FileError> {
        if self.path.as_os_str().is_empty() {
            let root = self.folder()?;
            return Ok(root.map(|_| EntryInfo {
                kind: EntryKind::Folder,
                len: 0,
                modified: None,
            }));
        }
        let Some((folder, name)) = self.folder_and_name()? else {
            return Ok(None);
        };
        match folder.entry_info(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            entry => entry.map(Some).map_err(|error| self.system_error(error)),
        }
    }

    /// Opens the file for reading. `None` if it does not exist.
    ///
    /// # Errors
    /// When it is not a regular file, or a parent is not a folder.
    pub fn open(&self) -> Result<Option<File>, FileError> {
        let Some((folder, name)) = self.folder_and_name()? else {
            return Ok(None);
        };
        match folder.read(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.explain(&folder, &name, error)),
            Ok(file) => self.ensure_regular(&file).map(|()| Some(file)),
        }
    }

    /// Reads the file. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`RootedPath::open`], and when it has more than `max_bytes` bytes.
    pub fn read(&self, max_bytes: u64) -> Result<Option<Vec<u8>>, FileError> {
        let Some(file) = self.open()? else { return Ok(None) };
        read_bounded(file, max_bytes, self.full()).map(Some)
    }

    /// Opens the file for reading, and for writing at its end. A missing file is created, in an existing folder.
    ///
    /// # Errors
    /// As [`RootedPath::open`], and when it has a second name: writing would change that file too.
    pub fn append(&self, mode: u32) -> Result<File, FileError> {
        let (folder, name) = self
            .folder_and_name()?
            .ok_or_else(|| self.system_error(io::ErrorKind::NotFound.into()))?;
        let file = folder
            .append(&name, mode)
            .map_err(|error| self.explain(&folder, &name, error))?;
        self.ensure_regular(&file)?;
        match system::has_second_name(&file).map_err(|error| self.system_error(error))? {
            true => Err(FileError::refused(self.full(), Refusal::HardLink)),
            false => Ok(file),
        }
    }

    /// Writes `content` to a file beside this one, in an existing folder. The file has the name `temporary` until it
    /// replaces this one.
    ///
    /// # Errors
    /// When something other than a regular file has this name, or a parent is not a folder.
    pub fn stage(&self, content: &[u8], mode: u32, temporary: Option<&OsStr>) -> Result<StagedFile, FileError> {
        let staged = self.stage_unsynced(content, mode, temporary)?;
        staged.sync()?;
        Ok(staged)
    }

    fn stage_unsynced(&self, content: &[u8], mode: u32, temporary: Option<&OsStr>) -> Result<StagedFile, FileError> {
        let (folder, name) = self
            .folder_and_name()?
            .ok_or_else(|| self.system_error(io::ErrorKind::NotFound.into()))?;
        match folder.entry_info(&name) {
            Ok(EntryInfo {
                kind: EntryKind::File, ..
            }) => {}
            Ok(EntryInfo { kind, .. }) => return Err(FileError::refused(self.full(), Refusal::NotAFile(kind))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(self.system_error(error)),
        }
        StagedFile::write(folder, &name, self.full(), temporary, content, mode)
    }

    /// Writes the file. Readers see the old content or all of the new one.
    ///
    /// # Errors
    /// As [`RootedPath::stage`].
    pub fn write(&self, content: &[u8], mode: u32) -> Result<(), FileError> {
        self.stage(content, mode, None)?.replace()
    }

    /// As [`RootedPath::write`], without waiting for the disk: a power failure may leave the file empty or unchanged.
    ///
    /// # Errors
    /// As [`RootedPath::stage`].
    pub fn write_unsynced(&self, content: &[u8], mode: u32) -> Result<(), FileError> {
        self.stage_unsynced(content, mode, None)?.replace()
    }

    /// Removes the file; of a link, the link itself. Returns false if it does not exist.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self) -> Result<bool, FileError> {
        self.remove_with(Folder::remove)
    }

    /// Removes the folder, which must be empty. Returns false if it does not exist.
    ///
    /// # Errors
    /// When it is not empty, or the system refuses.
    pub fn remove_folder(&self) -> Result<bool, FileError> {
        self.remove_with(Folder::remove_folder)
    }

    fn remove_with(&self, remove: impl FnOnce(&Folder, &OsStr) -> io::Result<()>) -> Result<bool, FileError> {
        let Some((folder, name)) = self.folder_and_name()? else {
            return Ok(false);
        };
        match remove(&folder, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            result => result.map(|()| true).map_err(|error| self.system_error(error)),
        }
    }

    /// Creates the missing parents. Returns those that it created.
    ///
    /// # Errors
    /// When a parent is not a folder.
    pub fn create_parents(&self, mode: u32) -> Result<Vec<PathBuf>, FileError> {
        let mut created = Vec::new();
        self.walk(
            self.names()?.split_last().map_or(&[][..], |(_, folders)| folders),
            Some((mode, &mut created)),
        )?;
        Ok(created)
    }

    /// Creates the folder and its missing parents.
    ///
    /// # Errors
    /// When it, or a parent, is not a folder.
    pub fn make(&self, mode: u32) -> Result<(), FileError> {
        self.walk(&self.names()?, Some((mode, &mut Vec::new()))).map(drop)
    }

    /// Opens the folder. `None` if it does not exist.
    ///
    /// # Errors
    /// When it is not a folder.
    pub fn folder(&self) -> Result<Option<Folder>, FileError> {
        self.walk(&self.names()?, None)
    }

    /// The names in the folder: at most `max_names` and one more. `None` if the folder does not exist.
    ///
    /// # Errors
    /// When it is not a folder, or cannot be listed.
    pub fn list(&self, max_names: usize) -> Result<Option<Vec<OsString>>, FileError> {
        let Some(folder) = self.folder()? else { return Ok(None) };
        let names = folder.names().map_err(|error| self.system_error(error))?;
        let names = names.take(max_names + 1).collect::<io::Result<_>>();
        names.map(Some).map_err(|error| self.system_error(error))
    }

    /// The target of a link, by the link's text. `None` for other entries.
    ///
    /// # Errors
    /// When the target is not below the root, or a parent is not a folder.
    pub fn target(&self) -> Result<Option<RootedPath>, FileError> {
        let Some((folder, name)) = self.folder_and_name()? else {
            return Ok(None);
        };
        if !folder
            .entry_info(&name)
            .is_ok_and(|entry| entry.kind == EntryKind::Link)
        {
            return Ok(None);
        }
        let refused = || FileError::refused(self.full(), Refusal::NotAFile(EntryKind::Link));
        let text = folder.link_text(&name).map_err(|error| self.system_error(error))?;
        let mut path = self.path.parent().unwrap_or(Path::new("")).to_owned();
        for component in Path::new(&text).components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                _ => return Err(refused()),
            }
        }
        match path.components().next() {
            // No link that git tracks leads into git's own folder.
            Some(Component::Normal(first)) if !first.eq_ignore_ascii_case(".git") => {
                Ok(Some(RootedPath::new(&self.root, path)))
            }
            _ => Err(refused()),
        }
    }

    /// The folder of the file, and the file's name in it. `None` if a parent does not exist.
    fn folder_and_name(&self) -> Result<Option<(Folder, OsString)>, FileError> {
        let names = self.names()?;
        let Some((name, folders)) = names.split_last() else {
            return Err(FileError::refused(self.full(), Refusal::NotAFile(EntryKind::Folder)));
        };
        Ok(self.walk(folders, None)?.map(|folder| (folder, name.to_os_string())))
    }

    fn names(&self) -> Result<Vec<&OsStr>, FileError> {
        let name = |component| match component {
            Component::Normal(name) => Ok(name),
            _ => Err(FileError::refused(self.full(), Refusal::Outside)),
        };
        self.path.components().map(name).collect()
    }

    /// Opens the folder at `names` below the root. With `create`, missing folders are created with that mode, and added
    /// to that list.
    fn walk(
        &self,
        names: &[&OsStr],
        mut create: Option<(u32, &mut Vec<PathBuf>)>,
    ) -> Result<Option<Folder>, FileError> {
        let mut path = self.root.clone();
        let mut folder = match Folder::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && create.is_none() => return Ok(None),
            root => root.map_err(|error| FileError::system(path.clone(), error))?,
        };
        for name in names {
            path.push(name);
            let mut child = folder.enter(name);
            if let (Err(error), Some((mode, created))) = (&child, &mut create)
                && error.kind() == io::ErrorKind::NotFound
            {
                match folder.create_folder(name, *mode) {
                    Ok(()) => created.push(path.clone()),
                    // Another process was faster.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(FileError::system(path, error)),
                }
                child = folder.enter(name);
            }
            folder = match child {
                Ok(child) => child,
                Err(error) if error.kind() == io::ErrorKind::NotFound && create.is_none() => return Ok(None),
                Err(error) => {
                    return Err(match folder.entry_info(name) {
                        Ok(EntryInfo { kind, .. }) if kind != EntryKind::Folder => {
                            FileError::refused(path, Refusal::NotAFolder(kind))
                        }
                        _ => FileError::system(path, error),
                    });
                }
            };
        }
        Ok(Some(folder))
    }

    fn ensure_regular(&self, file: &File) -> Result<(), FileError> {
        match system::file_kind(file).map_err(|error| self.system_error(error))? {
            EntryKind::File => Ok(()),
            kind => Err(FileError::refused(self.full(), Refusal::NotAFile(kind))),
        }
    }

    fn explain(&self, folder: &Folder, name: &OsStr, error: io::Error) -> FileError {
        match folder.entry_info(name) {
            Ok(EntryInfo { kind, .. }) if kind != EntryKind::File => {
                FileError::refused(self.full(), Refusal::NotAFile(kind))
            }
            _ => self.system_error(error),
        }
    }

    fn system_error(&self, error: io::Error) -> FileError {
        FileError::system(self.full(), error)
    }
}

pub(crate) fn read_bounded(file: File, max_bytes: u64, path: PathBuf) -> Result<Vec<u8>, FileError> {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(max_bytes)).unwrap_or_default() + 1);
    match file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes) {
        Err(error) => Err(FileError::system(path, error)),
        Ok(_) if bytes.len() as u64 > max_bytes => Err(FileError::refused(path, Refusal::TooLarge(max_bytes))),
        Ok(_) => Ok(bytes),
    }
}
