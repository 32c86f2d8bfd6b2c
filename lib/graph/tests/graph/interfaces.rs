//! The interface of each file in the records of a graph.

use std::collections::HashMap;
use std::sync::Arc;

use coord_graph::{Limits, Previous, Record};
use coord_interfaces::{InterfaceComparison, InterfaceUnknown, interface};
use coord_scan::Language;

use super::repository::{Repository, repository, snapshot_within};

const WITH: Limits = Limits {
    max_file_bytes: 4 << 20,
    max_files: 1_000,
    max_bytes: 1 << 30,
    max_imports: 1_000_000,
    minified_over_bytes: 1 << 20,
    interfaces: true,
};
const WITHOUT: Limits = Limits {
    interfaces: false,
    ..WITH
};

fn shop() -> Repository {
    repository(&[
        ("src/db.ts", "export function query(text: string): void {}\n"),
        ("src/app.py", "def run(): pass\n"),
        ("src/broken.ts", "export const a = {\n"),
        ("README.md", "# Shop\n"),
    ])
}

#[test]
fn records_have_interfaces_where_a_build_reads_them() {
    let (with, _) = snapshot_within(WITH, Previous::Nothing, &shop());
    let (without, _) = snapshot_within(WITHOUT, Previous::Nothing, &shop());
    let expected = interface(Language::TypeScript, shop()["src/db.ts"].as_bytes());
    assert_eq!(with.interface("src/db.ts"), Some(&expected));
    assert_eq!(
        with.interface("src/broken.ts"),
        Some(&Err(InterfaceUnknown::NotUnderstood))
    );
    assert_eq!(with.interface("README.md"), Some(&Err(InterfaceUnknown::Language)));
    assert_eq!(with.interface("src/gone.ts"), None);
    assert_eq!(without.interface("src/db.ts"), None);
    assert_eq!(without.records().count(), with.records().count());
}

#[test]
fn stored_interfaces_are_used_and_missing_ones_are_read() {
    let stored = |limits: Limits| -> HashMap<String, Record> {
        let (snapshot, _) = snapshot_within(limits, Previous::Nothing, &shop());
        let records = snapshot.records();
        records
            .map(|(path, record)| (path.to_owned(), Record::decode(&record.encode()).expect("a record")))
            .collect()
    };
    let (with, without) = (stored(WITH), stored(WITHOUT));
    let (restored, read) = snapshot_within(WITH, Previous::Stored(with.clone()), &shop());
    assert_eq!(read, 0);
    assert!(restored.interface("src/db.ts").is_some_and(Result::is_ok));
    // A build that reads none keeps those that are there.
    let (kept, read) = snapshot_within(WITHOUT, Previous::Stored(with), &shop());
    assert_eq!(read, 0);
    assert!(kept.interface("src/db.ts").is_some());
    let (added, read) = snapshot_within(WITH, Previous::Stored(without), &shop());
    assert_eq!(read, 3);
    assert!(added.interface("src/db.ts").is_some_and(Result::is_ok));
}

#[test]
fn a_change_reads_one_file_and_names_the_differing_exports() {
    let (before, _) = snapshot_within(WITH, Previous::Nothing, &shop());
    let mut files = shop();
    let changed = "export function query(text: string, pool: Pool): void {}\nexport class Pool {}\n";
    files.insert("src/db.ts".to_owned(), changed.to_owned());
    let (after, read) = snapshot_within(WITH, Previous::Snapshot(Arc::clone(&before)), &files);
    assert_eq!(read, 1);
    let of = |snapshot: &coord_graph::Snapshot| snapshot.interface("src/db.ts").cloned().expect("an interface");
    let InterfaceComparison::Changed(changes) = InterfaceComparison::between(&of(&before), &of(&after)) else {
        panic!("nothing changed");
    };
    assert_eq!(changes.to_string(), "`query` changed, `Pool` is new");
}

#[test]
fn an_interface_of_a_large_or_binary_file_has_its_reason() {
    let files = repository(&[("a.ts", "export const a = 1;\n"), ("b.ts", "\0\0\0\u{1}\0\0\0")]);
    let limits = Limits {
        max_file_bytes: 10,
        ..WITH
    };
    let (snapshot, _) = snapshot_within(limits, Previous::Nothing, &files);
    assert_eq!(snapshot.interface("a.ts"), Some(&Err(InterfaceUnknown::TooLarge)));
    assert_eq!(snapshot.interface("b.ts"), Some(&Err(InterfaceUnknown::Binary)));
}
