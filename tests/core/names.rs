//! The heart names no extension: neither its crates, nor, where a crate has parts of both, their modules.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the heart.
const HEART: [&str; 18] = [
    "auth",
    "builds",
    "domain",
    "embedded",
    "events",
    "files",
    "git",
    "graph",
    "http",
    "interfaces",
    "runtime",
    "scan",
    "scopes",
    "server",
    "settings",
    "sources",
    "state",
    "store",
];

/// The modules of extensions in `lib/state/src/`, where only `extensions.rs` names them.
const OF_EXTENSIONS: [&str; 7] = ["departures", "intents", "ledger", "mail", "messages", "tasks", "teams"];

fn lib() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below `folder`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether the file is of an extension, or the table of them.
fn is_of_an_extension(path: &Path) -> bool {
    let state = lib().join("state").join("src");
    let Ok(within) = path.strip_prefix(&state) else {
        return false;
    };
    let first = within.iter().next().and_then(|part| part.to_str()).unwrap_or_default();
    first == "extensions.rs" || OF_EXTENSIONS.contains(&first)
}

/// The name of an extension's crate or module in a statement. Wire types are the heart's.
fn named(statement: &str) -> Option<&'static str> {
    let crates = ["coord_intent", "coord_team", "coord_extensions"];
    if let Some(name) = crates.into_iter().find(|name| statement.contains(name)) {
        return Some(name);
    }
    let is_path_end = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let is_group = statement.trim_start().starts_with("use ") || statement.contains(" use ");
    OF_EXTENSIONS.into_iter().find(|name| {
        let is_named = |path: String| {
            let mut found = statement.match_indices(&path);
            found.any(|(at, path)| is_path_end(&statement[at + path.len()..]))
        };
        let is_in_group = || {
            let mut words = statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let begins = ["use crate::{", "use super::{", "use coord_state::{"];
            is_group && begins.iter().any(|begin| statement.contains(begin)) && words.any(|word| word == *name)
        };
        ["crate", "super", "state"]
            .iter()
            .any(|root| is_named(format!("{root}::{name}")))
            || is_in_group()
    })
}

/// The code of `text` without comments, by statement.
fn statements(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join(" ");
    code.split(';').map(str::to_owned).collect()
}

#[test]
fn a_name_of_an_extension_is_found() {
    let found = |text: &str| statements(text).iter().filter_map(|code| named(code)).count();
    for text in [
        "use coord_intents::ledger::Record;",
        "use crate::{\n    expiry, heads, intents,\n};",
        "use super::teams;",
        "fn f() { crate::tasks::keys::lapses() }",
        "use coord_teams_state::messages::read;",
    ] {
        assert_eq!(found(text), 1, "{text}");
    }
    for text in [
        "// crate::teams::x",
        "use crate::{events, locks};",
        "use crate::teams_of;",
        "use coord_protocol::teams::View;",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}

#[test]
fn the_heart_names_no_extension() {
    let (mut read, mut naming) = (0, Vec::new());
    for name in HEART {
        let mut found = Vec::new();
        files(&lib().join(name).join("src"), &mut found);
        for file in found.into_iter().filter(|file| !is_of_an_extension(file)) {
            let text = fs::read_to_string(&file).unwrap();
            read += 1;
            let found = statements(&text).into_iter();
            naming.extend(found.filter_map(|code| Some((file.clone(), named(&code)?, code))));
        }
    }
    assert!(read > 200, "the files are read: {read}");
    assert_eq!(naming, Vec::new());
}

#[test]
fn the_crates_of_the_heart_depend_on_none_of_an_extension() {
    for name in HEART {
        let manifest = fs::read_to_string(lib().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for line in dependencies.lines() {
            let is_of_extension = ["coord-intent", "coord-team", "coord-extensions"]
                .iter()
                .any(|name| line.starts_with(name));
            // The stored state of extensions is still in this crate, behind its features.
            let is_gated = name == "state" && line.contains("optional = true");
            assert!(!is_of_extension || is_gated, "{name}: {line}");
        }
    }
}
