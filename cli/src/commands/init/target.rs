//! A file that `coord init` changes, and its part of it.

use std::path::PathBuf;

use super::block::Block;
use super::edit::{Addition, Removal};
use super::json::Json;
use super::record::FileRecord;
use super::table::Table;
use super::whole_file::WholeFile;

/// A file, and its content.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it is, as it is named: it may be a symbolic link.
    pub path: PathBuf,
    /// Whether it is a program.
    pub is_program: bool,
    /// The content to write.
    pub content: Content,
}

/// Content of a written file.
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
    /// A file that is no program.
    pub fn new(path: PathBuf, content: Content) -> Target {
        Target {
            path,
            is_program: false,
            content,
        }
    }

    /// The text with the content added; `None` for `text` if there is no file.
    ///
    /// # Errors A clause with the line and why the file has an unexpected form.
    pub fn add(&self, text: Option<&str>, record: Option<&FileRecord>) -> Result<Addition, String> {
        match &self.content {
            Content::Json(json) => json.add(text),
            Content::Table(table) => table.add(text),
            Content::Block(block) => block.add(text),
            Content::Whole(whole) => Ok(whole.add(text, record)),
        }
    }

    /// The text without our content. Without a record, the text alone decides.
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
