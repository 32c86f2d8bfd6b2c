//! Joins the Lua scripts with their includes. A line `-- @include NAME` stands for `scripts/includes/NAME.lua`, which may
//! include others; each is inserted once, where it first occurs.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

const SCRIPTS: &str = "scripts";

fn main() {
    println!("cargo::rerun-if-changed={SCRIPTS}");
    let out = env::var_os("OUT_DIR").expect("cargo names the folder");
    let joined = Path::new(&out).join("scripts");
    fs::create_dir_all(&joined).expect("the folder can be written");
    for file in fs::read_dir(SCRIPTS).expect("the folder of the scripts") {
        let path = file.expect("an entry of the folder").path();
        if path.is_file() {
            let text = join(&path, &mut BTreeSet::new());
            fs::write(joined.join(path.file_name().expect("a name")), text).expect("the folder can be written");
        }
    }
}

fn join(path: &Path, known: &mut BTreeSet<String>) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        match line.trim_start().strip_prefix("-- @include ") {
            Some(name) if known.insert(name.to_owned()) => {
                joined += &join(&Path::new(SCRIPTS).join("includes").join(format!("{name}.lua")), known);
            }
            Some(_) => {}
            None => {
                joined += line;
                joined.push('\n');
            }
        }
    }
    joined
}
