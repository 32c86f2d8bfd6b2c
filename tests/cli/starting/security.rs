//! The table of SECURITY.md, "Who can do what to whom": each test that it names is there, and each attack of `tests/security` is named.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::starting::references::ROOT;
use crate::starting::rules::files_below;

/// The names of the tests in the file `path` or in the files below it, each as `FILE::NAME`.
fn tests_below(path: &str) -> BTreeSet<String> {
    let whole = Path::new(ROOT).join(path);
    let files = match whole.is_dir() {
        true => files_below(path, &["rs"]),
        false => vec![whole],
    };
    let tests = files.iter().flat_map(|path| {
        let shown = path.strip_prefix(ROOT).unwrap().display();
        let names = tests_in(&fs::read_to_string(path).unwrap()).into_iter();
        names.map(move |name| format!("{shown}::{name}"))
    });
    tests.collect()
}

/// The functions behind `#[test]` or `#[tokio::test]`, whatever other attributes they have; those of a table by `hold!`.
fn tests_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let function = line.trim_start_matches("async ").strip_prefix("fn ");
        match function {
            _ if line.starts_with("#[test]") || line.starts_with("#[tokio::test") => is_test = true,
            Some(function) if is_test && !line.contains('$') => {
                names.extend(function.split('(').next().map(str::to_owned));
                is_test = false;
            }
            Some(_) => is_test = false,
            None => {}
        }
    }
    let table = text
        .split("\nhold! {\n")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next());
    names.extend(table.unwrap_or_default().split_whitespace().map(str::to_owned));
    names
}

/// The tests that the table names: a file or a folder stands for all of its tests.
fn named() -> Vec<String> {
    let text = fs::read_to_string(Path::new(ROOT).join("SECURITY.md")).unwrap();
    let section = text.split("\n## Who can do what to whom\n").nth(1).expect("the table");
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert!(rows.len() >= 6, "{rows:#?}");
    let mut named = Vec::new();
    for row in rows {
        let held = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let tests: Vec<&str> = held.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "nothing holds: {row}");
        named.extend(tests.into_iter().map(str::to_owned));
    }
    named
}

#[test]
fn the_table_of_security_names_tests_that_exist_and_every_attack() {
    let mut held = BTreeSet::new();
    for name in named() {
        let found = tests_below(name.split("::").next().unwrap());
        match name.contains("::") {
            true => {
                assert!(found.contains(&name), "{name} is gone");
                held.insert(name);
            }
            false => {
                assert!(!found.is_empty(), "{name} has no test");
                held.extend(found);
            }
        }
    }
    let attacks = tests_below("tests/security");
    let missing: Vec<&String> = attacks.difference(&held).collect();
    assert!(missing.is_empty(), "in no row of the table: {missing:#?}");
    assert!(attacks.len() > 25, "{attacks:#?}");
}

#[test]
fn tests_are_found_by_their_attributes_and_in_tables() {
    let text = "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test]\n#[ignore]\nasync fn three() {}\nhold! {\n    four\n    five\n}\n";
    assert_eq!(tests_in(text), ["one", "three", "four", "five"]);
}
