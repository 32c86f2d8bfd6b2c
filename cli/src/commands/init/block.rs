//! Lines between two markers, in a file that belongs to the user: Markdown, YAML or a script. Only the text between the markers is
//! ours.

use super::edit::{Addition, Removal};
use super::record::FileRecord;

/// The first line of a block in Markdown.
pub const MARKDOWN_BEGIN: &str = "<!-- coord init: begin -->";

/// The entry of [`Addition::made`] for a file that had no newline at its end.
const NEWLINE: &str = "newline";

/// The lines, and where they go.
#[derive(Clone, Debug)]
pub struct Block {
    /// The lines, with a newline at the end of each.
    pub text: String,
    /// The language of the file.
    pub language: Language,
}

/// Language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Markdown: the block goes to the end.
    Markdown,
    /// YAML: the block goes to the end.
    Yaml,
    /// A script of a shell: the block goes to the beginning, because the end may never be reached.
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

    /// The first line of a file that is made.
    fn first_line(self) -> &'static str {
        match self {
            Language::Markdown | Language::Yaml => "",
            Language::Shell => "#!/bin/sh\n",
        }
    }
}

impl Block {
    /// Adds the block, or replaces the one that is there.
    ///
    /// # Errors
    /// When a marker is alone.
    pub fn add(&self, text: Option<&str>) -> Result<Addition, String> {
        let text = text.unwrap_or(self.language.first_line());
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let [begin, end] = self.language.markers();
        let block = format!("{begin}\n{}{end}\n", self.text).replace('\n', newline);
        let mut made = Vec::new();
        let text = match self.find_block(text)? {
            Some((start, stop)) => format!("{}{block}{}", &text[..start], &text[stop..]),
            None if self.language == Language::Shell => {
                let (first, rest) = text.split_at(after_first_line(text));
                let first = if first.ends_with('\n') || first.is_empty() {
                    first.to_owned()
                } else {
                    made.push(NEWLINE.to_owned());
                    format!("{first}{newline}")
                };
                format!("{first}{block}{rest}")
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
            kept: Vec::new(),
        })
    }

    /// Takes the block away, with the empty line that was put before it.
    ///
    /// # Errors
    /// When a marker is alone.
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Result<Removal, String> {
        let Some((start, stop)) = self.find_block(text)? else {
            return Ok(Removal {
                text: Some(text.to_owned()),
                kept: Vec::new(),
            });
        };
        let (mut before, after) = (&text[..start], &text[stop..]);
        if self.language != Language::Shell {
            before = without_empty_line(before);
        }
        if after.is_empty() && record.is_some_and(|record| record.made.contains(NEWLINE)) {
            before = before.strip_suffix('\n').unwrap_or(before);
            before = before.strip_suffix('\r').unwrap_or(before);
        }
        let rest = format!("{before}{after}");
        let is_ours = record.is_none_or(|record| record.created);
        let is_empty = rest.trim() == self.language.first_line().trim();
        Ok(Removal {
            text: (!(is_ours && is_empty)).then_some(rest),
            kept: Vec::new(),
        })
    }

    /// The beginning and the end of the block that is there, markers included.
    fn find_block(&self, text: &str) -> Result<Option<(usize, usize)>, String> {
        let [begin, end] = self.language.markers();
        let lines = || {
            let mut offset = 0;
            text.split_inclusive('\n').enumerate().map(move |(number, line)| {
                offset += line.len();
                (number + 1, offset - line.len(), offset, line.trim())
            })
        };
        let first = lines().find(|(.., line)| *line == begin);
        let alone = |number, marker| {
            Err(format!(
                "line {number}: `{marker}` has no counterpart: restore the missing marker, or delete both"
            ))
        };
        match first {
            None => match lines().find(|(.., line)| *line == end) {
                Some((number, ..)) => alone(number, end),
                None => Ok(None),
            },
            Some((number, start, ..)) => {
                let last = lines().find(|(_, offset, _, line)| *offset > start && *line == end);
                match last {
                    Some((_, _, stop, _)) => Ok(Some((start, stop))),
                    None => alone(number, begin),
                }
            }
        }
    }
}

/// Where the line ends that says which program runs a script; 0 where there is none.
fn after_first_line(text: &str) -> usize {
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
