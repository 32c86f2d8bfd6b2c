//! The folder on disk: read and written under the plugin's locks, by names that were parsed, and never through a symbolic link.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use coord_files::{EntryInfo, FILE_MODE, FOLDER_MODE, FileError, Refusal as FileRefusal, RootedPath};
use coord_teams::compare::{FileExport, Folder};
use coord_teams::layout::{Entry, EntryType, PathKind, admit_file, admit_folder, path_kind};
use coord_teams::names::TeamName;
use coord_teams::refusal::Refusal;

use super::locks::{Kind, Locks};

/// Entries of one folder that are looked at.
const MOST_ENTRIES: usize = 100_000;

/// Bytes of all files of a team that are read.
const MOST_BYTES: usize = 256 << 20;

#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub root: PathBuf,
    /// It, by the working copy that it is in: a link there is another person's. A root elsewhere is the user's own choice.
    inside: RootedPath,
}

/// Names, sizes and times of the files of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub digest: String,
    /// The newest of the times, Unix seconds.
    pub newest: i64,
    /// When it was taken, Unix seconds.
    pub taken: i64,
}

/// The files of a team as they were read.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub folder: Folder,
    /// Entries with invalid names.
    pub refused: Vec<Refusal>,
    bytes: BTreeMap<Entry, Vec<u8>>,
}

impl Files {
    /// Files that cannot be written, because the team would exceed the bounds of reading.
    pub fn more_than_is_read(&self, given: &FileExport, stay: &BTreeSet<Entry>) -> BTreeSet<Entry> {
        let had = |entry: &Entry| self.bytes.get(entry).map_or(0, Vec::len);
        let mut total: usize = self.bytes.values().map(Vec::len).sum();
        let writes = given.writes.iter().filter(|(entry, _)| !stay.contains(*entry));
        let is_too_much = |(entry, text): &(&Entry, &String)| {
            let after = total - had(entry) + text.len();
            let is_too_much = after > MOST_BYTES && text.len() > had(entry);
            total = if is_too_much { total } else { after };
            is_too_much
        };
        writes.filter(is_too_much).map(|(entry, _)| entry.clone()).collect()
    }
}

/// Why such a file is not written.
pub(super) fn too_much() -> String {
    format!("the files of the team would have more than {MOST_BYTES} bytes, which are read at most")
}

impl Disk {
    /// That with this `root`, for the working copy at `working_copy`.
    pub fn new(root: PathBuf, working_copy: &Path) -> Disk {
        // The working copy has its path without links, and the root may be named through one.
        let named = root
            .ancestors()
            .find(|folder| folder.canonicalize().is_ok_and(|real| real == working_copy));
        let inside = named.and_then(|named| root.strip_prefix(named).ok());
        let inside = inside.map_or_else(
            || RootedPath::new(&root, ""),
            |below| RootedPath::new(working_copy, below),
        );
        Disk { root, inside }
    }

    /// The teams that have a folder here.
    pub fn teams(&self) -> anyhow::Result<BTreeSet<String>> {
        let names = match self.check_folder("teams") {
            Ok(()) => self.names("teams")?.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let is_folder = |name: &String| self.on_disk(&format!("teams/{name}")) == Some(EntryType::Folder);
        let is_team = |name: &String| TeamName::parse(name).is_ok() && is_folder(name);
        Ok(names.into_iter().filter(is_team).collect())
    }

    /// Names, sizes and times of the files of a team.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn fingerprint(&self, team: &TeamName) -> anyhow::Result<Fingerprint> {
        let taken = chrono::Utc::now().timestamp();
        let (mut lines, mut newest) = (BTreeSet::new(), i64::MIN);
        for folder in folders(team) {
            // A path that is not a folder is refused when it is read, and its entries are not the team's.
            if let Err(refusal) = self.check_folder(&folder) {
                lines.insert(format!("{refusal}\n"));
                continue;
            }
            for name in self.names(&folder)?.unwrap_or_default() {
                let about = self.inside.join(&folder).join(&name).about().ok().flatten();
                let time = about.as_ref().and_then(|about| about.modified);
                let time = time
                    .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
                    .unwrap_or_default();
                newest = newest.max(i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
                let kind = about.as_ref().map(kind_of);
                lines.insert(format!("{folder}/{name} {kind:?} {}\n", time.as_nanos()));
            }
        }
        let mut digest = sha1_smol::Sha1::new();
        lines.iter().for_each(|line| digest.update(line.as_bytes()));
        Ok(Fingerprint {
            digest: digest.hexdigest(),
            newest,
            taken,
        })
    }

    /// The files of both locks of a team, as far as their folders are admitted.
    fn lock_files(&self, team: &TeamName) -> Vec<RootedPath> {
        let entries = [Entry::TeamLock(team.clone()), Entry::TaskLock(team.clone())];
        let folder = |entry: &Entry| entry.path().trim_end_matches("/.lock").to_owned();
        let entries = entries.iter().filter(|entry| self.check_folder(&folder(entry)).is_ok());
        entries.map(|entry| self.path(entry)).collect()
    }

    /// Reads the files of a team.
    ///
    /// # Errors
    /// When a folder cannot be read, or another program keeps a lock.
    pub fn read(&self, team: &TeamName) -> anyhow::Result<Files> {
        let mut files = Files::default();
        let _locks = Locks::take(&self.lock_files(team), Kind::Shared)?;
        let mut entries = BTreeSet::new();
        for folder in folders(team) {
            match self.check_folder(&folder) {
                Err(refusal) => files.refused.push(refusal),
                Ok(()) => {
                    for name in self.names(&folder)?.unwrap_or_default() {
                        match path_kind(&format!("{folder}/{name}")) {
                            PathKind::Ours(Entry::TeamLock(_) | Entry::TaskLock(_)) | PathKind::Other => {}
                            PathKind::Ours(entry) => drop(entries.insert(entry)),
                            PathKind::Refused(refusal) => files.refused.push(refusal),
                        }
                    }
                }
            }
        }
        let (mut read, mut total) = (Vec::with_capacity(entries.len()), 0);
        for entry in entries {
            let content = match total {
                0..=MOST_BYTES => self.content(&entry),
                _ => Err(Refusal::of_file(
                    entry.path(),
                    format!("the files before it have more than {MOST_BYTES} bytes"),
                )),
            };
            // It went since the folder was listed, as in one that is being removed.
            if content.is_err() && self.on_disk(&entry.path()).is_none() {
                continue;
            }
            if let Ok(bytes) = &content {
                total += bytes.len();
                files.bytes.insert(entry.clone(), bytes.clone());
            }
            read.push((entry, content));
        }
        files.folder = Folder::read(team, read);
        Ok(files)
    }

    /// Writes the files of `given`, except `stay`; returns the entries that were not written, because they have changed since
    /// they were read.
    ///
    /// # Errors
    /// When a file cannot be written, or another program keeps a lock.
    pub fn write(
        &self,
        team: &TeamName,
        files: &Files,
        given: &FileExport,
        stay: &BTreeSet<Entry>,
    ) -> anyhow::Result<BTreeSet<Entry>> {
        let mut changed = BTreeSet::new();
        let writes = given
            .writes
            .iter()
            .filter(|(entry, _)| !stay.contains(entry))
            .peekable();
        let removals = given.removals.iter().filter(|entry| !stay.contains(entry)).peekable();
        let (mut writes, mut removals) = (writes, removals);
        if writes.peek().is_none() && removals.peek().is_none() {
            return Ok(changed);
        }
        // A path that is not a folder was refused when it was read.
        let folders = folders(team)
            .into_iter()
            .filter(|folder| self.check_folder(folder).is_ok());
        let folders: BTreeSet<String> = folders.collect();
        self.make_root()?;
        for folder in &folders {
            self.inside.join(folder).make(FOLDER_MODE)?;
        }
        let may_write = |entry: &Entry| {
            let is_in = entry
                .path()
                .rsplit_once('/')
                .is_some_and(|(folder, _)| folders.contains(folder));
            is_in && self.is_as_read(files, entry)
        };
        let _locks = Locks::take(&self.lock_files(team), Kind::Exclusive)?;
        for (entry, text) in writes {
            match may_write(entry) {
                true => self.replace(entry, text)?,
                false => drop(changed.insert(entry.clone())),
            }
        }
        for entry in removals {
            match may_write(entry) {
                true => drop(self.path(entry).remove()?),
                false => drop(changed.insert(entry.clone())),
            }
        }
        Ok(changed)
    }

    /// Where an entry is.
    pub fn path(&self, entry: &Entry) -> RootedPath {
        self.inside.join(entry.path())
    }

    /// A configured root may be missing with the folders above it.
    fn make_root(&self) -> anyhow::Result<()> {
        if self.inside == RootedPath::new(&self.root, "") && self.inside.about().is_ok_and(|about| about.is_none()) {
            let about = || format!("{} cannot be made", self.root.display());
            std::fs::create_dir_all(&self.root).with_context(about)?;
        }
        Ok(())
    }

    fn on_disk(&self, path: &str) -> Option<EntryType> {
        self.inside.join(path).about().ok().flatten().as_ref().map(kind_of)
    }

    fn is_as_read(&self, files: &Files, entry: &Entry) -> bool {
        match files.bytes.get(entry) {
            Some(bytes) => self.content(entry).is_ok_and(|now| now == *bytes),
            None => self.on_disk(&entry.path()).is_none(),
        }
    }

    fn replace(&self, entry: &Entry, text: &str) -> anyhow::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = u64::try_from(now.as_millis()).unwrap_or_default();
        let temporary = entry.temporary_path(std::process::id(), milliseconds);
        let temporary = PathBuf::from(temporary.context("a lock is not written")?);
        let file = self.path(entry);
        Ok(file
            .stage(text.as_bytes(), FILE_MODE, temporary.file_name())?
            .replace()?)
    }

    /// The bytes of an entry, or why it is not read.
    fn content(&self, entry: &Entry) -> Result<Vec<u8>, Refusal> {
        let refused = |error: FileError| match error.refusal() {
            // In the words of all other refusals of a team's files.
            Some(FileRefusal::NotAFile(kind)) => refusal_of(entry, kind_only(kind)),
            Some(FileRefusal::TooLarge(most)) => refusal_of(entry, EntryType::File(most + 1)),
            _ => Refusal::of_file(entry.path(), error.clause()),
        };
        let read = self.path(entry).read(entry.max_bytes() as u64).map_err(refused)?;
        read.ok_or_else(|| Refusal::of_file(entry.path(), "it is gone"))
    }

    /// Whether the folder, if it is there, and those above it are folders.
    pub fn check_folder(&self, folder: &str) -> Result<(), Refusal> {
        // Above the root, the sentence names the folder by its whole path.
        if let Err(error) = self.inside.folder()
            && error.refusal().is_some()
        {
            return Err(Refusal::of_file(error.path.display().to_string(), error.clause()));
        }
        let mut path = String::new();
        for part in folder.split('/') {
            path = if path.is_empty() {
                part.to_owned()
            } else {
                format!("{path}/{part}")
            };
            match self.on_disk(&path) {
                Some(found) => admit_folder(&path, found)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The names in a folder; `None` where there is none.
    fn names(&self, folder: &str) -> anyhow::Result<Option<Vec<String>>> {
        let Some(names) = self.inside.join(folder).list(MOST_ENTRIES)? else {
            return Ok(None);
        };
        anyhow::ensure!(
            names.len() <= MOST_ENTRIES,
            "{} has more than {MOST_ENTRIES} entries",
            self.root.join(folder).display()
        );
        let names = names.into_iter().map(|name| name.to_string_lossy().into_owned());
        Ok(Some(names.collect()))
    }
}

/// The folders of a team below the root.
pub(super) fn folders(team: &TeamName) -> [String; 3] {
    [
        format!("teams/{team}"),
        format!("teams/{team}/inboxes"),
        format!("tasks/{team}"),
    ]
}

fn kind_of(about: &EntryInfo) -> EntryType {
    match about.kind {
        coord_files::Kind::File => EntryType::File(about.len),
        kind => kind_only(kind),
    }
}

fn kind_only(kind: coord_files::Kind) -> EntryType {
    match kind {
        coord_files::Kind::File => EntryType::File(0),
        coord_files::Kind::Folder => EntryType::Folder,
        coord_files::Kind::Link => EntryType::Symlink,
        _ => EntryType::Other,
    }
}

fn refusal_of(entry: &Entry, found: EntryType) -> Refusal {
    match admit_file(entry, found) {
        Err(refusal) => refusal,
        Ok(()) => Refusal::of_file(entry.path(), "it is no file that is read"),
    }
}
