//! `--stats`, and the limits that the environment sets.

use coord_test_support::git::Repo;
use tempfile::TempDir;

use crate::graph_command::running::{command, graph, repository, run};

fn project() -> (TempDir, Repo) {
    let long = format!("const x = \"{}\";\n", "x".repeat(200_000));
    repository(&[
        (
            "a.ts",
            "import './b';\nimport type { C } from './c';\nimport 'react';\nimport './gone';\nvi.mock('./binary');\n",
        ),
        ("b.ts", "import './c';\nexport * from './a';\n"),
        ("c.ts", "export type C = 1;\n"),
        ("d.py", "import e\n"),
        ("e.py", "import os\n"),
        ("binary.ts", "\0\0\0import './c'\n"),
        ("long.js", &long),
        ("README.md", "text\n"),
    ])
}

/// Without the time that it took.
fn figures(printed: &str) -> String {
    let lines = printed.lines().filter(|line| !line.starts_with("Time "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn figures_count_files_edges_and_imports_that_lead_nowhere() {
    let (_temp, repo) = project();
    let printed = graph(repo.path(), &["--stats"]);
    let time = printed.lines().last().unwrap();
    let seconds = time.strip_prefix("Time ").unwrap().trim();
    let seconds: f64 = seconds.strip_suffix(" s").unwrap().parse().unwrap();
    assert!(seconds > 0.0 && seconds < 60.0, "{time}");
    insta::assert_snapshot!(figures(&printed));
    insta::assert_snapshot!(
        "all_kinds",
        figures(&graph(repo.path(), &["--stats", "--kinds", "all"]))
    );
}

#[test]
fn the_figures_agree_with_the_graph() {
    let (_temp, repo) = project();
    for kinds in ["core", "all"] {
        let edges = graph(repo.path(), &["--kinds", kinds]).lines().count();
        let printed = graph(repo.path(), &["--kinds", kinds, "--stats"]);
        let counted = printed.lines().find_map(|line| line.strip_prefix("Edges "));
        assert_eq!(counted.unwrap().trim(), edges.to_string(), "{kinds}");
    }
}

#[test]
fn a_limit_leaves_files_out_and_counts_them() {
    let (_temp, repo) = project();
    for (name, value, left_out, state) in [
        ("COORD_GRAPH_MAX_FILES", "1", 6, "over_limit"),
        ("COORD_GRAPH_MAX_BYTES", "140", 5, "over_limit"),
        ("COORD_GRAPH_MAX_IMPORTS", "5", 6, "over_limit"),
        ("COORD_GRAPH_MAX_FILE_BYTES", "20", 3, "too_large"),
    ] {
        let limited = |arguments: &[&str]| {
            let mut command = command(repo.path(), arguments);
            command.env(name, value);
            let ran = run(command);
            assert!(ran.succeeded, "{ran:?}");
            ran.stdout
        };
        let figures = limited(&["--stats"]);
        let line = figures.lines().find(|line| line.contains(&format!("{state}: ")));
        let line = line.unwrap_or_else(|| panic!("{name}: no {state} in {figures}"));
        assert!(line.contains(&format!(" {left_out} ")), "{name}: {line}");
        assert!(
            limited(&[]).lines().count() < graph(repo.path(), &[]).lines().count(),
            "{name}"
        );
        // A file that was left out is still a file of the graph.
        let nodes = limited(&["--format", "json"]).matches("\"id\"").count();
        assert_eq!(nodes, 8);
    }
}

#[test]
fn a_limit_that_is_no_number_is_refused_by_its_name() {
    let (_temp, repo) = project();
    for name in [
        "COORD_GRAPH_MAX_FILES",
        "COORD_GRAPH_MAX_BYTES",
        "COORD_GRAPH_MAX_FILE_BYTES",
        "COORD_GRAPH_MAX_IMPORTS",
    ] {
        for value in ["x", "-1", "1.5", "0"] {
            let mut command = command(repo.path(), &[]);
            command.env(name, value);
            let ran = run(command);
            assert!(
                !ran.succeeded && ran.stderr.contains(name) && ran.stdout.is_empty(),
                "{value}: {ran:?}"
            );
        }
    }
}
