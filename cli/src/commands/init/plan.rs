//! The files before and after the changes.

use std::path::Path;

use anyhow::bail;
use coord_files::FileError;

use super::agents::TargetFolders;
use super::detect::display_path;
use super::files::{self, Change};
use super::record::{FileRecord, Record, digest};
use super::target::{Content, Target};

/// Every text of ours contains this name: a file without it has nothing of ours.
const NAME: &str = "coord";

/// The planned changes of files.
#[derive(Debug)]
pub struct Plan<'a> {
    target_folders: &'a TargetFolders,
    /// The record after the changes.
    pub record: Record,
    /// The files that were read, changed or not.
    files: Vec<Change>,
    /// Clauses about changes that are not made.
    pub notes: Vec<String>,
    /// Whether a file was refused, for example because it is a link.
    pub has_refused: bool,
}

impl<'a> Plan<'a> {
    /// A plan without changes.
    pub fn new(target_folders: &'a TargetFolders, record: Record) -> Plan<'a> {
        Plan {
            target_folders,
            record,
            files: Vec::new(),
            notes: Vec::new(),
            has_refused: false,
        }
    }

    /// Adds the content of `target` to a file.
    ///
    /// # Errors
    /// When the file has an unexpected form.
    pub fn add(&mut self, target: &Target) -> anyhow::Result<()> {
        let index = match self.open(target) {
            Ok(index) => index,
            Err(error) => {
                let link = error.downcast_ref::<FileError>().filter(|error| error.is_link());
                let Some(link) = link else {
                    return Err(error.context("nothing was written"));
                };
                let note = format!("{} {}", display_path(&link.path, self.target_folders), link.clause());
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                self.has_refused = true;
                return Ok(());
            }
        };
        let file = &mut self.files[index];
        let record = self.record.files.get(&file.path);
        let addition = match target.add(file.after.as_deref(), record) {
            Ok(addition) => addition,
            Err(clause) => bail!("nothing was written: {}: {clause}", file.name),
        };
        let skipped = addition.skipped.iter();
        self.notes
            .extend(skipped.map(|clause| format!("{} {clause}: it was left", file.name)));
        if file.after.as_deref() == Some(&addition.text) {
            return Ok(());
        }
        // Another clone or an earlier version may have written parts. Without a record, only the text shows them.
        let has_ours = file.after.as_deref().is_some_and(|text| {
            target
                .remove(text, None)
                .is_ok_and(|removal| removal.text.as_deref() != Some(text))
        });
        if has_ours && record.is_none() {
            file.after = Some(addition.text);
            return Ok(());
        }
        let is_new = file.before.is_none();
        let record = self
            .record
            .files
            .entry(file.path.clone())
            .or_insert_with(|| FileRecord {
                created: is_new,
                ..FileRecord::default()
            });
        record.made.extend(addition.made);
        if let Some(text) = &file.after {
            record_original(record, target, text, &addition.text, has_ours);
        }
        if record.original.is_some() || matches!(target.content, Content::Whole(_)) {
            record.digest = Some(digest(&addition.text));
        }
        file.after = Some(addition.text);
        Ok(())
    }

    /// Removes the content of `target` from a file.
    ///
    /// # Errors
    /// As [`Plan::add`].
    pub fn remove(&mut self, target: &Target) -> anyhow::Result<()> {
        let index = match self.open(target) {
            Ok(index) => index,
            // A file that cannot be read was never written.
            Err(error) => {
                self.notes.push(format!("{error:#}: it was left"));
                return Ok(());
            }
        };
        let file = &mut self.files[index];
        let Some(text) = file.after.as_deref().filter(|text| text.contains(NAME)) else {
            return Ok(());
        };
        let record = self.record.files.get(&file.path);
        if let Some(record) = record.filter(|record| record.original.is_some() && record.has_written(text)) {
            file.after = record.original.clone();
            return Ok(());
        }
        let removal = match target.remove(text, record) {
            Ok(removal) => removal,
            Err(clause) => bail!("nothing was written: {}: {clause}", file.name),
        };
        let skipped = removal.skipped.iter();
        self.notes
            .extend(skipped.map(|clause| format!("{} {clause} since: it was left", file.name)));
        file.after = removal.text;
        Ok(())
    }

    /// The files that change.
    pub fn changes(&self) -> Vec<&Change> {
        self.files.iter().filter(|file| file.before != file.after).collect()
    }

    /// Whether the file of `target` exists and contains one of `marks`.
    pub fn contains_any(&mut self, target: &Target, marks: &[&str]) -> bool {
        let Ok(index) = self.open(target) else { return false };
        let text = self.files[index].before.as_deref().unwrap_or_default();
        marks.iter().any(|mark| text.contains(mark))
    }

    /// The files that were read and exist after the changes.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let existing = self.files.iter().filter(|file| file.after.is_some());
        existing.map(|file| file.path.as_path())
    }

    /// Whether the file at `path` was read.
    pub fn has_read(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// Reads the file of `target` once, and returns its index in `files`.
    fn open(&mut self, target: &Target) -> anyhow::Result<usize> {
        let file = files::rooted_path(&target.path, self.target_folders)?;
        let path = file.full();
        if let Some(index) = self.files.iter().position(|file| file.path == path) {
            return Ok(index);
        }
        let mut name = display_path(&target.path, self.target_folders);
        // The name shows the target of a link. In the user's home, a folder on the way may be a link, too.
        if path != target.path
            && self
                .target_folders
                .project
                .as_ref()
                .is_none_or(|_| target.path.is_symlink())
        {
            name = format!("{name} -> {}", display_path(&path, self.target_folders));
        }
        let before = files::read(&file, &name)?;
        self.files.push(Change {
            path,
            file,
            name,
            after: before.clone(),
            before,
            is_program: target.is_program,
        });
        Ok(self.files.len() - 1)
    }
}

/// Records the original text of a file if a removal would not restore it. A text that was changed since, or that has
/// entries of ours, is not the original.
fn record_original(record: &mut FileRecord, target: &Target, before: &str, after: &str, has_ours: bool) {
    let is_unchanged = record.has_written(before);
    record.original.take_if(|_| !is_unchanged);
    if record.original.is_none() && !record.created && !has_ours {
        let removal = target.remove(after, Some(record));
        let is_restored = removal.is_ok_and(|removal| removal.text.as_deref() == Some(before));
        record.original = (!is_restored).then(|| before.to_owned());
    }
}
