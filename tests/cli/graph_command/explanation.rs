//! `--explain`: where each import of one file leads.

use std::fs;

use coord_test_support::git::Repo;
use tempfile::TempDir;

use crate::graph_command::running::{graph, refusal, repository};

fn project() -> (TempDir, Repo) {
    repository(&[
        (
            "tsconfig.json",
            r##"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"##,
        ),
        (
            "package.json",
            r##"{"name": "shop", "imports": {"#db": "./src/db.ts"}, "dependencies": {"react": "19"}}"##,
        ),
        (
            "src/app.ts",
            "import fs from 'node:fs';\nimport React from 'react';\nimport { db } from './db';\nimport type { T } from '@/types';\n\
             import './missing';\nimport '@/gone';\nimport './app';\nexport * from '#db';\nimport '#nothing';\n\
             const page = import('./page.js');\nconst odd = require('');\nimport '../../outside';\nimport './data.json?raw';\n\
             import 'https://example.com/x.js';\nimport 'tab\\there';\nvi.mock('./db');\nimport '@unknown/package';\n",
        ),
        ("src/db.ts", "import './types';\nexport const db = 1;\n"),
        ("src/types.ts", "export type T = 1;\n"),
        ("src/page.ts", "import { db } from '@/db';\n"),
        ("src/data.json", "{}\n"),
        ("src/quiet.ts", "export {};\n"),
        (
            "tool/run.py",
            "import os, helper\nfrom . import sibling\nfrom .gone import x\nimport requests\n",
        ),
        ("tool/helper.py", ""),
        ("tool/sibling.py", ""),
        ("tool/__init__.py", ""),
        ("README.md", "import './src/db'\n"),
    ])
}

#[test]
fn each_specifier_has_its_line_its_kind_and_where_it_leads_or_why_nowhere() {
    let (_temp, repo) = project();
    insta::assert_snapshot!(graph(repo.path(), &["--explain", "src/app.ts"]));
}

#[test]
fn an_explanation_of_python_names_the_imported_name() {
    let (_temp, repo) = project();
    insta::assert_snapshot!(graph(repo.path(), &["--explain", "tool/run.py"]));
}

#[test]
fn importers_are_listed_and_files_without_imports_are_explained() {
    let (_temp, repo) = project();
    let explained = |file| graph(repo.path(), &["--explain", file]);
    insta::assert_snapshot!(
        ["src/db.ts", "src/quiet.ts", "README.md", "src/data.json"]
            .map(explained)
            .join("\n")
    );
}

#[test]
fn a_name_with_a_control_character_is_shown_escaped() {
    let (_temp, repo) = repository(&[("a.ts", "import './b\\rc';\n"), ("b\rc.ts", "")]);
    let [importer, imported] = ["a.ts", "b\rc.ts"].map(|file| graph(repo.path(), &["--explain", file]));
    assert!(importer.contains("-> b\\rc.ts\n"), "{importer:?}");
    assert!(imported.starts_with("b\\rc.ts: typescript"), "{imported:?}");
    assert!(!importer.contains('\r') && !imported.contains('\r'));
}

#[test]
fn a_file_is_named_from_the_root_from_the_current_folder_or_from_the_named_one() {
    let (temp, repo) = project();
    let expected = graph(repo.path(), &["--explain", "src/db.ts"]);
    let inside = repo.path().join("src");
    let absolute = inside.join("db.ts");
    for (folder, arguments) in [
        (repo.path(), &["--explain", "./src/db.ts"][..]),
        (&inside, &["--explain", "db.ts"]),
        (&inside, &["--explain", "./db.ts"]),
        (&inside, &["--explain", "../src/db.ts"]),
        (&inside, &["--explain", "src/db.ts"]),
        (&repo.path().join("tool"), &["--explain", "../src/db.ts"]),
        (temp.path(), &["--repo", "repo", "--explain", "src/db.ts"]),
        (temp.path(), &["--repo", "repo", "--explain", "repo/src/db.ts"]),
        (temp.path(), &["--repo", "repo/src", "--explain", "db.ts"]),
        (
            temp.path(),
            &["--repo", "repo", "--explain", absolute.to_str().unwrap()],
        ),
    ] {
        assert_eq!(
            graph(folder, arguments),
            expected,
            "{arguments:?} in {}",
            folder.display()
        );
    }
    // The graph is that of the commit: a file that is gone from the disk is still in it.
    fs::remove_file(&absolute).unwrap();
    assert_eq!(graph(&inside, &["--explain", "db.ts"]), expected);
}

#[test]
fn a_file_that_is_not_in_the_commit_is_refused() {
    let (_temp, repo) = project();
    let head = repo.git(&["rev-parse", "HEAD"]);
    fs::write(repo.path().join("src/new.ts"), "").unwrap();
    for file in [
        "src/new.ts",
        "src/nothing.ts",
        "src",
        "../repo",
        "/etc/passwd",
        "",
        ".",
        "SRC/db.ts",
    ] {
        let message = refusal(repo.path(), &["--explain", file]);
        let expected = format!("{file} is not among the files of commit {}", &head[..7]);
        assert!(message.contains(&expected), "{file}: {message}");
    }
}

#[test]
fn a_file_is_explained_as_it_was_at_a_revision() {
    let (_temp, repo) = project();
    repo.commit(&[("src/db.ts", "import './quiet';\n")]);
    let (quiet, types) = ("-> src/quiet.ts", "-> src/types.ts");
    for (revision, present, absent) in [(&[][..], quiet, types), (&["--rev", "HEAD~1"], types, quiet)] {
        let explained = graph(repo.path(), &[&["--explain", "src/db.ts"], revision].concat());
        assert!(
            explained.contains(present) && !explained.contains(absent),
            "{revision:?}: {explained}"
        );
    }
}
