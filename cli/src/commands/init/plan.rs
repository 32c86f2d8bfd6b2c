//! The files as they are, and as they will be.

use std::path::Path;

use anyhow::bail;
use coord_files::FileError;

use super::agents::TargetFolders;
use super::change::Change;
use super::detect::display_path;
use super::files;
use super::record::{FileRecord, Record, digest};
use super::target::{Content, Target};

/// Every text of ours contains it: a file without it is not ours.
const NAME: &str = "coord";

/// All changes of files.
#[derive(Debug)]
pub struct Plan<'a> {
    places: &'a TargetFolders,
    /// The record as it will be.
    pub record: Record,
    /// Files that were looked at, changed or not.
    files: Vec<Change>,
    /// Clauses about changes that were not made.
    pub notes: Vec<String>,
    /// Whether a file was refused, because it is a link for example.
    pub has_refused: bool,
}

impl<'a> Plan<'a> {
    /// One without changes.
    pub fn new(places: &'a TargetFolders, record: Record) -> Plan<'a> {
        Plan {
            places,
            record,
            files: Vec::new(),
            notes: Vec::new(),
            has_refused: false,
        }
    }

    /// Adds the content of `target` to a file.
    ///
    /// # Errors When the file has an unexpected form.
    pub fn add(&mut self, target: &Target) -> anyhow::Result<()> {
        let index = match self.open(target) {
            Ok(index) => index,
            Err(error) => {
                let refused = error.downcast_ref::<FileError>().filter(|error| error.is_link());
                let Some(refused) = refused else {
                    return Err(error.context("nothing was written"));
                };
                let note = format!("{} {}", display_path(&refused.path, self.places), refused.clause());
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                self.has_refused = true;
                return Ok(());
            }
        };
        let file = &mut self.files[index];
        let known = self.record.files.get(&file.path);
        let added = match target.add(file.after.as_deref(), known) {
            Ok(added) => added,
            Err(clause) => bail!("nothing was written: {}: {clause}", file.name),
        };
        self.notes.extend(
            added
                .kept
                .iter()
                .map(|clause| format!("{} {clause}: it was left", file.name)),
        );
        if file.after.as_deref() == Some(&added.text) {
            return Ok(());
        }
        // Another clone or an earlier version has written it: without a record, only the text shows which parts are
        // ours.
        let is_ours = |text: &str| {
            target
                .remove(text, None)
                .is_ok_and(|rest| rest.text.as_deref() != Some(text))
        };
        let has_ours = file.after.as_deref().is_some_and(is_ours);
        if has_ours && known.is_none() {
            file.after = Some(added.text);
            return Ok(());
        }
        let is_new = file.before.is_none();
        let known = self
            .record
            .files
            .entry(file.path.clone())
            .or_insert_with(|| FileRecord {
                created: is_new,
                ..FileRecord::default()
            });
        known.made.extend(added.made);
        if let Some(text) = &file.after {
            note_original(known, target, text, &added.text, has_ours);
        }
        if known.original.is_some() || matches!(target.content, Content::Whole(_)) {
            known.digest = Some(digest(&added.text));
        }
        file.after = Some(added.text);
        Ok(())
    }

    /// Removes the content of `target` from a file.
    ///
    /// # Errors
    /// As [`Plan::add`].
    pub fn remove(&mut self, target: &Target) -> anyhow::Result<()> {
        let index = match self.open(target) {
            Ok(index) => index,
            // Nothing was written there: it could not be read.
            Err(error) => {
                self.notes.push(format!("{error:#}: it was left"));
                return Ok(());
            }
        };
        let file = &mut self.files[index];
        let Some(text) = file.after.as_deref().filter(|text| text.contains(NAME)) else {
            return Ok(());
        };
        let known = self.record.files.get(&file.path);
        if let Some(known) = known.filter(|known| known.original.is_some() && known.has_written(text)) {
            file.after = known.original.clone();
            return Ok(());
        }
        let removed = match target.remove(text, known) {
            Ok(removed) => removed,
            Err(clause) => bail!("nothing was written: {}: {clause}", file.name),
        };
        let notes = removed.kept.iter();
        self.notes
            .extend(notes.map(|clause| format!("{} {clause} since: it was left", file.name)));
        file.after = removed.text;
        Ok(())
    }

    /// The files that change.
    pub fn changes(&self) -> Vec<&Change> {
        let changed = |file: &&Change| file.before != file.after;
        self.files.iter().filter(changed).collect()
    }

    /// Whether the file of `target` is there and has one of `marks` in it.
    pub fn says(&mut self, target: &Target, marks: [&str; 2]) -> bool {
        let Ok(index) = self.open(target) else { return false };
        let text = self.files[index].before.as_deref().unwrap_or_default();
        marks.iter().any(|mark| text.contains(mark))
    }

    /// The files that were looked at, as they are after the change.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let there = self.files.iter().filter(|file| file.after.is_some());
        there.map(|file| file.path.as_path())
    }

    /// Whether the file at `path` was looked at.
    pub fn has(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// The file of `target`, read once.
    fn open(&mut self, target: &Target) -> anyhow::Result<usize> {
        let inside = files::rooted_path(&target.path, self.places)?;
        let path = inside.full();
        if let Some(index) = self.files.iter().position(|file| file.path == path) {
            return Ok(index);
        }
        let mut name = display_path(&target.path, self.places);
        // Every link on the way is named, be it a folder's.
        if path != target.path && self.places.project.as_ref().is_none_or(|_| target.path.is_symlink()) {
            name = format!("{name} -> {}", display_path(&path, self.places));
        }
        let before = files::read(&inside, &name)?;
        self.files.push(Change {
            path,
            file: inside,
            name,
            after: before.clone(),
            before,
            is_program: target.is_program,
        });
        Ok(self.files.len() - 1)
    }
}

/// Notes the original text of a file if a removal would not restore it. A text that was changed since, or that has entries of ours,
/// is not the original.
fn note_original(known: &mut FileRecord, target: &Target, before: &str, after: &str, has_ours: bool) {
    let is_unchanged = known.has_written(before);
    known.original.take_if(|_| !is_unchanged);
    if known.original.is_none() && !known.created && !has_ours {
        let removed = target.remove(after, Some(known));
        let is_given_back = removed.is_ok_and(|removed| removed.text.as_deref() == Some(before));
        known.original = (!is_given_back).then(|| before.to_owned());
    }
}
