//! The part of a crate, made of its files by its build script.
//!
//! `src/AGGREGATE/NAME.lua` returns a function that is registered as NAME; `src/AGGREGATE/modules/NAME.lua`, and
//! `src/modules/NAME.lua`, return a table of functions. Each begins with the modules that it uses, a line
//! `local Alias = require('AGGREGATE/NAME')` for each, or `require('NAME')`. No module uses itself through others. A module
//! `AGGREGATE/seams` puts what its aggregate adds into seams (`seams/NAME`), and is part of each script with one of these.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::source::{Source, in_order};

type Texts = BTreeMap<String, String>;

/// Writes into the folder of a build script's results `part.rs`, the [`Part`](super::Part) of the Lua files below `src`, and
/// `scripts.rs`, the lists of scripts of its aggregates. Its files may require modules of the folders `below` too.
///
/// # Panics
/// When a file cannot be read or written, requires what is not there or requires itself through others, or has the name of another.
pub fn write_part(below: &[&str]) {
    let mut modules = Texts::new();
    let mut functions = Texts::new();
    let mut lists = String::new();
    read_modules(&mut modules, "", Path::new("src"));
    for aggregate in aggregates("src") {
        let name = file_name(&aggregate);
        read_modules(&mut modules, &format!("{name}/"), &aggregate);
        let files = lua_files(&aggregate);
        if !files.is_empty() {
            lists += &format!("{name}::scripts::SCRIPTS, ");
        }
        for path in files {
            let other = functions.insert(file_name(&path), read(&path));
            assert!(other.is_none(), "{}: another function has this name", path.display());
        }
    }
    let mut known = Texts::new();
    for folder in below {
        println!("cargo::rerun-if-changed={folder}");
        read_modules(&mut known, "", Path::new(folder));
        for aggregate in aggregates(folder) {
            read_modules(&mut known, &format!("{}/", file_name(&aggregate)), &aggregate);
        }
    }
    println!("cargo::rerun-if-changed=src");
    let (modules, functions, known) = (sources(&modules), sources(&functions), sources(&known));
    check(&modules, &functions, known);
    let part = format!(
        "Part {{ modules: {}, functions: {} }}",
        code(&modules),
        code(&functions)
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    fs::write(out.join("part.rs"), part).expect("the folder can be written");
    fs::write(out.join("scripts.rs"), format!("&[{lists}]")).expect("the folder can be written");
}

/// Panics unless every file can be put behind those that it requires.
fn check<'s>(
    modules: &BTreeMap<&'s str, Source<'s>>,
    functions: &BTreeMap<&'s str, Source<'s>>,
    known: BTreeMap<&'s str, Source<'s>>,
) {
    let mut all = known;
    for (name, module) in modules {
        let other = all.insert(name, module.clone());
        assert!(other.is_none(), "{name}: another module has this name");
    }
    in_order(&all, modules.keys().copied());
    for function in functions.values() {
        in_order(&all, function.requires.iter().copied());
    }
}

fn sources(texts: &Texts) -> BTreeMap<&str, Source<'_>> {
    let source = |(name, text)| (name, Source::of(name, text));
    texts
        .iter()
        .map(|(name, text)| source((name.as_str(), text.as_str())))
        .collect()
}

/// The sources as code of Rust.
fn code(sources: &BTreeMap<&str, Source<'_>>) -> String {
    let rows = sources.iter().map(|(name, source)| {
        let Source { requires, code } = source;
        format!("({name:?}, Source::known(&{requires:?}, {code:?})),\n")
    });
    format!("&[{}]", rows.collect::<String>())
}

fn read_modules(modules: &mut Texts, prefix: &str, folder: &Path) {
    let folder = folder.join("modules");
    if folder.is_dir() {
        for path in lua_files(&folder) {
            modules.insert(format!("{prefix}{}", file_name(&path)), read(&path));
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders of a folder but for that of its modules, sorted by name.
fn aggregates(folder: &str) -> impl Iterator<Item = PathBuf> {
    let folders = entries(Path::new(folder)).into_iter();
    folders.filter(|path| path.is_dir() && !path.ends_with("modules"))
}

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
