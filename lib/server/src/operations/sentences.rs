//! Sentences that several operations use.

use coord_protocol::plain_text::{quote_line, visible_line};
use coord_protocol::sentence::list_first;

use super::fields::Symbol;
use coord_domain::{CommitSha, plain_text};
use coord_state::locks::{SpellingHint, Survey};

/// The number of items that a sentence names.
pub(super) const MAX_LISTED: usize = 3;

/// The warning about a missing or old graph.
pub(super) fn graph_warning(head: &CommitSha, version: Option<&str>) -> Option<String> {
    match version {
        None => Some("GRAPH_MISSING: The import graph is not built yet, so locked neighbors are not known.".to_owned()),
        Some(version) if version != head.as_str() => {
            let short: String = version.chars().take(7).collect();
            Some(format!(
                "GRAPH_STALE: The import graph is of commit {short}, not of {}; locked neighbors may be missed.",
                head.short()
            ))
        }
        Some(_) => None,
    }
}

/// A `reason` in parentheses, with the login that wrote it; empty without a reason.
pub fn reason_by_login(reason: &str, login: &str) -> String {
    if reason.is_empty() {
        return String::new();
    }
    let login = if login.is_empty() { "an unknown login" } else { login };
    format!(" ({}: {})", visible_line(login), quote_line(reason))
}

/// Maximum number of warnings of one response about symbols.
const MAX_SYMBOLS: usize = 16;

/// Maximum number of warnings of one response about files that are tracked in another spelling.
const MAX_CASE_DIFFERS: usize = 16;

/// Warnings about symbols that the caller named instead of files.
pub(super) fn whole_file_warnings(symbols: &[Symbol<'_>]) -> impl Iterator<Item = String> {
    symbols.iter().take(MAX_SYMBOLS).map(|(symbol, file)| {
        let symbol = plain_text(symbol);
        format!("WHOLE_FILE: Coord locks whole files, so '{symbol}' stands for '{file}'.")
    })
}

/// Warnings about fields that a request does not have.
pub fn unknown_fields(names: &[String]) -> impl Iterator<Item = String> {
    names
        .iter()
        .map(|name| format!("UNKNOWN_FIELD: This request has no field '{name}', so its value was ignored."))
}

/// A note about files in a request for `count` files that the branch does not have; empty if the graph is not of the
/// branch's head.
pub(super) fn new_files_note(survey: &Survey, count: usize) -> String {
    if survey.graph_version.as_deref() != Some(survey.head.commit.as_str()) {
        return String::new();
    }
    let new_files = survey.spelled.iter().filter(|file| file.tracked.is_empty());
    let new_files: Vec<&str> = new_files.map(|file| file.file_path.as_str()).collect();
    match new_files.len() {
        0 => String::new(),
        1 if count == 1 => " (new file)".to_owned(),
        new_count if new_count == count => " (new files)".to_owned(),
        _ => format!(" (new: {})", list_paths(&new_files)),
    }
}

/// Warnings about files whose paths differ from tracked ones only in case. On a case-insensitive disk both are the same
/// file, so two agents could write it under two locks.
pub(super) fn case_warnings(hints: &[SpellingHint]) -> Vec<String> {
    let hints: Vec<&SpellingHint> = hints.iter().filter(|hint| !hint.tracked.is_empty()).collect();
    let (listed, others) = hints.split_at(hints.len().min(MAX_CASE_DIFFERS));
    let warning = |SpellingHint { file_path, tracked }: &SpellingHint| {
        let (tracked, verb) = (list_paths(tracked), if tracked.len() == 1 { "is" } else { "are" });
        format!("CASE_DIFFERS: '{file_path}' is not tracked, and {tracked} {verb}; check which file you mean.")
    };
    let mut warnings: Vec<String> = listed.iter().copied().map(warning).collect();
    if !others.is_empty() {
        warnings.push(format!(
            "CASE_DIFFERS: {} more of these files differ from tracked ones in case only.",
            others.len()
        ));
    }
    warnings
}

/// The warning about released `files` that have not changed since their claim, if any.
pub(super) fn unchanged_warning(files: &[String]) -> Option<String> {
    let verb = match files {
        [] => return None,
        [_] => "is",
        _ => "are",
    };
    Some(format!(
        "UNCHANGED: At that commit {} {verb} as when you claimed; if you changed anything there, you have not pushed \
         it.",
        list_paths(files)
    ))
}

/// The first of `paths`, in quotes, and the number of the others.
pub fn list_paths(paths: &[impl AsRef<str>]) -> String {
    list_first(paths.iter().map(|path| format!("'{}'", path.as_ref())), MAX_LISTED)
}
