//! Joins the Lua scripts of the state with their includes, lists the folders that have scripts, and makes all scripts functions of
//! one library: a text that calls `register(NAME, run)` for each, where `run(KEYS, ARGV)` returns the reply.
//!
//! A line `-- @include NAME` stands for `includes/NAME.lua`, and `-- @include AGGREGATE/NAME` for `AGGREGATE/includes/NAME.lua`,
//! which may include others; each is inserted once, where it first occurs. What an indented line includes is of the block around it
//! alone: a block has one such line, and what it includes is inserted anew elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

const STATE: &str = "src/state";
const LIBRARY: &str = "src/store/library.lua";
/// The first lines of the library. KEYS and ARGV are its locals, because some scripts have as many locals as a function may have.
const HEAD: &str = "local KEYS, ARGV
local function script(name, run)
register(name, function(keys, arguments)
KEYS, ARGV = keys, arguments
return run()
end)
end
";
/// Digits of the digest in the name of the library.
const DIGITS: usize = 16;

fn main() {
    println!("cargo::rerun-if-changed={STATE}");
    println!("cargo::rerun-if-changed={LIBRARY}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let joined = out.join("scripts");
    fs::create_dir_all(&joined).expect("the folder can be written");
    let (mut lists, mut library) = (String::new(), HEAD.to_owned());
    let mut names = BTreeSet::new();
    for aggregate in entries(Path::new(STATE)) {
        let has_scripts = aggregate.is_dir() && !aggregate.ends_with("includes");
        let scripts = if has_scripts { lua_files(&aggregate) } else { Vec::new() };
        for path in &scripts {
            let name = path.file_name().expect("a name").to_owned();
            let text = join(path, &mut BTreeSet::new());
            let function = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            library += &format!("script('{function}', function()\n{}end)\n", without_comments(&text));
            fs::write(joined.join(&name), text).expect("the folder can be written");
            assert!(names.insert(name), "{}: another script has this name", path.display());
        }
        if !scripts.is_empty() {
            let name = aggregate.file_name().and_then(|name| name.to_str()).expect("a name");
            lists += &format!("{name}::scripts::SCRIPTS, ");
        }
    }
    fs::write(out.join("scripts.rs"), format!("[{lists}]")).expect("the folder can be written");
    let mut digest = sha1_smol::Sha1::from(fs::read(LIBRARY).expect("the library can be read"));
    digest.update(library.as_bytes());
    let digest = &digest.hexdigest()[..DIGITS];
    fs::write(out.join("library.digest"), digest).expect("the folder can be written");
    fs::write(out.join("library.lua"), library).expect("the folder can be written");
}

/// `text` without indentation, empty lines and lines of comments: the store keeps it.
fn without_comments(text: &str) -> String {
    assert!(!text.contains("[["), "lines of a long string cannot be told from code");
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("--"));
    code.flat_map(|line| [line, "\n"]).collect()
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
