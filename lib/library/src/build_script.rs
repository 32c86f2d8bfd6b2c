//! The part of a crate, which its build script makes from its files.
//!
//! `src/AGGREGATE/NAME.lua` returns a function that is registered as NAME; `src/AGGREGATE/modules/NAME.lua` and
//! `src/modules/NAME.lua` return a table of functions. Each begins with the modules that it uses, one line
//! `local Alias = require('AGGREGATE/NAME')` or `require('NAME')` for each. No module uses itself through others. A
//! module `AGGREGATE/seams` puts functions of its aggregate into seams (`seams/NAME`), and is part of each script with
//! such a seam.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::source::{Source, in_order};

type Texts = BTreeMap<String, String>;

/// Writes two files into a build script's output folder: `part.rs`, the [`Part`](super::Part) of the Lua files below
/// `src`, and `scripts.rs`, the lists of scripts of its aggregates. The Lua files may also require modules of
/// `other_folders`.
///
/// # Panics
/// When a file cannot be read or written, requires a module that does not exist, requires itself through others, or has
/// the name of another file.
pub fn write_part(other_folders: &[&str]) {
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
            let duplicate = functions.insert(file_name(&path), read(&path));
            assert!(
                duplicate.is_none(),
                "{}: another function has this name",
                path.display()
            );
        }
    }
    let mut other_modules = Texts::new();
    for folder in other_folders {
        println!("cargo::rerun-if-changed={folder}");
        read_modules(&mut other_modules, "", Path::new(folder));
        for aggregate in aggregates(folder) {
            read_modules(&mut other_modules, &format!("{}/", file_name(&aggregate)), &aggregate);
        }
    }
    println!("cargo::rerun-if-changed=src");
    let (modules, functions) = (sources(&modules), sources(&functions));
    check_requires(&modules, &functions, sources(&other_modules));
    let part = format!(
        "Part {{ modules: {}, functions: {} }}",
        rust_code(&modules),
        rust_code(&functions)
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    fs::write(out.join("part.rs"), part).expect("the folder can be written");
    fs::write(out.join("scripts.rs"), format!("&[{lists}]")).expect("the folder can be written");
}

/// Panics unless every file can come after the modules that it requires.
fn check_requires<'s>(
    modules: &BTreeMap<&'s str, Source<'s>>,
    functions: &BTreeMap<&'s str, Source<'s>>,
    other_modules: BTreeMap<&'s str, Source<'s>>,
) {
    let mut all = other_modules;
    for (name, module) in modules {
        let duplicate = all.insert(name, module.clone());
        assert!(duplicate.is_none(), "{name}: another module has this name");
    }
    in_order(&all, modules.keys().copied());
    for function in functions.values() {
        in_order(&all, function.requires.iter().copied());
    }
}

fn sources(texts: &Texts) -> BTreeMap<&str, Source<'_>> {
    texts
        .iter()
        .map(|(name, text)| (name.as_str(), Source::parse(name, text)))
        .collect()
}

fn rust_code(sources: &BTreeMap<&str, Source<'_>>) -> String {
    let rows = sources.iter().map(|(name, source)| {
        let Source { requires, code } = source;
        format!("({name:?}, Source::new(&{requires:?}, {code:?})),\n")
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

/// The folders in `folder`, except `modules`, sorted by name.
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
