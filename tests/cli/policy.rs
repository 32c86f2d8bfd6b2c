//! `coord policy check`.

use std::path::Path;
use std::process::Command;

use coord_test_support::git::Repo;

/// Exit status, standard output and standard error.
fn check(folder: &Path, file: &[&str]) -> (i32, String, String) {
    let words = ["policy", "check"].iter().chain(file);
    let output = Command::new(crate::COORD)
        .args(words)
        .current_dir(folder)
        .output()
        .expect("coord runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("an end"),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_file_of_the_repository_is_checked_from_any_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repo::init(folder.path().join("shop"), &[]);
    std::fs::create_dir(repo.path().join("src")).expect("a folder");
    let none = ".coord.toml: there is none; the rules are those of the server\n";
    assert_eq!(check(repo.path(), &[]), (0, none.to_owned(), String::new()));
    let file = repo.path().join(".coord.toml");
    std::fs::write(&file, "shared = [\"CHANGELOG.md\"]\n").expect("written");
    let right = (0, ".coord.toml: right\n".to_owned(), String::new());
    assert_eq!(check(&repo.path().join("src"), &[]), right);
    std::fs::write(&file, "shared = []\nttl = 5\n").expect("written");
    let wrong =
        ".coord.toml:2:1: unknown key \"ttl\": the keys are ttl_seconds, neighbors, pending, shared and ignore\n";
    assert_eq!(check(repo.path(), &[]), (1, String::new(), wrong.to_owned()));
}

#[test]
fn a_file_that_is_named_needs_no_repository_and_has_to_be_there() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("draft.toml"), "neighbors = \"of\"\n").expect("written");
    let (status, _, said) = check(folder.path(), &["draft.toml"]);
    assert_eq!(status, 1);
    assert!(said.starts_with("draft.toml:1:13: neighbors must be one of"), "{said}");
    let (status, _, said) = check(folder.path(), &["none.toml"]);
    assert_eq!(status, 1);
    assert!(said.contains("none.toml cannot be read"), "{said}");
    let (status, _, said) = check(folder.path(), &[]);
    assert!(status == 1 && !said.is_empty(), "there is no repository: {said}");
}
