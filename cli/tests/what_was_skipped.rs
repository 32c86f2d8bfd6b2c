//! The last words of `cargo test`: how many tests were skipped, and why. No test itself, because libtest would hide what it prints.
//! Cargo runs the tests of a package in the order of their names, this package last.

#[path = "fixtures/skipping.rs"]
#[expect(dead_code, reason = "nothing is skipped here")]
mod skipping;

use std::collections::BTreeMap;

fn main() {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(tests).expect("the tests") {
        let name = entry.expect("a test").file_name();
        assert!(
            *name.to_string_lossy() <= *"what_was_skipped.rs",
            "{name:?} runs after the count of what was skipped"
        );
    }
    let notes = skipping::notes();
    let lines = std::fs::read_to_string(&notes).unwrap_or_default();
    let _ = std::fs::remove_file(notes);
    let mut reasons: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (binary, why) in lines.lines().filter_map(|line| line.split_once('\t')) {
        *reasons.entry(why).or_default().entry(binary).or_default() += 1;
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
