//! Sentences that several operations use.

use coord_protocol::plain_text::{quoted_line, shown_line};

use super::fields::Symbol;
use coord_domain::{CommitSha, plain_text};
use coord_state::locks::{SpellingHint, Survey};

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
    format!(" ({}: {})", shown_line(login), quoted_line(reason))
}

/// Maximum warnings of one response about symbols.
const MOST_SYMBOLS: usize = 16;

/// Maximum warnings of one response about files that are tracked in another spelling.
const MOST_CASE_DIFFERS: usize = 16;

/// Warnings about symbols that were sent in place of files.
pub(super) fn whole_files(symbols: &[Symbol<'_>]) -> impl Iterator<Item = String> {
    symbols.iter().take(MOST_SYMBOLS).map(|(sent, file)| {
        let sent = plain_text(sent);
        format!("WHOLE_FILE: Coord locks whole files, so '{sent}' stands for '{file}'.")
    })
}

/// Warnings about fields that a request does not have.
pub fn unknown_fields(names: &[String]) -> impl Iterator<Item = String> {
    names
        .iter()
        .map(|name| format!("UNKNOWN_FIELD: This request has no field '{name}', so its value was ignored."))
}

/// A sentence about new files of a request of `count` files, which the branch does not have; empty if the graph is not of its
/// head.
pub(super) fn new_files(survey: &Survey, count: usize) -> String {
    if survey.graph_version.as_deref() != Some(survey.head.commit.as_str()) {
        return String::new();
    }
    let new = survey.spelled.iter().filter(|file| file.tracked.is_empty());
    let new: Vec<&str> = new.map(|file| file.file_path.as_str()).collect();
    match new.len() {
        0 => String::new(),
        1 if count == 1 => " (new file)".to_owned(),
        all if all == count => " (new files)".to_owned(),
        _ => format!(" (new: {})", list_paths(&new)),
    }
}

/// Warnings about files that differ from tracked ones in case only. A case-insensitive disk takes both for one, so two
/// agents could write one file under two locks.
pub(super) fn case_differs(spelled: &[SpellingHint]) -> Vec<String> {
    let spelled: Vec<&SpellingHint> = spelled.iter().filter(|file| !file.tracked.is_empty()).collect();
    let (shown, more) = spelled.split_at(spelled.len().min(MOST_CASE_DIFFERS));
    let sentence = |SpellingHint { file_path, tracked }: &SpellingHint| {
        let (tracked, verb) = (list_paths(tracked), if tracked.len() == 1 { "is" } else { "are" });
        format!("CASE_DIFFERS: '{file_path}' is not tracked, and {tracked} {verb}; check which file you mean.")
    };
    let mut warnings: Vec<String> = shown.iter().copied().map(sentence).collect();
    if !more.is_empty() {
        warnings.push(format!(
            "CASE_DIFFERS: {} more of these files differ from tracked ones in case only.",
            more.len()
        ));
    }
    warnings
}

/// The warning about released `files` that are as they were at their claim, if any.
pub(super) fn unchanged_files(files: &[String]) -> Option<String> {
    let are = match files {
        [] => return None,
        [_] => "is",
        _ => "are",
    };
    Some(format!(
        "UNCHANGED: At that commit {} {are} as when you claimed; if you changed anything there, you have not pushed it.",
        list_paths(files)
    ))
}

/// `paths` as in a sentence: all of a few, or some and the number of the others.
pub fn list_paths(paths: &[impl AsRef<str>]) -> String {
    const MOST: usize = 3;
    let shown: Vec<String> = paths
        .iter()
        .take(MOST)
        .map(|path| format!("'{}'", path.as_ref()))
        .collect();
    match paths.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}
