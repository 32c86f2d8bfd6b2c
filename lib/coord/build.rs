//! Joins the Lua scripts of the state with their includes, and lists the folders that have scripts.
//!
//! A line `-- @include NAME` stands for `includes/NAME.lua`, and `-- @include AGGREGATE/NAME` for `AGGREGATE/includes/NAME.lua`,
//! which may include others; each is inserted once, where it first occurs. What an indented line includes is of the block around it
//! alone: a block has one such line, and what it includes is inserted anew elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

const STATE: &str = "src/state";

fn main() {
    println!("cargo::rerun-if-changed={STATE}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let joined = out.join("scripts");
    fs::create_dir_all(&joined).expect("the folder can be written");
    let mut lists = String::new();
    let mut names = BTreeSet::new();
    for aggregate in entries(Path::new(STATE)) {
        let has_scripts = aggregate.is_dir() && !aggregate.ends_with("includes");
        let scripts = if has_scripts { lua_files(&aggregate) } else { Vec::new() };
        for path in &scripts {
            let name = path.file_name().expect("a name").to_owned();
            fs::write(joined.join(&name), join(path, &mut BTreeSet::new())).expect("the folder can be written");
            assert!(names.insert(name), "{}: another script has this name", path.display());
        }
        if !scripts.is_empty() {
            let name = aggregate.file_name().and_then(|name| name.to_str()).expect("a name");
            lists += &format!("{name}::scripts::SCRIPTS, ");
        }
    }
    fs::write(out.join("scripts.rs"), format!("[{lists}]")).expect("the folder can be written");
}

/// What is in a folder, in the order of names.
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

fn join(path: &Path, known: &mut BTreeSet<String>) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        match line.trim_start().strip_prefix("-- @include ") {
            Some(name) if known.contains(name) => {}
            Some(name) => {
                let mut of_block = known.clone();
                let known = match line.starts_with(' ') {
                    true => &mut of_block,
                    false => &mut *known,
                };
                known.insert(name.to_owned());
                joined += &join(&include(name), known);
            }
            None => {
                joined += line;
                joined.push('\n');
            }
        }
    }
    joined
}

fn include(name: &str) -> PathBuf {
    let (aggregate, name) = name.split_once('/').unwrap_or(("", name));
    Path::new(STATE)
        .join(aggregate)
        .join("includes")
        .join(format!("{name}.lua"))
}
