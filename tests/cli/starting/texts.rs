//! The sentences that Coord shows, as a snapshot for each audience: a person can read one in a sitting, and a change of a sentence shows
//! in its diff. After a change, run with `INSTA_UPDATE=always` and read the diff of `snapshots`.

use std::fmt::Write;
use std::fs;

use crate::starting::references::ROOT;
use crate::starting::rules::files_below;
use crate::starting::words::{Part, Syntax, lines_before_tests, parts};

/// Folders whose sentences agents read, in responses, as results of tools, and from hooks.
const AGENTS: [&str; 23] = [
    "lib/auth",
    "lib/builds",
    "lib/domain",
    "lib/hooks",
    "lib/http",
    "lib/intent_tools",
    "lib/intents",
    "lib/intents_server",
    "lib/intents_state",
    "lib/mcp",
    "lib/opencode_tools",
    "lib/protocol",
    "lib/runtime",
    "lib/scopes",
    "lib/server",
    "lib/settings",
    "lib/sources",
    "lib/state",
    "lib/store",
    "lib/team_tools",
    "lib/teams",
    "lib/teams_server",
    "lib/teams_state",
];

/// Folders whose sentences people read on a terminal.
const COMMANDS: [&str; 10] = [
    "cli/src",
    "lib/agent",
    "lib/embedded",
    "lib/files",
    "lib/git",
    "lib/graph",
    "lib/intent_commands",
    "lib/interfaces",
    "lib/serve",
    "lib/team_commands",
];

/// The folder of the page.
const PAGE: [&str; 1] = ["public"];

/// Whether `text` is a sentence or a part of one: three words, of letters alone.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        word.len() > 1 && word.chars().all(|letter| letter.is_alphabetic() || letter == '\'')
    });
    words.count() >= 3
}

/// The sentences in the code of `folders`, a line each, below their file.
fn sentences(folders: &[&str]) -> String {
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| files_below(folder, &["rs", "js", "lua"]))
        .collect();
    files.sort();
    let mut text = String::new();
    for path in files {
        let source = fs::read_to_string(&path).expect("a source file");
        let path = path.strip_prefix(ROOT).unwrap_or(&path);
        let end = lines_before_tests(path, &source);
        let mut lines = vec![String::new()];
        for (part, line, piece) in parts(&source, &Syntax::of(path)) {
            let sentence = lines.last_mut().expect("a line");
            if part == Part::Text && line <= end {
                // A text of several lines has a part for each. A backslash joins a line with the next one.
                match sentence.strip_suffix('\\') {
                    Some(before) => *sentence = format!("{before}{}", piece.trim_start()),
                    None if sentence.is_empty() => sentence.push_str(&piece),
                    None => *sentence = format!("{} {}", sentence.trim_end(), piece.trim_start()),
                }
            } else if !piece.trim().is_empty() && !sentence.is_empty() {
                lines.push(String::new());
            }
        }
        lines.retain(|line| is_sentence(line));
        if !lines.is_empty() {
            writeln!(text, "{}", path.display()).expect("a text takes all");
            for line in lines {
                writeln!(text, "  {line}").expect("a text takes all");
            }
        }
    }
    text
}

#[test]
fn the_sentences_of_each_audience_are_those_of_its_snapshot() {
    insta::assert_snapshot!("agents", sentences(&AGENTS));
    insta::assert_snapshot!("commands", sentences(&COMMANDS));
    insta::assert_snapshot!("page", sentences(&PAGE));
}

#[test]
fn every_crate_has_an_audience() {
    // Scanners and loaders of libraries say nothing; rows of registrations neither.
    let without_texts = ["lib/events", "lib/extensions", "lib/library", "lib/scan", "lib/tools"];
    let mut crates: Vec<String> = fs::read_dir(format!("{ROOT}/lib"))
        .expect("the crates")
        .map(|entry| format!("lib/{}", entry.expect("a crate").file_name().to_string_lossy()))
        .filter(|name| !without_texts.contains(&name.as_str()))
        .collect();
    crates.sort();
    let mut known: Vec<&str> = AGENTS
        .iter()
        .chain(&COMMANDS)
        .copied()
        .filter(|name| name.starts_with("lib/"))
        .collect();
    known.sort_unstable();
    assert_eq!(crates, known);
}
