//! The parts that a graph lacks, so that nobody reads a missing edge as "no import".

use std::collections::BTreeMap;

use coord_graph::{ImportGraph, MetBound};
use coord_protocol::plain_text::visible_line;
use coord_scan::{FileState, other_language};
use serde_json::{Map, Value, json};

/// Why parts are missing, with the number of files of each cause.
#[derive(Debug, Default)]
pub(super) struct MissingParts {
    states: Vec<(FileState, usize)>,
    languages: BTreeMap<&'static str, usize>,
    names_left_out: usize,
    bounds: Vec<MetBound>,
}

impl MissingParts {
    /// `names_left_out` is the number of files whose names cannot be served.
    pub(super) fn of(graph: &ImportGraph, names_left_out: usize) -> Self {
        let mut missing = MissingParts {
            names_left_out,
            bounds: graph.bounds().to_vec(),
            ..MissingParts::default()
        };
        for state in FileState::ALL.into_iter().filter(|state| *state != FileState::Ok) {
            let files = graph.count_in_state(state);
            if files > 0 {
                missing.states.push((state, files));
            }
        }
        for node in graph.nodes().filter(|node| node.language.is_none()) {
            if let Some(name) = other_language(node.path) {
                *missing.languages.entry(name).or_default() += 1;
            }
        }
        missing
    }

    /// A field for each missing part; an empty object where the graph is complete.
    pub(super) fn json(&self) -> Value {
        let mut fields = Map::new();
        for (state, files) in &self.states {
            fields.insert(state.name().to_owned(), json!(files));
        }
        if !self.languages.is_empty() {
            fields.insert("unknown_languages".to_owned(), json!(self.languages));
        }
        if self.names_left_out > 0 {
            fields.insert("names_left_out".to_owned(), json!(self.names_left_out));
        }
        if !self.bounds.is_empty() {
            let bound = |met: &MetBound| json!({"bound": met.bound.name(), "files": met.files, "first": met.first});
            fields.insert("bounds".to_owned(), self.bounds.iter().map(bound).collect());
        }
        Value::Object(fields)
    }

    /// A line for people; `None` where the graph is complete.
    pub(super) fn line(&self) -> Option<String> {
        let mut parts: Vec<String> = self
            .states
            .iter()
            .map(|(state, files)| format!("{}: {}", file_count(*files), state_text(*state)))
            .collect();
        if !self.languages.is_empty() {
            let total = self.languages.values().sum();
            let languages = self.languages.iter().map(|(name, files)| format!("{name} {files}"));
            let languages: Vec<String> = languages.collect();
            parts.push(format!(
                "{}: of a language whose imports are not known ({})",
                file_count(total),
                languages.join(", ")
            ));
        }
        if self.names_left_out > 0 {
            parts.push(format!("{}: left out for their names", file_count(self.names_left_out)));
        }
        parts.extend(self.bounds.iter().map(bound_text));
        (!parts.is_empty()).then(|| format!("The graph is not complete. {}", parts.join("; ")))
    }
}

/// The bound that was met, and the first files that lack imports because of it.
fn bound_text(met: &MetBound) -> String {
    let first: Vec<_> = met.first.iter().map(|path| visible_line(path)).collect();
    let more = if met.files > met.first.len() { ", ..." } else { "" };
    format!(
        "{} ({}: {}{more})",
        met.bound.sentence(),
        file_count(met.files),
        first.join(", ")
    )
}

fn file_count(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    }
}

/// The name of a state, and its meaning.
pub(super) fn state_text(state: FileState) -> &'static str {
    match state {
        FileState::Ok => "read",
        FileState::TooLarge => "too_large: larger than COORD_GRAPH_MAX_FILE_BYTES",
        FileState::Binary => "binary: not text",
        FileState::Minified => "minified: very long lines, only the head was read",
        FileState::Unreadable => "unreadable: not in the object database, or damaged",
        FileState::OverLimit => "over_limit: past a bound",
    }
}
