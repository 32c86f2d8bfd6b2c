//! The folder on disk. Reads and writes take place under the plugin's locks, by parsed names, and never through a
//! symbolic link.

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

/// The maximum number of entries of one folder.
const MAX_ENTRIES: usize = 100_000;

/// The maximum size of all files of a team together.
const MAX_BYTES: usize = 256 << 20;

#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub root: PathBuf,
    /// The root, relative to the working copy if it is inside: a link in a working copy may be someone else's. The path
    /// to any other root is the user's own choice.
    rooted: RootedPath,
}

/// Names, sizes and times of the files of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub digest: String,
    /// The newest of the times, in Unix seconds.
    pub newest: i64,
    /// The time of the fingerprint, in Unix seconds.
    pub taken_at: i64,
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
    /// The files of `export` that cannot be written, because the team would exceed the maximum size.
    pub fn exceeding_bounds(&self, export: &FileExport, skipped: &BTreeSet<Entry>) -> BTreeSet<Entry> {
        let size_before = |entry: &Entry| self.bytes.get(entry).map_or(0, Vec::len);
        let mut total: usize = self.bytes.values().map(Vec::len).sum();
        let writes = export.writes.iter().filter(|(entry, _)| !skipped.contains(*entry));
        let exceeds = |(entry, text): &(&Entry, &String)| {
            let total_after = total - size_before(entry) + text.len();
            let exceeds = total_after > MAX_BYTES && text.len() > size_before(entry);
            total = if exceeds { total } else { total_after };
            exceeds
        };
        writes.filter(exceeds).map(|(entry, _)| entry.clone()).collect()
    }
}

/// The reason why such a file is not written.
pub(super) fn size_message() -> String {
    format!("the files of the team would exceed {MAX_BYTES} bytes, the maximum that a sync reads")
}

impl Disk {
    /// The folder `root`, for the working copy at `working_copy`.
    pub fn new(root: PathBuf, working_copy: &Path) -> Disk {
        // The path of the working copy has no links, but the path of the root may have some.
        let ancestor = root
            .ancestors()
            .find(|folder| folder.canonicalize().is_ok_and(|real| real == working_copy));
        let below = ancestor.and_then(|ancestor| root.strip_prefix(ancestor).ok());
        let rooted = below.map_or_else(
            || RootedPath::new(&root, ""),
            |below| RootedPath::new(working_copy, below),
        );
        Disk { root, rooted }
    }

    /// The teams that have a folder here.
    pub fn teams(&self) -> anyhow::Result<BTreeSet<String>> {
        let names = match self.check_folder("teams") {
            Ok(()) => self.names("teams")?,
            Err(_) => Vec::new(),
        };
        let is_folder = |name: &String| self.entry_type(&format!("teams/{name}")) == Some(EntryType::Folder);
        let is_team = |name: &String| TeamName::parse(name).is_ok() && is_folder(name);
        Ok(names.into_iter().filter(is_team).collect())
    }

    /// Names, sizes and times of the files of a team.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn fingerprint(&self, team: &TeamName) -> anyhow::Result<Fingerprint> {
        let taken_at = chrono::Utc::now().timestamp();
        let (mut lines, mut newest) = (BTreeSet::new(), i64::MIN);
        for folder in folders(team) {
            // A read refuses a path that is not a folder, and its entries are not the team's.
            if let Err(refusal) = self.check_folder(&folder) {
                lines.insert(format!("{refusal}\n"));
                continue;
            }
            for name in self.names(&folder)? {
                let info = self.rooted.join(&folder).join(&name).about().ok().flatten();
                let modified = info.as_ref().and_then(|info| info.modified);
                let time = modified
                    .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
                    .unwrap_or_default();
                newest = newest.max(i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
                let kind = info.as_ref().map(type_of);
                lines.insert(format!("{folder}/{name} {kind:?} {}\n", time.as_nanos()));
            }
        }
        let mut digest = sha1_smol::Sha1::new();
        lines.iter().for_each(|line| digest.update(line.as_bytes()));
        Ok(Fingerprint {
            digest: digest.hexdigest(),
            newest,
            taken_at,
        })
    }

    /// The files of the team's locks whose folders are admitted.
    fn lock_files(&self, team: &TeamName) -> Vec<RootedPath> {
        let entries = [Entry::TeamLock(team.clone()), Entry::TaskLock(team.clone())];
        let folder = |entry: &Entry| entry.path().trim_end_matches("/.lock").to_owned();
        let entries = entries.iter().filter(|entry| self.check_folder(&folder(entry)).is_ok());
        entries.map(|entry| self.path(entry)).collect()
    }

    /// Reads the files of a team.
    ///
    /// # Errors
    /// When a folder cannot be read, or another program holds a lock for too long.
    pub fn read(&self, team: &TeamName) -> anyhow::Result<Files> {
        let mut files = Files::default();
        let _locks = Locks::acquire(&self.lock_files(team), Kind::Shared)?;
        let mut entries = BTreeSet::new();
        for folder in folders(team) {
            if let Err(refusal) = self.check_folder(&folder) {
                files.refused.push(refusal);
                continue;
            }
            for name in self.names(&folder)? {
                match path_kind(&format!("{folder}/{name}")) {
                    PathKind::Ours(Entry::TeamLock(_) | Entry::TaskLock(_)) | PathKind::Other => {}
                    PathKind::Ours(entry) => drop(entries.insert(entry)),
                    PathKind::Refused(refusal) => files.refused.push(refusal),
                }
            }
        }
        let (mut contents, mut total) = (Vec::with_capacity(entries.len()), 0);
        for entry in entries {
            let content = match total {
                0..=MAX_BYTES => self.content(&entry),
                _ => Err(Refusal::of_file(
                    entry.path(),
                    format!("the files before it have more than {MAX_BYTES} bytes"),
                )),
            };
            // The entry was removed after the folder was listed.
            if content.is_err() && self.entry_type(&entry.path()).is_none() {
                continue;
            }
            if let Ok(bytes) = &content {
                total += bytes.len();
                files.bytes.insert(entry.clone(), bytes.clone());
            }
            contents.push((entry, content));
        }
        files.folder = Folder::read(team, contents);
        Ok(files)
    }

    /// Writes the files of `export`, except `skipped`. Returns the entries that it did not write, because they have
    /// changed since they were read.
    ///
    /// # Errors
    /// When a file cannot be written, or another program holds a lock for too long.
    pub fn write(
        &self,
        team: &TeamName,
        files: &Files,
        export: &FileExport,
        skipped: &BTreeSet<Entry>,
    ) -> anyhow::Result<BTreeSet<Entry>> {
        let mut changed = BTreeSet::new();
        let mut writes = export
            .writes
            .iter()
            .filter(|(entry, _)| !skipped.contains(entry))
            .peekable();
        let mut removals = export
            .removals
            .iter()
            .filter(|entry| !skipped.contains(entry))
            .peekable();
        if writes.peek().is_none() && removals.peek().is_none() {
            return Ok(changed);
        }
        // The read has refused paths that are not folders.
        let folders = folders(team)
            .into_iter()
            .filter(|folder| self.check_folder(folder).is_ok());
        let folders: BTreeSet<String> = folders.collect();
        self.make_root()?;
        for folder in &folders {
            self.rooted.join(folder).make(FOLDER_MODE)?;
        }
        let may_write = |entry: &Entry| {
            let is_in_folder = entry
                .path()
                .rsplit_once('/')
                .is_some_and(|(folder, _)| folders.contains(folder));
            is_in_folder && self.is_as_read(files, entry)
        };
        let _locks = Locks::acquire(&self.lock_files(team), Kind::Exclusive)?;
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

    fn path(&self, entry: &Entry) -> RootedPath {
        self.rooted.join(entry.path())
    }

    /// Makes a configured root and the folders above it, if they are missing.
    fn make_root(&self) -> anyhow::Result<()> {
        if self.rooted == RootedPath::new(&self.root, "") && self.rooted.about().is_ok_and(|info| info.is_none()) {
            std::fs::create_dir_all(&self.root)
                .with_context(|| format!("{} cannot be created", self.root.display()))?;
        }
        Ok(())
    }

    fn entry_type(&self, path: &str) -> Option<EntryType> {
        self.rooted.join(path).about().ok().flatten().as_ref().map(type_of)
    }

    fn is_as_read(&self, files: &Files, entry: &Entry) -> bool {
        match files.bytes.get(entry) {
            Some(bytes) => self.content(entry).is_ok_and(|now| now == *bytes),
            None => self.entry_type(&entry.path()).is_none(),
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

    /// The bytes of an entry, or the reason why it is not read.
    fn content(&self, entry: &Entry) -> Result<Vec<u8>, Refusal> {
        let refuse = |error: FileError| match error.refusal() {
            // With the same wording as the other refusals of a team's files.
            Some(FileRefusal::NotAFile(kind)) => refusal_of(entry, type_without_size(kind)),
            Some(FileRefusal::TooLarge(max)) => refusal_of(entry, EntryType::File(max + 1)),
            _ => Refusal::of_file(entry.path(), error.clause()),
        };
        let content = self.path(entry).read(entry.max_bytes() as u64).map_err(refuse)?;
        content.ok_or_else(|| Refusal::of_file(entry.path(), "it is gone"))
    }

    /// Checks that the path `folder` and the paths above it are folders, as far as they exist.
    fn check_folder(&self, folder: &str) -> Result<(), Refusal> {
        // Above the root, the sentence names the folder by its whole path.
        if let Err(error) = self.rooted.folder()
            && error.refusal().is_some()
        {
            return Err(Refusal::of_file(error.path.display().to_string(), error.clause()));
        }
        let ends = folder.match_indices('/').map(|(index, _)| index);
        for end in ends.chain([folder.len()]) {
            let path = &folder[..end];
            match self.entry_type(path) {
                Some(entry_type) => admit_folder(path, entry_type)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The names in a folder; none if it does not exist.
    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let names = self.rooted.join(folder).list(MAX_ENTRIES)?.unwrap_or_default();
        anyhow::ensure!(
            names.len() <= MAX_ENTRIES,
            "{} has more than {MAX_ENTRIES} entries",
            self.root.join(folder).display()
        );
        let names = names.into_iter().map(|name| name.to_string_lossy().into_owned());
        Ok(names.collect())
    }
}

/// The folders of a team below the root.
fn folders(team: &TeamName) -> [String; 3] {
    [
        format!("teams/{team}"),
        format!("teams/{team}/inboxes"),
        format!("tasks/{team}"),
    ]
}

fn type_of(info: &EntryInfo) -> EntryType {
    match info.kind {
        coord_files::EntryKind::File => EntryType::File(info.len),
        kind => type_without_size(kind),
    }
}

fn type_without_size(kind: coord_files::EntryKind) -> EntryType {
    match kind {
        coord_files::EntryKind::File => EntryType::File(0),
        coord_files::EntryKind::Folder => EntryType::Folder,
        coord_files::EntryKind::Link => EntryType::Symlink,
        _ => EntryType::Other,
    }
}

fn refusal_of(entry: &Entry, entry_type: EntryType) -> Refusal {
    match admit_file(entry, entry_type) {
        Err(refusal) => refusal,
        Ok(()) => Refusal::of_file(entry.path(), "it is not a file that a sync reads"),
    }
}
