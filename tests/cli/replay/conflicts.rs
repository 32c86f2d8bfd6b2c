//! Textual conflicts.

use std::path::Path;

use coord_test_support::git::Repo;
use coord_test_worlds::replay::conflicts::Conflicts;
use coord_test_worlds::replay::history::History;

/// Returns the conflicts of the commits at these places, from 0 on.
fn conflicts(commits: &[&[(&str, &str)]], earlier: usize, later: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::init(folder.path(), &[]);
    repo.commit(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "1\n")]);
    for files in commits {
        repo.commit(files);
    }
    let tasks = History::read(folder.path(), "main", commits.len()).unwrap().tasks;
    let mut conflicts = Conflicts::of(folder.path()).unwrap();
    let before = objects(folder.path());
    let found = conflicts.between(&tasks[earlier], &tasks[later]).unwrap().clone();
    assert_eq!(objects(folder.path()), before, "nothing is written to the repository");
    found.into_iter().collect()
}

fn objects(folder: &Path) -> String {
    Repo::at(folder).git(&["count-objects"])
}

const FIRST: &[(&str, &str)] = &[("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")];

#[test]
fn the_same_lines_conflict_and_lines_apart_do_not() {
    let same: &[(&str, &str)] = &[("a", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n")];
    let apart: &[(&str, &str)] = &[("a", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")];
    assert_eq!(conflicts(&[FIRST, same], 0, 1), ["a"]);
    assert!(conflicts(&[FIRST, apart], 0, 1).is_empty());
    assert!(conflicts(&[FIRST, &[("b", "2\n")]], 0, 1).is_empty());
}

#[test]
fn commits_between_two_others_are_no_conflict_of_these() {
    // The second changes the first line again; the third is about the last line.
    let again: &[(&str, &str)] = &[("a", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n")];
    let apart: &[(&str, &str)] = &[("a", "uno\n2\n3\n4\n5\n6\n7\n8\nnine\n")];
    assert!(conflicts(&[FIRST, again, apart], 0, 2).is_empty());
    assert!(conflicts(&[FIRST, again, apart], 1, 2).is_empty());
    assert_eq!(conflicts(&[FIRST, again, apart], 0, 1), ["a"]);
}

#[test]
fn a_file_that_the_other_made_conflicts() {
    let made: &[(&str, &str)] = &[("new", "1\n2\n3\n4\n5\n6\n")];
    let between: &[(&str, &str)] = &[("new", "1\n2\n3\n4\n5\nsix\n")];
    let changed: &[(&str, &str)] = &[("new", "one\n2\n3\n4\n5\nsix\n")];
    assert_eq!(conflicts(&[made, &[("new", "one\n2\n3\n4\n5\n6\n")]], 0, 1), ["new"]);
    assert_eq!(conflicts(&[made, between, changed], 0, 2), ["new"]);
    assert!(conflicts(&[made, between, changed], 1, 2).is_empty());
}
