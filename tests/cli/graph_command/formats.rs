//! The forms of a printed graph.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use coord_test_support::git::Repo;
use tempfile::TempDir;

use crate::graph_command::running::{command, graph, refusal, repository, run};

/// Files whose names mean something in one of the formats, each imported once.
const NASTY: [&str; 10] = [
    "a b.ts",
    "tab\there.ts",
    "quote\"here.ts",
    "back\\slash.ts",
    "number#sign.ts",
    "ünïcödé ✓.ts",
    "<angle>&.ts",
    "`backquote`.ts",
    "end.ts",
    "][.ts",
];

fn nasty() -> (TempDir, Repo) {
    let imports = NASTY.map(|name| {
        let specifier = name.strip_suffix(".ts").unwrap();
        let escaped = specifier
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\t', "\\t");
        format!("import \"./src/{escaped}\";\n")
    });
    let imports = imports.concat();
    let names = NASTY.map(|name| format!("src/{name}"));
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "export {};\n")).collect();
    files.push(("main.ts", &imports));
    files.push(("src/tab\tagain.ts", "import './tab\\there';\n"));
    files.push(("lonely.ts", "export {};\n"));
    files.push(("picture.png", "PNG"));
    repository(&files)
}

/// Imports of all kinds, each of another file.
const KINDS: &[(&str, &str)] = &[
    ("t/a.ts", "export const a = 1;\n"),
    ("t/b.ts", "export type B = 1;\n"),
    ("t/c.ts", "export {};\n"),
    ("t/d.ts", "export {};\n"),
    ("t/e.ts", "export {};\n"),
    ("t/f.ts", "export {};\n"),
    ("t/g.ts", "export {};\n"),
    ("t/h.ts", "export {};\n"),
    ("t/i.ts", "export {};\n"),
    (
        "main.ts",
        "import { a } from './t/a';\nimport type { B } from './t/b';\nexport * from './t/c';\nconst d = import('./t/d');\n\
         const e = require('./t/e');\nvi.mock('./t/f');\nnew URL('./t/g.ts', import.meta.url);\nrequire.resolve('./t/h');\n\
         import './main';\n",
    ),
    ("script.js", "/** @type {import('./t/i').I} */\nlet i;\n"),
    (
        "worker.py",
        "import importlib\nimport helper\nimportlib.import_module('late')\n",
    ),
    ("helper.py", ""),
    ("late.py", ""),
];

#[test]
fn tab_separated_lines_are_sorted_and_a_tab_in_a_name_is_escaped() {
    let (_temp, repo) = nasty();
    let printed = graph(repo.path(), &[]);
    assert_eq!(printed, graph(repo.path(), &["--format", "tsv"]));
    assert!(printed.lines().all(|line| line.matches('\t').count() == 1), "{printed}");
    insta::assert_snapshot!(printed);
}

#[test]
fn json_has_all_files_with_their_kinds() {
    let (_temp, repo) = nasty();
    let printed = graph(repo.path(), &["--format", "json"]);
    let parsed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(parsed["version"], repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(parsed["nodes"].as_array().unwrap().len(), NASTY.len() + 4);
    insta::assert_snapshot!(printed);
}

#[test]
fn mermaid_keeps_names_from_being_read_as_its_own_signs() {
    let (_temp, repo) = nasty();
    insta::assert_snapshot!(graph(repo.path(), &["--format", "mermaid"]));
}

#[test]
fn dot_is_read_by_graphviz() {
    let (_temp, repo) = nasty();
    let printed = graph(repo.path(), &["--format", "dot"]);
    insta::assert_snapshot!(printed);
    let started = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut dot) = started else {
        return coord_test_support::skipping::skip("the program dot is not installed (Debian package graphviz)");
    };
    dot.stdin.take().unwrap().write_all(printed.as_bytes()).unwrap();
    let output = dot.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let picture = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        picture.matches("class=\"edge\"").count(),
        printed.matches(" -> ").count()
    );
}

#[test]
fn kinds_that_are_not_the_languages_own_are_printed_on_demand() {
    let (_temp, repo) = repository(KINDS);
    let core = graph(repo.path(), &[]);
    assert_eq!(core, graph(repo.path(), &["--kinds", "core"]));
    let all = graph(repo.path(), &["--kinds", "all"]);
    insta::assert_snapshot!(format!("core:\n{core}\nall:\n{all}"));
    insta::assert_snapshot!(
        "kinds_in_json",
        graph(repo.path(), &["--kinds", "all", "--format", "json"])
    );
}

#[test]
fn a_graph_without_edges_is_printed_in_every_format() {
    let (_temp, repo) = repository(&[("a.ts", "")]);
    for (format, expected) in [("tsv", ""), ("mermaid", "flowchart LR\n")] {
        assert_eq!(graph(repo.path(), &["--format", format]), expected);
    }
    assert!(graph(repo.path(), &["--format", "dot"]).ends_with("];\n}\n"));
    let json: serde_json::Value = serde_json::from_str(&graph(repo.path(), &["--format", "json"])).unwrap();
    assert_eq!(json["edges"], serde_json::json!([]));
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let (_temp, repo) = repository(&[("a.ts", "")]);
    let excluded = "cannot be used with";
    for (arguments, why) in [
        (&["--stats", "--explain", "a.ts"][..], excluded),
        (&["--stats", "--cycles"], excluded),
        (&["--focus", "a.ts", "--cycles"], excluded),
        (&["--explain", "a.ts", "--format", "dot"], excluded),
        (&["--explain", "a.ts", "--kinds", "all"], excluded),
        (&["--format", "xml"], "[possible values: tsv, json, dot, mermaid]"),
        (&["--kinds", "some"], "[possible values: core, all]"),
    ] {
        assert!(refusal(repo.path(), arguments).contains(why), "{arguments:?}");
    }
}

/// As in `coord graph | head -1`: far more output than a pipe holds, and nobody to read it.
#[test]
fn output_into_a_closed_pipe_is_no_failure() {
    let long = "long".repeat(40);
    let imports: String = (0..1000)
        .map(|number| format!("import './{long}/{number}';\n"))
        .collect();
    let names: Vec<String> = (0..1000).map(|number| format!("{long}/{number}.ts")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    files.push(("main.ts", &imports));
    let (_temp, repo) = repository(&files);
    let printed = graph(repo.path(), &[]);
    assert!(printed.len() > 100_000);
    let mut child = command(repo.path(), &[]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    // A reader that leaves in the middle.
    let mut child = command(repo.path(), &[]).spawn().unwrap();
    let mut first = [0; 10];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    // time: the command fills the pipe.
    thread::sleep(Duration::from_millis(50));
    drop(child.stdout.take());
    assert!(child.wait_with_output().unwrap().status.success());
    // And a disk that is full is one.
    let mut full = command(repo.path(), &[]);
    full.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let ran = run(full);
    assert!(
        !ran.succeeded && ran.stderr.contains("the output cannot be written"),
        "{ran:?}"
    );
}
