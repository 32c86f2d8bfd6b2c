//! The record of `coord init`'s changes, in a separate file, so that `--undo` removes only those: an object that was already
//! empty stays, and so does a setting that was made by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::Context;
use coord_agent::private_folder;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use serde::{Deserialize, Serialize};

/// Largest record that is read, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;

/// The record of a repository, or of a user's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Record {
    /// Files by their paths, absolute and without symbolic links.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, FileRecord>,
    /// Folders that were made.
    #[serde(default)]
    pub folders: BTreeSet<PathBuf>,
    /// Settings of git, with the value that was set.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// The changes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileRecord {
    /// Whether the file was made.
    pub created: bool,
    /// Parts created besides the values themselves: [`super::target::Added::made`].
    #[serde(default)]
    pub made: BTreeSet<String>,
    /// The original text, if a removal would not restore it exactly: for example, an object on one line was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// The digest of the text that was written, of files with an original and of those that are written as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Record {
    /// Reads it; an empty one where there is none, or only one of another user.
    ///
    /// # Errors
    /// When it cannot be read, or is no record.
    pub fn read(file: &RootedPath) -> anyhow::Result<Record> {
        match private_folder::read(file, MOST_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Record::default()),
            text => serde_json::from_slice(&text?).with_context(|| format!("cannot read {}", file.full().display())),
        }
    }

    /// Writes it; an empty one is deleted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, file: &RootedPath) -> anyhow::Result<()> {
        if *self == Record::default() {
            file.remove()?;
            return Ok(());
        }
        file.make_parents(PRIVATE_MODE)?;
        Ok(file.write(&serde_json::to_vec_pretty(self)?, FILE_MODE)?)
    }
}

impl FileRecord {
    /// Whether `text` is the one that was written.
    pub fn has_written(&self, text: &str) -> bool {
        self.digest.as_deref() == Some(digest(text).as_str())
    }
}

/// The digest of a text.
pub fn digest(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}
