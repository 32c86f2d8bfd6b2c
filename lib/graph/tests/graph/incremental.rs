//! The graph after a change equals that of a cold build, at the cost of the change.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use coord_graph::{Previous, Record};
use proptest::prelude::*;

use super::changes::{Change, FOLDERS, MODULE_FOLDERS, MODULE_NAMES, NAMES, apply, change, file};
use super::repository::{Repository, cold, everything, repository, snapshot_after};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn after_any_series_of_changes_the_incremental_graph_is_the_cold_one(
        first in proptest::collection::vec(file((FOLDERS, NAMES)), 0..30),
        steps in proptest::collection::vec(proptest::collection::vec(change((FOLDERS, NAMES)), 1..4), 1..8),
    ) {
        stays_the_cold_one(first, steps)?;
    }

    #[test]
    fn after_any_series_of_changes_to_modules_the_incremental_graph_is_the_cold_one(
        first in proptest::collection::vec(file((MODULE_FOLDERS, MODULE_NAMES)), 0..30),
        steps in proptest::collection::vec(
            proptest::collection::vec(change((MODULE_FOLDERS, MODULE_NAMES)), 1..4),
            1..8,
        ),
    ) {
        stays_the_cold_one(first, steps)?;
    }
}

fn stays_the_cold_one(first: Vec<(String, String)>, steps: Vec<Vec<Change>>) -> Result<(), TestCaseError> {
    let mut files = Repository::new();
    for (path, content) in first {
        apply(&mut files, &Change::Write(path, content));
    }
    let mut snapshot = cold(&files);
    for changes in steps {
        for change in &changes {
            apply(&mut files, change);
        }
        let (next, _) = snapshot_after(Previous::Snapshot(Arc::clone(&snapshot)), &files);
        let fresh = cold(&files);
        prop_assert_eq!(everything(&next), everything(&fresh));

        let stored: HashMap<String, Record> = snapshot
            .records()
            .filter_map(|(path, record)| Some((path.to_owned(), Record::decode(&record.encode())?)))
            .collect();
        let (restored, _) = snapshot_after(Previous::Stored(stored), &files);
        prop_assert_eq!(everything(&restored), everything(&fresh));

        let mut hash: BTreeMap<String, String> = snapshot.graph().adjacency().collect();
        let changes = next.graph().adjacency_changes(snapshot.graph());
        for field in &changes.gone {
            prop_assert!(hash.remove(field).is_some());
        }
        hash.extend(changes.changed);
        prop_assert_eq!(hash, next.graph().adjacency().collect::<BTreeMap<_, _>>());
        snapshot = next;
    }
    Ok(())
}

/// Once, a lookup of the folder that `..` names was not traced.
#[test]
fn a_manifest_that_comes_to_a_folder_named_by_dots_counts() {
    let mut files = repository(&[
        ("package.json", r#"{"name": "root"}"#),
        ("src/package.json", r#"{"name": "p"}"#),
        ("src/a.ts", "import '..'"),
        ("src/b.ts", ""),
    ]);
    let before = cold(&files);
    files.insert("package.json".to_owned(), r#"{"main": "./src/b.js"}"#.to_owned());
    let (next, _) = snapshot_after(Previous::Snapshot(before), &files);
    assert_eq!(next.graph().edge_count(), 1);
    assert_eq!(everything(&next), everything(&cold(&files)));
}

#[test]
fn an_import_that_makes_a_folder_of_scripts_a_namespace_counts() {
    let mut files = repository(&[
        ("src/x/queue.py", ""),
        ("src/x/a.py", "import queue"),
        ("src/y/queue.py", ""),
        ("src/y/a.py", "import queue"),
        ("t.py", ""),
    ]);
    let mut snapshot = cold(&files);
    for (content, expected) in [("from x.a import b", 2), ("from y import a", 2), ("", 2)] {
        files.insert("t.py".to_owned(), content.to_owned());
        snapshot = snapshot_after(Previous::Snapshot(snapshot), &files).0;
        assert_eq!(snapshot.graph().edge_count(), expected, "{content}");
        assert_eq!(everything(&snapshot), everything(&cold(&files)), "{content}");
    }
}

#[test]
fn only_changed_content_is_read_again() {
    let mut files = repository(&[
        ("package.json", r#"{"workspaces": ["p/*"]}"#),
        ("p/x/package.json", r#"{"name": "x", "main": "a.js"}"#),
        ("p/x/a.js", "import './b'"),
        ("p/x/b.js", ""),
        ("main.js", "import 'x'"),
    ]);
    let (snapshot, read) = snapshot_after(Previous::Nothing, &files);
    assert_eq!(read, 5);
    files.insert("main.js".to_owned(), "import 'x'\nimport './p/x/b'".to_owned());
    let (snapshot, read) = snapshot_after(Previous::Snapshot(snapshot), &files);
    assert_eq!(read, 1);
    // A renamed folder is not read at all.
    for name in ["package.json", "a.js", "b.js"] {
        let content = files.remove(&format!("p/x/{name}")).unwrap();
        files.insert(format!("p/y/{name}"), content);
    }
    let (snapshot, read) = snapshot_after(Previous::Snapshot(snapshot), &files);
    assert_eq!(read, 0);
    assert_eq!(everything(&snapshot), everything(&cold(&files)));
    // A manifest is read, and no file is scanned for it.
    files.insert(
        "p/y/package.json".to_owned(),
        r#"{"name": "x", "main": "b.js"}"#.to_owned(),
    );
    let (snapshot, read) = snapshot_after(Previous::Snapshot(snapshot), &files);
    assert_eq!(read, 1);
    assert_eq!(everything(&snapshot), everything(&cold(&files)));
}
