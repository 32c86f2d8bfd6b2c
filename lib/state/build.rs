//! Makes of the Lua files of the state one library of functions, and for each function a script with its modules.
//!
//! `src/AGGREGATE/NAME.lua` returns a function that is registered as NAME; `src/AGGREGATE/modules/NAME.lua`, and
//! `src/modules/NAME.lua`, return a table of functions. Each begins with the modules that it uses, a line
//! `local Alias = require('AGGREGATE/NAME')` for each, or `require('NAME')`. No module uses itself through others. A module
//! `AGGREGATE/seams` puts what its aggregate adds into seams (`src/seams/modules`), and is part of each script with one of these.

#[path = "build/modules.rs"]
mod modules;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use modules::{Source, in_order};

const STATE: &str = "src";
/// The folders of extensions, by the feature of the build that has them. Without the feature, the seams stay empty.
const EXTENSIONS: [(&str, &[&str]); 2] = [
    ("CARGO_FEATURE_INTENTS", &["intents", "ledger"]),
    (
        "CARGO_FEATURE_TEAMS",
        &["departures", "mail", "messages", "tasks", "teams"],
    ),
];
/// Text that a server gets before the library.
const HEAD: &str = "../store/src/library.lua";
/// Digits of the digest in the name of the library.
const DIGITS: usize = 16;

fn main() {
    println!("cargo::rerun-if-changed={STATE}");
    println!("cargo::rerun-if-changed={HEAD}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let scripts = out.join("scripts");
    fs::create_dir_all(&scripts).expect("the folder can be written");
    let (mut modules, mut functions, mut lists) = (BTreeMap::new(), BTreeMap::new(), String::new());
    add_modules(&mut modules, "", Path::new(STATE));
    for aggregate in entries(Path::new(STATE)).into_iter().filter(|path| path.is_dir()) {
        let name = file_name(&aggregate);
        if is_left_out(&name) {
            continue;
        }
        add_modules(&mut modules, &format!("{name}/"), &aggregate);
        let files = lua_files(&aggregate);
        if !files.is_empty() && name != "modules" {
            lists += &format!("{name}::scripts::SCRIPTS, ");
            for path in files {
                let other = functions.insert(file_name(&path), read(&path));
                assert!(other.is_none(), "{}: another function has this name", path.display());
            }
        }
    }
    let modules = modules;
    let mut library = String::from(PRELUDE);
    let all: Vec<&str> = modules.keys().map(String::as_str).collect();
    for name in in_order(&modules, all) {
        library += &module(name, &modules[name]);
    }
    for (name, function) in &functions {
        library += &format!("register('{name}', (function()\n{}end)())\n", function.code);
        let mut script = String::from(PRELUDE);
        for name in in_order(&modules, function.requires.iter().map(String::as_str)) {
            script += &module(name, &modules[name]);
        }
        script += &format!("return (function()\n{}end)()(KEYS, ARGV)\n", function.code);
        fs::write(scripts.join(format!("{name}.lua")), script).expect("the folder can be written");
    }
    fs::write(out.join("scripts.rs"), format!("[{lists}]")).expect("the folder can be written");
    let mut digest = sha1_smol::Sha1::from(fs::read(HEAD).expect("the head can be read"));
    digest.update(library.as_bytes());
    fs::write(out.join("library.digest"), &digest.hexdigest()[..DIGITS]).expect("the folder can be written");
    fs::write(out.join("library.lua"), library).expect("the folder can be written");
}

/// Whether this build does not have the extension that the folder is of.
fn is_left_out(folder: &str) -> bool {
    let of_folder = EXTENSIONS.iter().find(|(_, folders)| folders.contains(&folder));
    of_folder.is_some_and(|(feature, _)| env::var_os(feature).is_none())
}

/// The prelude by which modules find each other.
const PRELUDE: &str = "local modules = {}\nlocal function require(name)\nreturn modules[name]\nend\n";

fn module(name: &str, source: &Source) -> String {
    format!("modules['{name}'] = (function()\n{}end)()\n", source.code)
}

fn add_modules(modules: &mut BTreeMap<String, Source>, prefix: &str, folder: &Path) {
    let folder = folder.join("modules");
    if folder.is_dir() {
        for path in lua_files(&folder) {
            modules.insert(format!("{prefix}{}", file_name(&path)), read(&path));
        }
    }
}

fn read(path: &Path) -> Source {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Source::of(&path.display().to_string(), &text)
}

/// The files of a folder, sorted by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .collect();
    paths.sort();
    paths
}

fn lua_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths = entries(folder);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
    paths
}

/// The name without the extension.
fn file_name(path: &Path) -> String {
    let name = path.file_stem().and_then(|name| name.to_str());
    name.expect("a name").to_owned()
}
