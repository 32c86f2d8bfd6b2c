//! A file that `coord init` changes, and its part of it.

use std::path::PathBuf;

use super::block::Block;
use super::edit::{Addition, Removal};
use super::json::Json;
use super::record::FileRecord;
use super::table::Table;
use super::whole_file::WholeFile;

/// A file, and the content to write into it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The path, which may be a symbolic link.
    pub path: PathBuf,
    pub is_program: bool,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub enum Content {
    /// Values in JSON.
    Json(Json),
    /// A table in TOML.
    Table(Table),
    /// Lines between two markers.
    Block(Block),
    Whole(WholeFile),
}

impl Target {
    /// A file that is not a program.
    pub fn new(path: PathBuf, content: Content) -> Target {
        Target {
            path,
            is_program: false,
            content,
        }
    }

    /// Adds the content to `text`, which is `None` if there is no file.
    ///
    /// # Errors
    /// When the file has an unexpected form: a clause with the line and the reason.
    pub fn add(&self, text: Option<&str>, record: Option<&FileRecord>) -> Result<Addition, String> {
        match &self.content {
            Content::Json(json) => json.add(text),
            Content::Table(table) => table.add(text),
            Content::Block(block) => block.add(text),
            Content::Whole(whole) => Ok(whole.add(text, record)),
        }
    }

    /// Removes the content from `text`. Without a record, the text alone shows which parts are ours.
    ///
    /// # Errors
    /// As [`Target::add`].
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Result<Removal, String> {
        match &self.content {
            Content::Json(json) => json.remove(text, record),
            Content::Table(table) => table.remove(text, record),
            Content::Block(block) => block.remove(text, record),
            Content::Whole(whole) => Ok(whole.remove(text, record)),
        }
    }
}
