//! Lines between two markers, in a file that belongs to the user: Markdown, YAML or a script. Only the text between the
//! markers is ours.

use super::edit::{Addition, Removal};
use super::record::FileRecord;

/// The first line of a block in Markdown.
pub const MARKDOWN_BEGIN: &str = "<!-- coord init: begin -->";

/// The entry of [`Addition::made`] for a file that had no newline at its end.
const NEWLINE: &str = "newline";

#[derive(Clone, Debug)]
pub struct Block {
    /// The lines, with a newline at the end of each.
    pub text: String,
    /// The language of the file.
    pub language: Language,
}

/// The language of a file, which decides where the block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Markdown: the block goes to the end.
    Markdown,
    /// YAML: the block goes to the end.
    Yaml,
    /// A shell script: the block goes to the beginning, because the script may exit before its end.
    Shell,
}

impl Language {
    /// The first and the last line of a block.
    pub fn markers(self) -> [&'static str; 2] {
        match self {
            Language::Markdown => [MARKDOWN_BEGIN, "<!-- coord init: end -->"],
            Language::Shell | Language::Yaml => ["# coord init: begin", "# coord init: end"],
        }
    }

    /// The first line of a new file.
    fn first_line(self) -> &'static str {
        match self {
            Language::Markdown | Language::Yaml => "",
            Language::Shell => "#!/bin/sh\n",
        }
    }
}

impl Block {
    /// Adds the block, or replaces an existing one.
    ///
    /// # Errors
    /// When one of the two markers is missing.
    pub fn add(&self, text: Option<&str>) -> Result<Addition, String> {
        let text = text.unwrap_or(self.language.first_line());
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let [begin, end] = self.language.markers();
        let block = format!("{begin}\n{}{end}\n", self.text).replace('\n', newline);
        let mut made = Vec::new();
        let text = match self.find_block(text)? {
            Some((start, end)) => format!("{}{block}{}", &text[..start], &text[end..]),
            None if self.language == Language::Shell => {
                let (shebang, rest) = text.split_at(shebang_length(text));
                let shebang = if shebang.ends_with('\n') || shebang.is_empty() {
                    shebang.to_owned()
                } else {
                    made.push(NEWLINE.to_owned());
                    format!("{shebang}{newline}")
                };
                format!("{shebang}{block}{rest}")
            }
            None if text.is_empty() => block,
            None if text.ends_with('\n') => format!("{text}{newline}{block}"),
            None => {
                made.push(NEWLINE.to_owned());
                format!("{text}{newline}{newline}{block}")
            }
        };
        Ok(Addition {
            text,
            made,
            skipped: Vec::new(),
        })
    }

    /// Removes the block, and the empty line before it.
    ///
    /// # Errors
    /// As [`Block::add`].
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Result<Removal, String> {
        let Some((start, end)) = self.find_block(text)? else {
            return Ok(Removal::unchanged(text));
        };
        let (mut before, after) = (&text[..start], &text[end..]);
        if self.language != Language::Shell {
            before = without_empty_line(before);
        }
        if after.is_empty() && record.is_some_and(|record| record.made.contains(NEWLINE)) {
            before = before.strip_suffix('\n').unwrap_or(before);
            before = before.strip_suffix('\r').unwrap_or(before);
        }
        let rest = format!("{before}{after}");
        let is_empty = rest.trim() == self.language.first_line().trim();
        Ok(Removal::leaving(rest, is_empty, record))
    }

    /// The start and the end of an existing block, markers included.
    fn find_block(&self, text: &str) -> Result<Option<(usize, usize)>, String> {
        let [begin, end] = self.language.markers();
        // Each line with its number, start and end.
        let lines = || {
            let mut offset = 0;
            text.split_inclusive('\n').enumerate().map(move |(number, line)| {
                offset += line.len();
                (number + 1, offset - line.len(), offset, line.trim())
            })
        };
        let unpaired = |number, marker| {
            Err(format!(
                "line {number}: `{marker}` has no counterpart: restore the missing marker, or delete both"
            ))
        };
        let Some((number, start, ..)) = lines().find(|(.., line)| *line == begin) else {
            return match lines().find(|(.., line)| *line == end) {
                Some((number, ..)) => unpaired(number, end),
                None => Ok(None),
            };
        };
        match lines().find(|(_, offset, _, line)| *offset > start && *line == end) {
            Some((_, _, block_end, _)) => Ok(Some((start, block_end))),
            None => unpaired(number, begin),
        }
    }
}

/// The length of the line that names the interpreter of a script; 0 without one.
fn shebang_length(text: &str) -> usize {
    match text.starts_with("#!") {
        true => text.find('\n').map_or(text.len(), |newline| newline + 1),
        false => 0,
    }
}

fn without_empty_line(text: &str) -> &str {
    for empty in ["\n\r\n", "\n\n"] {
        if text.ends_with(empty) {
            return &text[..text.len() - empty.len() + 1];
        }
    }
    text
}
