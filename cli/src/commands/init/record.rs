//! The record of `coord init`'s changes, so that `--undo` removes nothing else. For example, an object that was already
//! empty stays, and so does a setting that the user has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::Context;
use coord_agent::private_folder;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use serde::{Deserialize, Serialize};

/// The largest record that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The record of a repository, or of a user's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Record {
    /// Files by their paths, absolute and without symbolic links.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, FileRecord>,
    /// Folders that were created.
    #[serde(default)]
    pub folders: BTreeSet<PathBuf>,
    /// Git settings, with the value that was set.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// The changes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileRecord {
    /// Whether the file was created.
    pub created: bool,
    /// Parts created besides the values themselves: [`super::edit::Addition::made`].
    #[serde(default)]
    pub made: BTreeSet<String>,
    /// The original text, if a removal would not restore it exactly: for example, an object was on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// The digest of the written text, for files with an original and files that are written as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Record {
    /// Reads the record. It is empty if there is no file, or only another user's.
    ///
    /// # Errors
    /// When the file cannot be read, or is no record.
    pub fn read(file: &RootedPath) -> anyhow::Result<Record> {
        match private_folder::read(file, MAX_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Record::default()),
            text => serde_json::from_slice(&text?).with_context(|| format!("cannot read {}", file.full().display())),
        }
    }

    /// Writes the record; deletes the file of an empty one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, file: &RootedPath) -> anyhow::Result<()> {
        if *self == Record::default() {
            file.remove()?;
            return Ok(());
        }
        file.create_parents(PRIVATE_MODE)?;
        Ok(file.write(&serde_json::to_vec_pretty(self)?, FILE_MODE)?)
    }
}

impl FileRecord {
    /// Whether `text` is the one that was written.
    pub fn has_written(&self, text: &str) -> bool {
        self.digest.as_deref() == Some(digest(text).as_str())
    }
}

pub fn digest(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}
