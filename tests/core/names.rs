//! The core names no extension: neither its crates in code or manifests, nor a feature for one.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the core.
const CORE: [&str; 20] = [
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
    "library",
    "mcp",
    "runtime",
    "scan",
    "scopes",
    "server",
    "settings",
    "sources",
    "state",
    "store",
];

/// Beginnings of the names of the crates of extensions, and of those that link them.
const OF_EXTENSIONS: [&str; 5] = [
    "coord_extensions",
    "coord_intent",
    "coord_opencode",
    "coord_team",
    "coord_tools",
];

/// The features of extensions.
const FEATURES: [&str; 3] = ["\"intents\"", "\"opencode\"", "\"teams\""];

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

/// The name of an extension's crate or feature in a line of code. Wire types are the core's.
fn named(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or_default();
    let feature = || {
        let mut features = FEATURES.into_iter();
        features.find(|name| code.contains(&format!("feature = {name}")))
    };
    OF_EXTENSIONS
        .into_iter()
        .find(|name| code.contains(name))
        .or_else(feature)
}

#[test]
fn a_name_of_an_extension_is_found() {
    for (line, is_named) in [
        ("use coord_intents::ledger::Record;", true),
        ("    let set = &coord_team_tools::TEAMS;", true),
        ("use coord_teams_state::tasks;", true),
        ("#[cfg(feature = \"intents\")]", true),
        ("#[cfg(not(all(feature = \"graph\", feature = \"teams\")))]", true),
        ("// coord_teams_server::x", false),
        ("use crate::{events, locks};", false),
        ("use coord_protocol::teams::View;", false),
        ("#[cfg(feature = \"client\")]", false),
    ] {
        assert_eq!(named(line).is_some(), is_named, "{line}");
    }
}

#[test]
fn the_core_names_no_extension() {
    let (mut read, mut naming) = (0, Vec::new());
    for name in CORE {
        let mut found = Vec::new();
        files(&lib().join(name).join("src"), &mut found);
        for file in found {
            let text = fs::read_to_string(&file).unwrap();
            read += 1;
            let lines = text.lines().filter(|line| named(line).is_some());
            naming.extend(lines.map(|line| (file.clone(), line.to_owned())));
        }
    }
    assert!(read > 200, "the files are read: {read}");
    assert_eq!(naming, Vec::new());
}

#[test]
fn the_crates_of_the_core_depend_on_none_of_an_extension() {
    for name in CORE {
        let manifest = fs::read_to_string(lib().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("\n[dev-dependencies]").next().unwrap_or_default();
        for line in dependencies.lines() {
            let of_extension = OF_EXTENSIONS
                .iter()
                .any(|name| line.starts_with(&name.replace('_', "-")));
            let is_feature = FEATURES
                .iter()
                .any(|name| line.starts_with(&format!("{} =", name.trim_matches('"'))));
            assert!(!of_extension && !is_feature, "{name}: {line}");
        }
    }
}
