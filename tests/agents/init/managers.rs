//! Managers of git's hooks: the guard goes into their own file, where nothing else there changes, or the line is named.

use super::{files, init, read};
use coord_test_worlds::world::World;

const ARGUMENTS: [&str; 3] = ["vscode", "--yes", "--no-check"];

/// The lines that begin with the name of a manager.
fn notes(printed: &str) -> Vec<&str> {
    let is_of_manager = |line: &&str| {
        let managers = ["lefthook", "pre-commit", "simple-git-hooks"];
        managers.iter().any(|name| line.starts_with(&format!("Note: {name} ")))
    };
    printed.lines().filter(is_of_manager).collect()
}

/// Returns the file that `coord init` writes for a manager, and its message; a second run changes nothing, and undo
/// restores each byte.
fn written(file: &str, text: &str) -> (String, String) {
    let world = World::with(&[(file, text)]);
    let printed = init(&world, &ARGUMENTS);
    let notes = notes(&printed).join("\n");
    let written = read(&world.clone, file);
    let all = files(world.clone.path());
    let again = init(&world, &ARGUMENTS);
    assert!(again.contains("nothing to change"), "{again}");
    assert!(!again.contains("` once"), "{again}");
    assert_eq!(files(world.clone.path()), all);
    init(&world, &["--undo", "--yes"]);
    assert_eq!(world.clone.git(&["status", "--porcelain"]), "", "{file}");
    (written, notes)
}

#[test]
fn lefthook_merges_a_file_beside_its_own() {
    let (text, notes) = written("lefthook.yml", "pre-commit:\n  jobs:\n    - run: npm test\n");
    insta::assert_snapshot!(text, @r"
    pre-commit:
      jobs:
        - run: npm test

    # coord init: begin
    extends:
      - lefthook-coord.yml
    # coord init: end
    ");
    assert_eq!(
        notes,
        "Note: lefthook runs the guard from now on: run `lefthook install` once."
    );
    let world = World::with(&[("lefthook.yml", "pre-commit:\n")]);
    init(&world, &ARGUMENTS);
    insta::assert_snapshot!(read(&world.clone, "lefthook-coord.yml"), @r"
    # Written by coord init: git's hooks run the guard.
    pre-commit:
      commands:
        coord:
          run: 'if command -v coord >/dev/null 2>&1; then coord guard pre-commit; fi'
    commit-msg:
      commands:
        coord:
          run: 'if command -v coord >/dev/null 2>&1; then coord guard commit-msg {1}; fi'
    pre-push:
      commands:
        coord:
          run: 'if command -v coord >/dev/null 2>&1; then coord guard pre-push {1} {2}; fi'
          use_stdin: true
    ");
    for (file, text) in [
        ("lefthook.yml", "extends:\n  - other.yml\n"),
        ("lefthook.yml", "{pre-commit: {}}\n"),
        ("lefthook.toml", "[pre-commit]\n"),
    ] {
        let (after, notes) = written(file, text);
        assert_eq!(after, text);
        let line = format!("add to {file}: extends: [lefthook-coord.yml].");
        assert!(notes.ends_with(&line), "{notes}");
    }
    // A person has added it.
    let (after, notes) = written("lefthook.yml", "extends: [lefthook-coord.yml]\n");
    assert_eq!(
        (after.as_str(), notes.as_str()),
        ("extends: [lefthook-coord.yml]\n", "")
    );
}

#[test]
fn pre_commit_gets_an_item_at_the_end_of_its_list() {
    let items =
        "repos:\n  # ours\n  - repo: https://github.com/psf/black\n    rev: 1.0\n    hooks:\n      - id: black\n";
    let (text, notes) = written(".pre-commit-config.yaml", &format!("fail_fast: true\n{items}"));
    insta::assert_snapshot!(text, @r"
    fail_fast: true
    repos:
      # ours
      - repo: https://github.com/psf/black
        rev: 1.0
        hooks:
          - id: black

    # coord init: begin
      - repo: local
        hooks:
          - id: coord
            name: coord
            entry: sh -c 'command -v coord >/dev/null 2>&1 || exit 0; exec coord guard pre-commit'
            language: system
            always_run: true
            pass_filenames: false
            stages: [pre-commit]
    # coord init: end
    ");
    assert_eq!(
        notes,
        "Note: pre-commit runs the guard from now on: run `pre-commit install` once."
    );
    let (text, _) = written(".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks: []");
    assert!(text.contains("\n- repo: local\n  hooks:\n    - id: coord\n"), "{text}");
    for text in [
        "repos: []\n".to_owned(),
        "repos:\n".to_owned(),
        format!("{items}ci:\n  skip: []\n"),
        format!("{items}...\n"),
    ] {
        let (after, notes) = written(".pre-commit-config.yaml", &text);
        assert_eq!(after, text);
        assert!(
            notes.contains("add to .pre-commit-config.yaml: - {repo: local, hooks: [{id: coord"),
            "{notes}"
        );
    }
}

#[test]
fn simple_git_hooks_gets_the_hooks_that_it_lacks() {
    let (text, notes) = written(
        "package.json",
        "{\n  \"name\": \"shop\",\n  \"simple-git-hooks\": {\n    \"pre-commit\": \"npx lint-staged\"\n  }\n}\n",
    );
    insta::assert_snapshot!(text, @r#"
    {
      "name": "shop",
      "simple-git-hooks": {
        "pre-commit": "npx lint-staged",
        "commit-msg": "command -v coord >/dev/null 2>&1 || exit 0; exec coord guard commit-msg \"$1\"",
        "pre-push": "command -v coord >/dev/null 2>&1 || exit 0; exec coord guard pre-push \"$@\""
      }
    }
    "#);
    insta::assert_snapshot!(notes);
    let (text, _) = written(".simple-git-hooks.json", "{}\n");
    assert!(text.contains("\"pre-commit\": \"command -v coord"), "{text}");
    let (_, notes) = written("package.json", "{ \"simple-git-hooks\": \"./hooks.js\" }\n");
    assert!(
        notes.contains("add to package.json: pre-commit: command -v coord"),
        "{notes}"
    );
    // Its package alone is no configuration.
    let (text, notes) = written("package.json", "{ \"name\": \"shop\" }\n");
    assert_eq!((text.as_str(), notes.as_str()), ("{ \"name\": \"shop\" }\n", ""));
}

#[test]
fn a_manager_that_runs_the_guard_already_is_left() {
    for (file, text) in [
        (
            "lefthook.yml",
            "pre-commit: {commands: {a: {run: coord guard pre-commit}}}\n",
        ),
        (
            ".pre-commit-config.yaml",
            "repos:\n  - repo: local\n    hooks: [{id: a, entry: coord guard pre-commit}]\n",
        ),
    ] {
        let (after, notes) = written(file, text);
        assert_eq!((after.as_str(), notes.as_str()), (text, ""));
    }
}
