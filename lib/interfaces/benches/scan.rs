//! Speed of the scanners: `cargo bench -p coord-interfaces --bench scan -- FOLDER...`
//!
//! Reads every file of a known language under the folders into memory, scans them all a few times on one core, and
//! prints the best megabytes (10^6 bytes) a second for each language: of the scan, and of reading interfaces. Without a folder
//! it scans generated files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use coord_interfaces::interface;
use coord_scan::{Language, scan};

const ROUNDS: usize = 9;

type Files = BTreeMap<&'static str, Vec<(Language, Vec<u8>)>>;

fn main() -> io::Result<()> {
    // `cargo bench` itself passes `--bench`.
    let folders: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .map(PathBuf::from)
        .collect();
    let mut files = Files::new();
    for folder in &folders {
        read_folder(folder, &mut files)?;
    }
    if folders.is_empty() {
        generate(&mut files);
    }
    println!(
        "{:<12} {:>8} {:>10} {:>10} {:>8} {:>10} {:>8}",
        "language", "files", "MB", "imports", "MB/s", "names", "MB/s"
    );
    for (name, texts) in &files {
        report(name, texts);
    }
    Ok(())
}

fn report(name: &str, texts: &[(Language, Vec<u8>)]) {
    let megabytes = texts.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / 1e6;
    let (imports, scanning) = best_of(|| texts.iter().map(|(language, text)| scan(*language, text).len()).sum());
    let names =
        |(language, text): &(Language, Vec<u8>)| interface(*language, text).map_or(0, |found| found.names.len());
    let (names, reading) = best_of(|| texts.iter().map(names).sum());
    println!(
        "{name:<12} {:>8} {megabytes:>10.1} {imports:>10} {:>8.0} {names:>10} {:>8.0}",
        texts.len(),
        megabytes / scanning,
        megabytes / reading
    );
}

/// The count of `run`, and its shortest time in seconds.
fn best_of(run: impl Fn() -> usize) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let count = run();
        best = (count, best.1.min(start.elapsed().as_secs_f64()));
    }
    best
}

fn read_folder(folder: &Path, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            read_folder(&entry.path(), files)?;
        } else if kind.is_file()
            && let Some(language) = Language::of_path(&entry.path().to_string_lossy())
        {
            files
                .entry(language.name())
                .or_default()
                .push((language, fs::read(entry.path())?));
        }
    }
    Ok(())
}

/// A thousand files for each of three languages: a few imports, then functions, comments, strings and elements.
fn generate(files: &mut Files) {
    let script = "/**\n * Reads the value, or throws when there isn't one.\n * @param {string} key\n */\n\
        export function read(key, options = {}) {\n  const found = options.map?.get(key.replace(/['\"/]/g, '_'));\n\
        \x20 if (found === undefined) throw new Error(`no ${key} in ${options.name ?? 'map'}`);\n  return found / 2;\n}\n";
    let element = "export const Row = ({ name, children }) => (\n  <li className=\"row\" onClick={() => open(name)}>\n\
        \x20   It's {name}: {children}\n  </li>\n);\n";
    let python = "def read(key, *, default=None):\n    \"\"\"Reads the value, or raises.\n\n    >>> read('a')\n    \"\"\"\n\
        \x20   # It's looked up twice.\n    value = TABLE.get(key, default)\n    if value is None:\n\
        \x20       raise KeyError(f\"no {key!r} in {TABLE['name']:>10}\")\n    return value\n\n";
    for number in 0..1000 {
        let modern = format!("import a, {{ b }} from './a{number}.js';\nimport type {{ C }} from '../c';\n");
        let blocks = 10 + number % 40;
        let typescript = modern.clone() + &script.repeat(blocks) + &element.repeat(blocks);
        let javascript = "const a = require('./a');\n".to_owned() + &script.repeat(blocks);
        let python = format!("import os, sys\nfrom . import a{number}\n") + &python.repeat(blocks);
        for (language, text) in [
            (Language::TypeScriptJsx, typescript),
            (Language::JavaScript, javascript),
            (Language::Python, python),
        ] {
            files
                .entry(language.name())
                .or_default()
                .push((language, text.into_bytes()));
        }
    }
}
