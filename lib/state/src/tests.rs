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

/// The Lua files of the state: functions in the folders of aggregates, and modules in the folders `modules`.
fn files(is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = files_in("src", "lua");
    files.retain(|path| is_wanted(path) && !is_left_out(path));
    files
}

/// Whether this build does not have the extension that the file is of.
fn is_left_out(path: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let within = path.strip_prefix(source).unwrap_or(path);
    let is_in = |folder: &&str| within.iter().any(|part| part == *folder);
    let has_intents = cfg!(feature = "intents") || !["intents", "ledger"].iter().any(is_in);
    let of_teams = ["departures", "mail", "messages", "tasks", "teams"];
    let has_teams = cfg!(feature = "teams") || !of_teams.iter().any(is_in);
    !has_intents || !has_teams
}

fn is_module(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("modules"))
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|name| name.to_str()).expect("a name")
}

#[test]
fn every_file_is_a_script_that_is_declared_or_a_module_of_one() {
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
        let users = scripts().filter(|script| script.source.contains(&defines));
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

/// The places that may make a request of the store, or take one apart: the state, the connections, the embedded store, the commands
/// that export and wipe a store, and the store that a test plays.
const MAKES_REQUESTS: [&str; 5] = [
    "/../state/src/",
    "/../store/src/",
    "/../embedded/",
    "/cli/src/commands/store/",
    "/../events/src/fake.rs",
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
    for file in ["..", "../../cli/src"].iter().flat_map(|folder| files_in(folder, "rs")) {
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
