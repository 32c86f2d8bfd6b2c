use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::scripts;

/// All files with this extension in a folder of the crate, and in the folders in it.
fn files_in(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The Lua files of the state: scripts in the folders of aggregates, and includes in the folders `includes`.
fn files(is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = files_in("src/state", "lua");
    files.retain(|path| is_wanted(path));
    files
}

fn is_include(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("includes"))
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|name| name.to_str()).expect("a name")
}

fn code(line: &str) -> &str {
    line.split("--").next().unwrap_or_default().trim()
}

#[test]
fn every_file_is_a_script_that_is_declared_or_an_include_of_one() {
    let declared: BTreeSet<&str> = scripts().map(|script| script.name).collect();
    let files_of_scripts = files(|path| !is_include(path));
    assert_eq!(declared, files_of_scripts.iter().map(|path| name(path)).collect());
    assert_eq!(declared.len(), scripts().count(), "a script is declared once");
    for include in files(is_include) {
        let text = fs::read_to_string(&include).expect("an include");
        let users = scripts().filter(|script| script.source.contains(&text_without_includes(&text)));
        assert!(users.count() > 0, "{} is of no script", include.display());
    }
}

/// The part of an include that every script with it contains: the text after its last own include.
fn text_without_includes(text: &str) -> String {
    let behind = text
        .rfind("-- @include ")
        .map_or(0, |at| text[at..].find('\n').map_or(0, |end| at + end));
    text[behind..].trim().to_owned()
}

/// Blocks of a script with an include of their own, which is known in that block alone.
fn blocks_with_includes(script: &str) -> usize {
    let own = files(|path| !is_include(path) && name(path) == script);
    let text = fs::read_to_string(&own[0]).expect("a script");
    let is_indented = |line: &&str| line.starts_with(' ') && line.trim_start().starts_with("-- @include ");
    text.lines().filter(is_indented).count()
}

#[test]
fn an_include_is_joined_once_or_once_in_a_block_and_none_is_left_to_be_joined() {
    for script in scripts() {
        assert!(!script.source.contains("@include"), "{}", script.name);
        let most = blocks_with_includes(script.name).max(1);
        for include in files(is_include) {
            let text = fs::read_to_string(&include).expect("an include");
            let count = script.source.matches(&text_without_includes(&text)).count();
            assert!(count <= most, "{} has {} {count} times", script.name, include.display());
        }
    }
}

/// KEYS and ARGV get names in the first block of a file, up to its first blank line, so that later code does not count them.
#[test]
fn keys_and_arguments_are_named_in_the_first_block_of_a_file_and_nowhere_else() {
    let mut naming = 0;
    for file in files(|_| true) {
        let text = fs::read_to_string(&file).expect("a script");
        let mut lines = text.lines().skip_while(|line| code(line).is_empty());
        naming += lines
            .by_ref()
            .take_while(|line| !line.is_empty())
            .filter(|line| line.contains("KEYS["))
            .count();
        for line in lines.map(code) {
            let mut words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
            assert!(
                !words.any(|word| ["KEYS", "ARGV"].contains(&word)),
                "{}: {line}",
                name(&file)
            );
        }
    }
    assert!(naming > scripts().count() / 2, "the first blocks are found");
}

/// The places that may make a request of the store, or take one apart: the state, the connections, the port that speaks
/// Upstash's REST API, and the store that a test plays.
const MAKES_REQUESTS: [&str; 4] = [
    "/coord/src/state/",
    "/coord/src/store/",
    "/upstash_listen/",
    "/coord/src/events/fake.rs",
];

/// Whether a line of code makes or takes apart a request of the store.
fn names_a_request(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["Request::command(", "Request::Command", "Request::Script"]
        .iter()
        .any(|name| code.contains(name))
}

#[test]
fn no_request_of_the_store_is_made_outside_of_the_state() {
    let (mut inside, mut outside) = (0, Vec::new());
    for file in ["src", "../../cli/src"]
        .iter()
        .flat_map(|folder| files_in(folder, "rs"))
    {
        let text = fs::read_to_string(&file).expect("a file of code");
        let count = text.lines().filter(|line| names_a_request(line)).count();
        let path = file.to_string_lossy().replace('\\', "/");
        if MAKES_REQUESTS.iter().any(|place| path.contains(place)) {
            inside += count;
        } else if count > 0 {
            outside.push(path);
        }
    }
    assert!(
        outside.is_empty(),
        "a typed call of the state is missing for {outside:#?}"
    );
    assert!(inside > 20, "the requests of the state are found");
}
