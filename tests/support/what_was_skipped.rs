//! The last words of `cargo test`: how many tests were skipped, and why. It is not a test, because libtest would hide its output.
//! Cargo runs the tests of packages in the order of their names, and this package's name is the last of those that may skip one.

use std::collections::BTreeMap;
use std::path::Path;

use coord_test_support::skipping;
use toml::{Table, Value};

/// Fails where the tests of a package with a later name may skip one, or this package has another test.
fn assert_last() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = |folder: &str| -> Table {
        let text = std::fs::read_to_string(root.join(folder).join("Cargo.toml")).expect("a manifest");
        text.parse().expect("TOML")
    };
    let members = manifest(".");
    let members = members["workspace"]["members"].as_array().expect("packages");
    assert!(members.len() > 1, "there are other packages");
    for folder in members.iter().filter_map(Value::as_str) {
        let package = manifest(folder);
        let name = package["package"]["name"].as_str().expect("a name");
        if name == env!("CARGO_PKG_NAME") {
            assert_eq!(
                package["test"].as_array().map(Vec::len),
                Some(1),
                "{name} has another test"
            );
        } else {
            let uses = |table| {
                package
                    .get(table)
                    .is_some_and(|table| table.get(env!("CARGO_PKG_NAME")).is_some())
            };
            let is_library_tested =
                package.get("lib").and_then(|library| library.get("test")?.as_bool()) != Some(false);
            let may_skip = (uses("dependencies") || uses("dev-dependencies"))
                && (is_library_tested || package.contains_key("test"));
            assert!(
                name < env!("CARGO_PKG_NAME") || !may_skip,
                "the tests of {name} run after the count of what was skipped"
            );
        }
    }
}

fn main() {
    assert_last();
    let notes = skipping::notes();
    let lines = std::fs::read_to_string(&notes).unwrap_or_default();
    let _ = std::fs::remove_file(notes);
    // For repeating them: a line for each, with binary, test and reason.
    if let Some(list) = std::env::var_os("COORD_TEST_SKIPPED") {
        std::fs::write(list, &lines).expect("a list of what was skipped");
    }
    let mut reasons: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for line in lines.lines() {
        if let [binary, _, why] = line.split('\t').collect::<Vec<_>>()[..] {
            *reasons.entry(why).or_default().entry(binary).or_default() += 1;
        }
    }
    println!();
    for (why, binaries) in &reasons {
        let binaries: Vec<String> = binaries
            .iter()
            .map(|(name, count)| format!("{count} of {name}"))
            .collect();
        println!("SKIPPED: {}: {why}", binaries.join(", "));
    }
    let count: usize = reasons.values().flat_map(BTreeMap::values).sum();
    println!(
        "{count} tests were skipped{}",
        if count == 0 {
            ""
        } else {
            "; COORD_TEST_REQUIRE=all fails them instead"
        }
    );
}
