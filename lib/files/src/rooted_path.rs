//! A file by the folder that is opened first, through links, and by its path below, on which no link is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::system::{self, Folder};
use super::{EntryInfo, FileError, Kind, Refusal, StagedFile};

/// A file or folder below a root, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootedPath {
    root: PathBuf,
    path: PathBuf,
}

impl RootedPath {
    /// The one at `path` below `root`.
    pub fn new(root: impl Into<PathBuf>, path: impl Into<PathBuf>) -> RootedPath {
        RootedPath {
            root: root.into(),
            path: path.into(),
        }
    }

    /// The one at `path`, in whose own folder only its name is not followed.
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

    /// `name` below it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> RootedPath {
        RootedPath::new(&self.root, self.path.join(name))
    }

    /// The one beside it with another extension.
    #[must_use]
    pub fn with_extension(&self, extension: impl AsRef<OsStr>) -> RootedPath {
        RootedPath::new(&self.root, self.path.with_extension(extension))
    }

    /// The entry with the name; `None` if there is none.
    ///
    /// # Errors
    /// When a folder on the way is none, or the system refuses.
    pub fn about(&self) -> Result<Option<EntryInfo>, FileError> {
        if self.path.as_os_str().is_empty() {
            let found = self.folder()?;
            return Ok(found.map(|_| EntryInfo {
                kind: Kind::Folder,
                len: 0,
                modified: None,
            }));
        }
        let Some((folder, name)) = self.place()? else {
            return Ok(None);
        };
        match folder.about(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            about => about.map(Some).map_err(|error| self.failed(error)),
        }
    }

    /// Opens it for reading; `None` where nothing has the name.
    ///
    /// # Errors
    /// When it is no regular file, or a folder on the way is none.
    pub fn open(&self) -> Result<Option<File>, FileError> {
        let Some((folder, name)) = self.place()? else {
            return Ok(None);
        };
        match folder.read(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.explain(&folder, &name, error)),
            Ok(file) => self.ensure_regular(&file).map(|()| Some(file)),
        }
    }

    /// Its bytes; `None` where nothing has the name.
    ///
    /// # Errors
    /// As [`RootedPath::open`], and when it has more than `most` bytes.
    pub fn read(&self, most: u64) -> Result<Option<Vec<u8>>, FileError> {
        let Some(file) = self.open()? else { return Ok(None) };
        read_bounded(file, most, self.full()).map(Some)
    }

    /// Opens it for reading and for writing at its end, and makes it where there is none, in a folder that is there.
    ///
    /// # Errors
    /// As [`RootedPath::open`], and when it has a second name: that would be another file's content.
    pub fn append(&self, mode: u32) -> Result<File, FileError> {
        let (folder, name) = self
            .place()?
            .ok_or_else(|| self.failed(io::ErrorKind::NotFound.into()))?;
        let file = folder
            .append(&name, mode)
            .map_err(|error| self.explain(&folder, &name, error))?;
        self.ensure_regular(&file)?;
        match system::has_second_name(&file).map_err(|error| self.failed(error))? {
            true => Err(FileError::refused(self.full(), Refusal::HardLink)),
            false => Ok(file),
        }
    }

    /// Writes `content` beside it, in a folder that is there. `temporary` is the name until then.
    ///
    /// # Errors
    /// When something else than a regular file has the name, or a folder on the way is none.
    pub fn stage(&self, content: &[u8], mode: u32, temporary: Option<&OsStr>) -> Result<StagedFile, FileError> {
        let staged = self.stage_unsynced(content, mode, temporary)?;
        staged.sync()?;
        Ok(staged)
    }

    fn stage_unsynced(&self, content: &[u8], mode: u32, temporary: Option<&OsStr>) -> Result<StagedFile, FileError> {
        let (folder, name) = self
            .place()?
            .ok_or_else(|| self.failed(io::ErrorKind::NotFound.into()))?;
        match folder.about(&name) {
            Ok(EntryInfo { kind: Kind::File, .. }) => {}
            Ok(EntryInfo { kind, .. }) => return Err(FileError::refused(self.full(), Refusal::NotAFile(kind))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(self.failed(error)),
        }
        StagedFile::write(folder, &name, self.full(), temporary, content, mode)
    }

    /// Writes it whole.
    ///
    /// # Errors
    /// As [`RootedPath::stage`].
    pub fn write(&self, content: &[u8], mode: u32) -> Result<(), FileError> {
        self.stage(content, mode, None)?.replace()
    }

    /// Writes it whole, without waiting for the disk: a power failure may leave it empty, or as it was.
    ///
    /// # Errors
    /// As [`RootedPath::stage`].
    pub fn write_unsynced(&self, content: &[u8], mode: u32) -> Result<(), FileError> {
        self.stage_unsynced(content, mode, None)?.replace()
    }

    /// Removes the file, or a link as such; false where nothing has the name.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self) -> Result<bool, FileError> {
        self.removed(Folder::remove)
    }

    /// Removes the folder, which must be empty; false where nothing has the name.
    ///
    /// # Errors
    /// When it is not empty, or the system refuses.
    pub fn remove_folder(&self) -> Result<bool, FileError> {
        self.removed(Folder::remove_folder)
    }

    fn removed(&self, remove: impl FnOnce(&Folder, &OsStr) -> io::Result<()>) -> Result<bool, FileError> {
        let Some((folder, name)) = self.place()? else {
            return Ok(false);
        };
        match remove(&folder, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true).map_err(|error| self.failed(error)),
        }
    }

    /// Makes the folders in which it is. Returns those that were missing.
    ///
    /// # Errors
    /// When something else than a folder has the name of one.
    pub fn make_parents(&self, mode: u32) -> Result<Vec<PathBuf>, FileError> {
        let mut made = Vec::new();
        self.walk(
            self.names()?.split_last().map_or(&[][..], |(_, folders)| folders),
            Some((mode, &mut made)),
        )?;
        Ok(made)
    }

    /// Makes the folder, and those above it.
    ///
    /// # Errors
    /// When something else has its name.
    pub fn make(&self, mode: u32) -> Result<(), FileError> {
        self.walk(&self.names()?, Some((mode, &mut Vec::new()))).map(drop)
    }

    /// Opens it as a folder; `None` where there is none.
    ///
    /// # Errors
    /// When something else has its name.
    pub fn folder(&self) -> Result<Option<Folder>, FileError> {
        self.walk(&self.names()?, None)
    }

    /// The names in the folder, at most `most` and one more; `None` where there is none.
    ///
    /// # Errors
    /// When something else has its name, or it cannot be listed.
    pub fn list(&self, most: usize) -> Result<Option<Vec<OsString>>, FileError> {
        let Some(folder) = self.folder()? else { return Ok(None) };
        let names = folder.names().map_err(|error| self.failed(error))?;
        let names = names.take(most + 1).collect::<io::Result<_>>();
        names.map(Some).map_err(|error| self.failed(error))
    }

    /// The target of a link, by its text, if that is below the root; `None` for other entries.
    ///
    /// # Errors
    /// When it leads out of the root, or a folder on the way is none.
    pub fn target(&self) -> Result<Option<RootedPath>, FileError> {
        let Some((folder, name)) = self.place()? else {
            return Ok(None);
        };
        if !folder.about(&name).is_ok_and(|about| about.kind == Kind::Link) {
            return Ok(None);
        }
        let outside = || FileError::refused(self.full(), Refusal::NotAFile(Kind::Link));
        let text = folder.link_text(&name).map_err(|error| self.failed(error))?;
        let mut path = self.path.parent().unwrap_or(Path::new("")).to_owned();
        for component in Path::new(&text).components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                _ => return Err(outside()),
            }
        }
        match path.components().next() {
            // Git's own folder is the target of no link that git tracks.
            Some(Component::Normal(first)) if !first.eq_ignore_ascii_case(".git") => {
                Ok(Some(RootedPath::new(&self.root, path)))
            }
            _ => Err(outside()),
        }
    }

    /// The folder that it is in, and its name there; `None` where a folder on the way is missing.
    fn place(&self) -> Result<Option<(Folder, OsString)>, FileError> {
        let names = self.names()?;
        let Some((name, folders)) = names.split_last() else {
            return Err(FileError::refused(self.full(), Refusal::NotAFile(Kind::Folder)));
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

    fn walk(
        &self,
        names: &[&OsStr],
        mut making: Option<(u32, &mut Vec<PathBuf>)>,
    ) -> Result<Option<Folder>, FileError> {
        let mut path = self.root.clone();
        let mut folder = match Folder::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && making.is_none() => return Ok(None),
            opened => opened.map_err(|error| FileError::system(path.clone(), error))?,
        };
        for name in names {
            path.push(name);
            let mut entered = folder.enter(name);
            if let (Err(error), Some((mode, made))) = (&entered, &mut making)
                && error.kind() == io::ErrorKind::NotFound
            {
                match folder.make(name, *mode) {
                    Ok(()) => made.push(path.clone()),
                    // Another process was faster.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(FileError::system(path, error)),
                }
                entered = folder.enter(name);
            }
            folder = match entered {
                Ok(entered) => entered,
                Err(error) if error.kind() == io::ErrorKind::NotFound && making.is_none() => return Ok(None),
                Err(error) => {
                    return Err(match folder.about(name) {
                        Ok(EntryInfo { kind, .. }) if kind != Kind::Folder => {
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
        match system::kind_of_open(file).map_err(|error| self.failed(error))? {
            Kind::File => Ok(()),
            kind => Err(FileError::refused(self.full(), Refusal::NotAFile(kind))),
        }
    }

    fn explain(&self, folder: &Folder, name: &OsStr, error: io::Error) -> FileError {
        match folder.about(name) {
            Ok(EntryInfo { kind, .. }) if kind != Kind::File => {
                FileError::refused(self.full(), Refusal::NotAFile(kind))
            }
            _ => self.failed(error),
        }
    }

    fn failed(&self, error: io::Error) -> FileError {
        FileError::system(self.full(), error)
    }
}

pub(crate) fn read_bounded(file: File, most: u64, path: PathBuf) -> Result<Vec<u8>, FileError> {
    let length = file.metadata().map_or(0, |about| about.len());
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or_default() + 1);
    match file.take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Err(error) => Err(FileError::system(path, error)),
        Ok(_) if bytes.len() as u64 > most => Err(FileError::refused(path, Refusal::TooLarge(most))),
        Ok(_) => Ok(bytes),
    }
}
