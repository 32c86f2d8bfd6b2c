//! `--focus`, `--cycles`, figures as JSON, and pictures that nobody could read.

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::graph_command::running::{graph, refusal};
use coord_test_support::git::Repo;

/// A row of files, of which `c` and `d` import each other, and `e` imports a type of `d`'s.
fn project() -> (TempDir, Repo) {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.commit(&[
        ("src/a.ts", "import './b'"),
        ("src/b.ts", "import './c'"),
        ("src/c.ts", "import './d'"),
        ("src/d.ts", "import './c'; vi.mock('./e')"),
        ("src/e.ts", "import type { D } from './d'"),
        ("other.ts", ""),
    ]);
    (temp, repo)
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
    let json: Value = serde_json::from_str(&part(&["--depth", "2", "--format", "json"])).unwrap();
    let distances: Vec<(&str, u64)> = json["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node["distance"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        distances,
        [("src/a.ts", 1), ("src/b.ts", 0), ("src/c.ts", 1), ("src/d.ts", 2)]
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
    let json: Value = serde_json::from_str(&graph(repo.path(), &["--cycles", "--format", "json"])).unwrap();
    assert_eq!(json["cycles"], json!([["src/c.ts", "src/d.ts"]]));
    let error = refusal(repo.path(), &["--cycles", "--format", "dot"]);
    assert!(error.contains("tsv or json"), "{error}");
}

#[test]
fn figures_are_there_for_programs_too() {
    let (_temp, repo) = project();
    let printed = graph(repo.path(), &["--stats", "--format", "json"]);
    let mut figures: Value = serde_json::from_str(&printed).unwrap();
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
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let many: Vec<(String, &str)> = (0..501)
        .map(|number| (format!("f{number}.ts"), "import './hub'"))
        .collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    files.push(("hub.ts", ""));
    repo.commit(&files);
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
