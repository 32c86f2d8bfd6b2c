//! The command reports the missing parts of a graph.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use coord_test_support::git::Repo;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::graph_command::running::{command, repository, run};

/// Returns the message on standard error, and the field of the JSON.
fn incomplete(repo: &Repo) -> (String, Value) {
    let ran = run(command(repo.path(), &["--format", "json"]));
    assert!(ran.succeeded, "{ran:?}");
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(run(command(repo.path(), &["--stats"])).stderr, ran.stderr);
    (ran.stderr, printed["incomplete"].clone())
}

fn project() -> (TempDir, Repo) {
    repository(&[
        ("a.ts", "import './b'"),
        ("b.ts", ""),
        ("run.sh", ""),
        ("README.md", ""),
    ])
}

#[test]
fn a_complete_graph_prints_no_warning() {
    let (_temp, repo) = project();
    assert_eq!(incomplete(&repo), (String::new(), json!({})));
}

#[test]
fn a_missing_blob_is_reported_as_unreadable() {
    let (_temp, repo) = project();
    let blob = repo.git(&["rev-parse", "HEAD:a.ts"]);
    fs::remove_file(repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    fs::write(repo.path().join("a.ts"), "changed").unwrap();
    let (line, field) = incomplete(&repo);
    assert_eq!(field, json!({"unreadable": 1}));
    assert!(
        line.contains("1 file: unreadable") && line.lines().count() == 1,
        "{line}"
    );
}

#[test]
fn unknown_languages_are_counted() {
    let (_temp, repo) = project();
    repo.commit(&[("A.java", ""), ("B.java", ""), ("c.rb", "")]);
    let (line, field) = incomplete(&repo);
    assert_eq!(field, json!({"unknown_languages": {"java": 2, "ruby": 1}}));
    assert!(
        line.contains("3 files: ") && line.contains("(java 2, ruby 1)"),
        "{line}"
    );
}

#[test]
fn names_that_are_left_out_are_counted() {
    let (_temp, repo) = project();
    fs::write(repo.path().join(OsStr::from_bytes(b"caf\xe9.ts")), "").unwrap();
    fs::write(repo.path().join("two\nlines.ts"), "").unwrap();
    repo.commit(&[]);
    let (line, field) = incomplete(&repo);
    assert_eq!(field, json!({"names_left_out": 2}));
    assert!(line.contains("2 files: left out for their names"), "{line}");
}

#[test]
fn one_of_two_names_that_differ_only_in_unicode_form_is_left_out() {
    let (_temp, repo) = project();
    repo.commit(&[("gr\u{f6}.ts", "import './a'"), ("gro\u{308}.ts", "")]);
    let (line, field) = incomplete(&repo);
    assert_eq!(field, json!({"names_left_out": 1}));
    assert!(line.contains("1 file: left out for their names"), "{line}");
    let edges = run(command(repo.path(), &[])).stdout;
    assert!(edges.contains("gr\u{f6}.ts\ta.ts"), "{edges}");
}

#[test]
fn limits_that_are_met_are_reported() {
    let (_temp, repo) = project();
    let limited = |arguments: &[&str]| {
        let mut command = command(repo.path(), arguments);
        command.env("COORD_GRAPH_MAX_FILES", "1");
        let ran = run(command);
        assert!(ran.succeeded, "{ran:?}");
        ran
    };
    let lines = limited(&[]).stderr;
    for part in [
        "1 file: over_limit",
        "the repository has more files than COORD_GRAPH_MAX_FILES (1 file: b.ts)",
    ] {
        assert!(lines.contains(part), "{part}: {lines}");
    }
    let printed: Value = serde_json::from_str(&limited(&["--format", "json"]).stdout).unwrap();
    let expected = json!([{"bound": "files", "files": 1, "first": ["b.ts"]}]);
    assert_eq!(printed["incomplete"]["bounds"], expected);
}
