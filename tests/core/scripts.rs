//! The Lua files of the state of this build: each is a script that is declared, or a module of one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use coord_state::scripts;

/// The crates of this build that have Lua files.
const CRATES: &[&str] = &[
    "state",
    #[cfg(feature = "intents")]
    "intents_state",
    #[cfg(feature = "teams")]
    "teams_state",
];

/// The Lua files of the state: functions in the folders of aggregates, and modules in the folders `modules`.
fn files(is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = CRATES.iter().map(|name| lib.join(name).join("src")).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == "lua") && is_wanted(&path) {
                files.push(path);
            }
        }
    }
    files
}

fn is_module(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("modules"))
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|name| name.to_str()).expect("a name")
}

#[test]
fn every_file_is_a_script_that_is_declared_or_a_module_of_one() {
    coord_extensions::register_state();
    let declared: BTreeSet<&str> = scripts().map(|script| script.name).collect();
    let files_of_scripts = files(|path| !is_module(path));
    assert_eq!(declared, files_of_scripts.iter().map(|path| name(path)).collect());
    assert_eq!(declared.len(), scripts().count(), "a script is declared once");
    for module in files(is_module) {
        let folder = module.parent().and_then(Path::parent).expect("a folder");
        let id = match folder.ends_with("src") {
            true => name(&module).to_owned(),
            false => format!("{}/{}", name(folder), name(&module)),
        };
        let defines = format!("modules['{id}'] =");
        let users = scripts().filter(|script| script.source().contains(&defines));
        assert!(users.count() > 0, "{id} is of no script");
    }
}

/// The outcomes that a script answers with more than their time, other than by `Answer.reply()`: `'BUSY',call.now,`.
fn replies_by_place(lua: &str) -> Vec<String> {
    const TIME: &str = "',call.now,";
    let code: String = lua
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"))
        .collect();
    let code: String = code.split_whitespace().collect();
    let ends = code.match_indices(TIME).map(|(end, _)| &code[..end]);
    let outcomes = ends.filter_map(|before| before.rsplit_once("{'").map(|(_, outcome)| outcome));
    let is_outcome = |outcome: &&str| outcome.chars().all(|one| one.is_ascii_uppercase() || one == '_');
    outcomes.filter(is_outcome).map(str::to_owned).collect()
}

#[test]
fn every_script_answers_by_name() {
    let by_place =
        "-- { 'FULL', call.now, part }\nreturn {\n  'BUSY',\n  call.now,\n  until }\nreturn { 'DONE', call.now }";
    assert_eq!(replies_by_place(by_place), ["BUSY"]);
    for file in files(|_| true) {
        let text = fs::read_to_string(&file).expect("a file of code");
        assert_eq!(replies_by_place(&text), Vec::<String>::new(), "{}", file.display());
    }
}
