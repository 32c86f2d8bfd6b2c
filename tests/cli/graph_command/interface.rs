//! `--interface`: what others can import of a file.

use coord_test_support::git::Repo;
use tempfile::TempDir;

use crate::graph_command::running::{graph, refusal, repository};

fn project() -> (TempDir, Repo) {
    repository(&[
        (
            "src/db.ts",
            "import type { Row } from './row';\nexport function query(text: string): Row[] { return [] }\nexport class Pool { close(): void {} }\n",
        ),
        ("src/row.ts", "export interface Row { id: number }\n"),
        ("src/broken.ts", "export const a = {\n"),
        ("tool/run.py", "def run(name: str) -> None:\n    pass\n"),
        ("README.md", "# Shop\n"),
    ])
}

#[test]
fn each_name_has_a_digest_and_the_file_one_of_all() {
    let (_temp, repo) = project();
    let files = ["--interface", "src/db.ts", "tool/run.py", "src/broken.ts", "README.md"];
    insta::assert_snapshot!("tsv", graph(repo.path(), &files));
    let json = graph(repo.path(), &[&files[..], &["--format", "json"]].concat());
    let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
    json["version"] = "COMMIT".into();
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn the_digest_differs_where_a_head_does_and_not_where_a_body_does() {
    let (_temp, repo) = project();
    let digest = || {
        let text = graph(repo.path(), &["--interface", "tool/run.py"]);
        text.lines().next().unwrap().to_owned()
    };
    let first = digest();
    repo.commit(&[("tool/run.py", "def run(name: str) -> None:\n    print(name)  # now\n")]);
    assert_eq!(digest(), first);
    repo.commit(&[("tool/run.py", "def run(name: str, at: int) -> None:\n    print(name)\n")]);
    assert_ne!(digest(), first);
}

#[test]
fn an_unprintable_graph_is_refused_with_a_sentence() {
    let (_temp, repo) = project();
    let refused = |arguments: &[&str]| refusal(repo.path(), arguments);
    assert!(refused(&["--interface", "src/gone.ts"]).contains("src/gone.ts is not among the files"));
    assert!(refused(&["--interface", "src/db.ts", "--format", "dot"]).contains("--interface prints tsv or json"));
}
