//! The folder on disk: read and written under the plugin's locks, by names that were parsed, and never through a symbolic link.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use coord_teams::compare::{Folder, GiveOut};
use coord_teams::layout::{Entry, OnDisk, Place, admit_file, admit_folder, place};
use coord_teams::names::TeamName;
use coord_teams::refusal::Refusal;

use super::locks::{Kind, Locks, open_no_follow};
use super::unchanged::Fingerprint;

/// Entries of one folder that are looked at.
const MOST_ENTRIES: usize = 100_000;

/// Bytes of all files of a team that are read.
const MOST_BYTES: usize = 256 << 20;

/// The root.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    /// Its path.
    pub root: PathBuf,
}

/// The files of a team as they were read.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// What they say.
    pub folder: Folder,
    /// Entries whose names are none.
    pub refused: Vec<Refusal>,
    /// Their bytes.
    bytes: BTreeMap<Entry, Vec<u8>>,
}

impl Files {
    /// What cannot be written, because not all files of the team could be read then.
    pub fn more_than_is_read(&self, given: &GiveOut, stay: &BTreeSet<Entry>) -> BTreeSet<Entry> {
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
    /// The teams that have a folder here.
    pub fn teams(&self) -> anyhow::Result<BTreeSet<String>> {
        let names = match self.admitted("teams") {
            Ok(()) => self.names("teams")?.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let is_folder = |name: &String| on_disk(&self.root.join("teams").join(name)) == Some(OnDisk::Folder);
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
            // What is no folder is refused when it is read, and its entries are none of the team's.
            if let Err(refusal) = self.admitted(&folder) {
                lines.insert(format!("{refusal}\n"));
                continue;
            }
            for name in self.names(&folder)?.unwrap_or_default() {
                let about = fs::symlink_metadata(self.root.join(&folder).join(&name)).ok();
                let time = about.as_ref().and_then(|about| about.modified().ok());
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

    /// Reads the files of a team.
    ///
    /// # Errors
    /// When a folder cannot be read, or another program keeps a lock.
    pub fn read(&self, team: &TeamName) -> anyhow::Result<Files> {
        let mut files = Files::default();
        let _locks = Locks::take(self, team, Kind::Shared)?;
        let mut entries = BTreeSet::new();
        for folder in folders(team) {
            match self.admitted(&folder) {
                Err(refusal) => files.refused.push(refusal),
                Ok(()) => {
                    for name in self.names(&folder)?.unwrap_or_default() {
                        match place(&format!("{folder}/{name}")) {
                            Place::Ours(Entry::TeamLock(_) | Entry::TaskLock(_)) | Place::Other => {}
                            Place::Ours(entry) => drop(entries.insert(entry)),
                            Place::Refused(refusal) => files.refused.push(refusal),
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
            if content.is_err() && on_disk(&self.path(&entry)).is_none() {
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

    /// Writes what `given` has, but for `stay`; returns the entries that were not written, because they are no longer as they
    /// were read.
    ///
    /// # Errors
    /// When a file cannot be written, or another program keeps a lock.
    pub fn write(
        &self,
        team: &TeamName,
        files: &Files,
        given: &GiveOut,
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
        // What is no folder was refused when it was read.
        let folders = folders(team).into_iter().filter(|folder| self.admitted(folder).is_ok());
        let folders: BTreeSet<PathBuf> = folders.map(|folder| self.root.join(folder)).collect();
        for folder in &folders {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        let may_write = |entry: &Entry| {
            let is_in = self.path(entry).parent().is_some_and(|parent| folders.contains(parent));
            is_in && self.is_as_read(files, entry)
        };
        let _locks = Locks::take(self, team, Kind::Exclusive)?;
        for (entry, text) in writes {
            match may_write(entry) {
                true => self.replace(entry, text)?,
                false => drop(changed.insert(entry.clone())),
            }
        }
        for entry in removals {
            let path = self.path(entry);
            match may_write(entry) {
                true => fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))?,
                false => drop(changed.insert(entry.clone())),
            }
        }
        Ok(changed)
    }

    /// Where an entry is.
    pub fn path(&self, entry: &Entry) -> PathBuf {
        self.root.join(entry.path())
    }

    fn is_as_read(&self, files: &Files, entry: &Entry) -> bool {
        match files.bytes.get(entry) {
            Some(bytes) => self.content(entry).is_ok_and(|now| now == *bytes),
            None => on_disk(&self.path(entry)).is_none(),
        }
    }

    fn replace(&self, entry: &Entry, text: &str) -> anyhow::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = u64::try_from(now.as_millis()).unwrap_or_default();
        let temporary = entry.temporary_path(std::process::id(), milliseconds);
        let temporary = self.root.join(temporary.context("a lock is not written")?);
        let path = self.path(entry);
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&temporary, &path)
        })();
        written.with_context(|| {
            // It may not be there.
            let _ = fs::remove_file(&temporary);
            format!("{} cannot be written", path.display())
        })
    }

    /// The bytes of an entry, or why it is not read.
    fn content(&self, entry: &Entry) -> Result<Vec<u8>, Refusal> {
        let failed = |error: std::io::Error| Refusal::of_file(entry.path(), error.to_string());
        let path = self.path(entry);
        let found = on_disk(&path).ok_or_else(|| Refusal::of_file(entry.path(), "it is gone"))?;
        admit_file(entry, found)?;
        // It may have been replaced since: the file that was opened counts.
        let file = open_no_follow(OpenOptions::new().read(true), &path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        admit_file(entry, kind_of(&about))?;
        // Room for all of it and the end, which are two reads then.
        let length = usize::try_from(about.len()).unwrap_or_default();
        let mut bytes = Vec::with_capacity(length.min(entry.max_bytes()) + 1);
        let most = entry.max_bytes() as u64 + 1;
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        admit_file(entry, OnDisk::File(bytes.len() as u64))?;
        Ok(bytes)
    }

    /// Whether the folder, if it is there, and those above it are folders.
    pub fn admitted(&self, folder: &str) -> Result<(), Refusal> {
        let mut path = String::new();
        for part in folder.split('/') {
            path = if path.is_empty() {
                part.to_owned()
            } else {
                format!("{path}/{part}")
            };
            match on_disk(&self.root.join(&path)) {
                Some(found) => admit_folder(&path, found)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The names in a folder; `None` where there is none.
    fn names(&self, folder: &str) -> anyhow::Result<Option<Vec<String>>> {
        let path = self.root.join(folder);
        let about = || format!("{} cannot be read", path.display());
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            entries => entries.with_context(about)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            anyhow::ensure!(
                names.len() < MOST_ENTRIES,
                "{} has more than {MOST_ENTRIES} entries",
                path.display()
            );
            names.push(entry.with_context(about)?.file_name().to_string_lossy().into_owned());
        }
        Ok(Some(names))
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

fn on_disk(path: &Path) -> Option<OnDisk> {
    fs::symlink_metadata(path).ok().as_ref().map(kind_of)
}

fn kind_of(about: &fs::Metadata) -> OnDisk {
    let kind = about.file_type();
    if kind.is_symlink() {
        OnDisk::Symlink
    } else if kind.is_dir() {
        OnDisk::Folder
    } else if kind.is_file() {
        OnDisk::File(about.len())
    } else {
        OnDisk::Other
    }
}
