use std::collections::BTreeMap;

use super::repository::{Repository, cold, repository};

/// The fields of the adjacency that list neighbors.
fn neighbors(files: &Repository) -> BTreeMap<String, String> {
    let snapshot = cold(files);
    let fields = snapshot.graph().adjacency();
    fields.filter(|(field, _)| !field.starts_with('\n')).collect()
}

#[test]
fn each_file_with_neighbors_has_a_field_that_lists_them() {
    let files = repository(&[
        ("src/app.ts", "import './auth'"),
        ("src/auth.ts", "import './db'; import type { X } from './app'"),
        ("src/db.ts", ""),
        ("README.md", "text"),
    ]);
    let fields = neighbors(&files);
    let expected = [
        ("src/app.ts", "2\n>src/auth.ts\n<src/auth.ts\n"),
        ("src/auth.ts", "3\n>src/app.ts\n>src/db.ts\n<src/app.ts\n"),
        ("src/db.ts", "1\n<src/auth.ts\n"),
    ];
    assert_eq!(
        fields,
        expected.map(|(path, value)| (path.to_owned(), value.to_owned())).into()
    );
}

#[test]
fn a_hub_lists_the_hubs_beside_it_and_its_lines_are_in_chunks() {
    let mut files = repository(&[("hub.ts", "import './other'"), ("other.ts", "")]);
    for number in 0..1_000 {
        files.insert(
            format!("n{number:04}.ts"),
            "import './hub'; import './other'".to_owned(),
        );
    }
    let fields = neighbors(&files);
    assert_eq!(fields["hub.ts"], "B1001:2\n>other.ts\n");
    assert_eq!(fields["other.ts"], "B1001:2\n<hub.ts\n");
    assert_eq!(fields["hub.ts\n1"].lines().count(), 512);
    assert_eq!(fields["hub.ts\n2"].lines().count(), 489);
    assert!(fields["hub.ts\n1"].starts_with(">other.ts\n<n0000.ts\n"));
    assert!(fields["hub.ts\n2"].ends_with("<n0999.ts\n"));
    assert_eq!(fields["n0000.ts"], "2\n>hub.ts\n>other.ts\n");
}
