//! `--focus`, `--cycles`, figures as JSON, and pictures that nobody could read.

use coord_test_support::git::Repo;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::graph_command::running::{graph, refusal, repository};

/// A row of files, of which `c` and `d` import each other, and `e` imports a type of `d`'s.
fn project() -> (TempDir, Repo) {
    repository(&[
        ("src/a.ts", "import './b'"),
        ("src/b.ts", "import './c'"),
        ("src/c.ts", "import './d'"),
        ("src/d.ts", "import './c'; vi.mock('./e')"),
        ("src/e.ts", "import type { D } from './d'"),
        ("other.ts", ""),
    ])
}

fn as_json(repo: &Repo, words: &[&str]) -> Value {
    let printed = graph(repo.path(), &[words, &["--format", "json"]].concat());
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn the_part_around_a_file_has_the_files_within_so_many_steps() {
    let (_temp, repo) = project();
    let part = |words: &[&str]| graph(repo.path(), &[&["--focus", "src/b.ts"], words].concat());
    assert_eq!(part(&[]), "src/a.ts\tsrc/b.ts\nsrc/b.ts\tsrc/c.ts\n");
    assert_eq!(part(&["--direction", "importers"]), "src/a.ts\tsrc/b.ts\n");
    assert_eq!(
        part(&["--direction", "imports", "--depth", "2"]),
        "src/b.ts\tsrc/c.ts\nsrc/c.ts\tsrc/d.ts\nsrc/d.ts\tsrc/c.ts\n"
    );
    assert_eq!(part(&["--depth", "0"]), "");
    let json = as_json(&repo, &["--focus", "src/b.ts", "--depth", "2"]);
    let nodes = json["nodes"].as_array().unwrap().iter();
    let distances: Vec<Value> = nodes.map(|node| json!([node["id"], node["distance"]])).collect();
    assert_eq!(
        json!(distances),
        json!([["src/a.ts", 1], ["src/b.ts", 0], ["src/c.ts", 1], ["src/d.ts", 2]])
    );
    let error = refusal(repo.path(), &["--focus", "src/no.ts"]);
    assert!(error.contains("src/no.ts is not among the files"), "{error}");
}

#[test]
fn circles_are_the_groups_of_files_that_import_each_other() {
    let (_temp, repo) = project();
    assert_eq!(graph(repo.path(), &["--cycles"]), "src/c.ts\tsrc/d.ts\n");
    assert_eq!(
        graph(repo.path(), &["--cycles", "--kinds", "all"]),
        "src/c.ts\tsrc/d.ts\tsrc/e.ts\n"
    );
    let json = as_json(&repo, &["--cycles"]);
    assert_eq!(json["cycles"], json!([["src/c.ts", "src/d.ts"]]));
    let error = refusal(repo.path(), &["--cycles", "--format", "dot"]);
    assert!(error.contains("tsv or json"), "{error}");
}

#[test]
fn figures_are_there_for_programs_too() {
    let (_temp, repo) = project();
    let mut figures = as_json(&repo, &["--stats"]);
    assert!(figures["seconds"].take().as_f64().unwrap() > 0.0);
    assert!(figures["stored_bytes"].take()["adjacency"].as_u64().unwrap() > 0);
    assert_eq!(figures["version"].take(), repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(
        figures,
        json!({
            "version": null,
            "seconds": null,
            "stored_bytes": null,
            "incomplete": {},
            "files": 6,
            "languages": {"typescript": {"files": 6, "bytes": 92}},
            "edges": 5,
            "kinds": {"import": 4, "type": 1},
            "unresolved": {},
            "cycles": {"groups": 1, "files": 3},
            "most_imported": [{"id": "src/c.ts", "importers": 2}, {"id": "src/d.ts", "importers": 2}],
        })
    );
    let error = refusal(repo.path(), &["--stats", "--format", "tsv"]);
    assert!(error.contains("--format json"), "{error}");
}

#[test]
fn a_picture_with_too_many_edges_is_refused_with_what_to_do() {
    let many: Vec<String> = (0..501).map(|number| format!("f{number}.ts")).collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), "import './hub'")).collect();
    files.push(("hub.ts", ""));
    let (_temp, repo) = repository(&files);
    for format in ["dot", "mermaid"] {
        let error = refusal(repo.path(), &["--format", format]);
        assert!(error.contains("500 edges") && error.contains("--focus"), "{error}");
        let all = graph(repo.path(), &["--format", format, "--max-edges", "501"]);
        assert!(
            all.matches("->").count() + all.matches("-->").count() >= 501,
            "{format}"
        );
        let part = graph(repo.path(), &["--format", format, "--focus", "f7.ts"]);
        assert!(part.contains("hub.ts") && !part.contains("f8.ts"), "{part}");
    }
    assert_eq!(graph(repo.path(), &[]).lines().count(), 501);
}
