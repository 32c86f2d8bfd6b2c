//! The heart names no extension: neither its crates, nor, where a crate has parts of both, their modules.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the heart.
const HEART: [&str; 13] = [
    "auth", "builds", "domain", "embedded", "events", "http", "runtime", "scopes", "server", "settings", "sources",
    "state", "store",
];

/// The modules of extensions in `lib/state/src/`, where only `extensions.rs` names them.
const OF_EXTENSIONS: [&str; 7] = ["departures", "intents", "ledger", "mail", "messages", "tasks", "teams"];

fn lib() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files with this extension below `folder`.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
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

/// The name of an extension's crate or module in a line of code. Wire types are the heart's.
fn named(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or_default();
    let crates = ["coord_intents", "coord_teams"];
    if let Some(name) = crates.into_iter().find(|name| code.contains(name)) {
        return Some(name);
    }
    OF_EXTENSIONS.into_iter().find(|name| {
        [
            format!("crate::{name}::"),
            format!("super::{name}::"),
            format!("state::{name}::"),
        ]
        .iter()
        .any(|path| code.contains(path))
    })
}

#[test]
fn the_heart_names_no_extension() {
    let (mut read, mut naming) = (0, Vec::new());
    for name in HEART {
        let mut found = Vec::new();
        files(&lib().join(name).join("src"), "rs", &mut found);
        for file in found.into_iter().filter(|file| !is_of_an_extension(file)) {
            let text = fs::read_to_string(&file).unwrap();
            read += 1;
            let lines = text.lines().enumerate();
            naming.extend(lines.filter_map(|(index, line)| Some((file.clone(), index + 1, named(line)?))));
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
            let is_of_extension = line.starts_with("coord-intents") || line.starts_with("coord-teams");
            // The stored state of extensions is still in this crate, behind its features.
            let is_gated = name == "state" && line.contains("optional = true");
            assert!(!is_of_extension || is_gated, "{name}: {line}");
        }
    }
}
