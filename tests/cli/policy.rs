//! `coord policy`.

use std::path::Path;
use std::process::Command;

use coord_test_support::git::Repo;

fn check(folder: &Path, file: &[&str]) -> (i32, String, String) {
    coord(folder, &[&["policy", "check"], file].concat())
}

/// Exit status, standard output and standard error.
fn coord(folder: &Path, words: &[&str]) -> (i32, String, String) {
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
    let right = (0, ".coord.toml: valid\n".to_owned(), String::new());
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
    let (status, _, errors) = check(folder.path(), &["draft.toml"]);
    assert_eq!(status, 1);
    assert!(
        errors.starts_with("draft.toml:1:13: neighbors must be one of"),
        "{errors}"
    );
    let (status, _, errors) = check(folder.path(), &["none.toml"]);
    assert_eq!(status, 1);
    assert!(errors.contains("none.toml cannot be read"), "{errors}");
    let (status, _, errors) = check(folder.path(), &[]);
    assert!(status == 1 && !errors.is_empty(), "there is no repository: {errors}");
}

#[test]
fn one_is_suggested_by_the_history() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repo::init(folder.path().join("shop"), &[]);
    let suggest = || coord(repo.path(), &["policy", "suggest"]);
    let (status, policy, _) = suggest();
    assert_eq!((status, policy.as_str()), (1, ""), "there is no commit");
    repo.commit(&[("yarn.lock", "1"), ("src/a.ts", "1"), ("äö/package.json", "1")]);
    let nothing = "coord: nothing to suggest: of the last 1 commits, too few change the same manifest, changelog or translation\n";
    assert_eq!(suggest(), (1, String::new(), nothing.to_owned()));
    for number in 0..19 {
        let text = number.to_string();
        repo.commit(&[("CHANGELOG.md", &text), ("src/a.ts", &text)]);
    }
    let (status, policy, errors) = suggest();
    assert_eq!(
        (status, errors.as_str()),
        (
            0,
            "coord: many of the last 20 commits change CHANGELOG.md (95 %), äö/package.json (5 %)\n"
        )
    );
    assert!(
        policy.ends_with("shared = [\n  \"yarn.lock\",\n  \"/CHANGELOG.md\",\n  \"äö/package.json\",\n]\n"),
        "{policy}"
    );
    let file = repo.path().join(".coord.toml");
    let write = || coord(repo.path(), &["policy", "suggest", "--write"]);
    assert_eq!(write().0, 0);
    assert_eq!(std::fs::read_to_string(&file).expect("written"), policy);
    assert_eq!(check(repo.path(), &[]).0, 0);
    // The other lines of the file stay, and come after the list.
    let others = "ttl_seconds = 600\n\n# Why: they are generated.\nignore = [\"dist/**\"]\n";
    std::fs::write(&file, others).expect("written");
    assert_eq!(write().0, 0);
    assert_eq!(
        std::fs::read_to_string(&file).expect("written"),
        format!("{policy}{others}")
    );
    let (status, _, errors) = write();
    assert!(status == 1 && errors.contains("has a list `shared`"), "{errors}");
    std::fs::write(&file, "ttl_seconds = [").expect("written");
    let (status, _, errors) = write();
    assert!(
        status == 1 && errors.starts_with("coord: .coord.toml is not TOML: fix it first"),
        "{errors}"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("kept"), "ttl_seconds = [");
}
