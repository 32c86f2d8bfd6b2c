use coord_graph::{Reason, Resolution};

use super::repository::{cold, edges_of, repository, target, targets};

const MODULE: (&str, &str) = ("go.mod", "module e.com/m\n");

// rule: languages#go
#[test]
fn an_import_leads_to_every_file_of_the_package_but_tests_and_what_no_build_takes() {
    let files = [
        MODULE,
        ("main.go", "package main\nimport \"e.com/m/p\"\n"),
        ("p/a.go", "package p\n"),
        ("p/b_windows.go", "//go:build windows\n\npackage p\n"),
        ("p/a_test.go", "package p\n"),
        ("p/gen.go", "//go:build ignore\n\npackage main\nimport \"e.com/m/q\"\n"),
        ("p/doc.go", "package documentation\nimport \"e.com/m/q\"\n"),
        ("p/_x.go", "package p\n"),
        ("p/.y.go", "package p\n"),
        ("p/z.s", ""),
        ("p/sub/c.go", "package sub\n"),
        ("q/q.go", "package q\n"),
    ];
    assert_eq!(targets(&files, "main.go"), ["p/a.go", "p/b_windows.go"]);
    assert_eq!(targets(&files, "p/gen.go"), ["q/q.go"]);
    assert_eq!(targets(&files, "p/doc.go"), ["q/q.go"]);
    let snapshot = cold(&repository(&files));
    let explained = snapshot.explain("main.go").unwrap();
    assert_eq!(explained.len(), 2);
    assert!(
        explained
            .iter()
            .all(|(one, to)| one.text == "e.com/m/p" && matches!(to, Resolution::File(_)))
    );
}

#[test]
fn a_test_outside_its_package_imports_it() {
    let files = [
        MODULE,
        ("p/a.go", "package p\n"),
        ("p/a_test.go", "package p_test\nimport \"e.com/m/p\"\n"),
    ];
    assert_eq!(targets(&files, "p/a_test.go"), ["p/a.go"]);
}

#[test]
fn modules_see_what_they_replace_use_and_vendor() {
    let files = [
        ("a/go.mod", "module e.com/a\nreplace e.com/b => ../b\n"),
        (
            "a/a.go",
            "package a\nimport (\n\"e.com/b\"\n\"e.com/b/v2/x\"\n\"e.com/c\"\n\"d.org/d\"\n\"e.com/ab\"\n)\n",
        ),
        ("a/vendor/d.org/d/d.go", "package d\nimport \"e.com/b\"\n"),
        ("b/go.mod", "module e.com/b\n"),
        ("b/b.go", "package b\nimport \"e.com/c\"\n"),
        ("b/v2/go.mod", "module e.com/b/v2\n"),
        ("b/v2/x/x.go", "package x\n"),
        ("c/go.mod", "module e.com/c\n"),
        ("c/c.go", "package c\nimport \"e.com/b/v2/x\"\n"),
        ("go.work", "use (\n\t./b // one\n\t./c\n)\nuse ./b/v2\n"),
    ];
    assert_eq!(targets(&files, "a/a.go"), ["a/vendor/d.org/d/d.go", "b/b.go"]);
    assert_eq!(targets(&files, "a/vendor/d.org/d/d.go"), ["b/b.go"]);
    assert_eq!(targets(&files, "b/b.go"), ["c/c.go"]);
    assert_eq!(targets(&files, "c/c.go"), ["b/v2/x/x.go"]);
}

#[test]
fn the_standard_library_is_found_where_it_is_the_repository() {
    let files = [
        ("src/go.mod", "module std\n"),
        ("src/fmt/print.go", "package fmt\nimport \"golang.org/x/n\"\n"),
        ("src/vendor/golang.org/x/n/n.go", "package n\n"),
        ("src/cmd/go.mod", "module cmd\n"),
        ("src/cmd/x/x.go", "package x\nimport \"fmt\"\n"),
        ("misc/go.mod", "module misc\n"),
        ("misc/m.go", "package m\nimport \"fmt\"\n"),
    ];
    assert_eq!(targets(&files, "src/cmd/x/x.go"), ["src/fmt/print.go"]);
    assert_eq!(targets(&files, "src/fmt/print.go"), ["src/vendor/golang.org/x/n/n.go"]);
    assert!(targets(&files, "misc/m.go").is_empty());
}

#[test]
fn an_unresolved_import_has_a_reason() {
    for (path, reason) in [
        ("fmt", Reason::External),
        ("C", Reason::External),
        ("e.com/m/none", Reason::Missing),
        ("e.com/mine", Reason::External),
        ("", Reason::Invalid),
        ("e.com/m/../m", Reason::Invalid),
        ("../../x", Reason::OutsideRepository),
        ("./none", Reason::Missing),
    ] {
        let text = format!("package m\nimport {path:?}\n");
        assert_eq!(target(&[MODULE, ("p/a.go", &text)], "p/a.go"), Err(reason), "{path:?}");
    }
}

#[test]
fn broken_manifests_end() {
    let files = [
        ("go.mod", "module\nreplace e.com/x => ../..\nreplace ( ( (\n"),
        ("go.work", "use ../..\nuse .\nuse (\n"),
        (
            "x/go.mod",
            "module e.com/x\nreplace e.com/x => ./y\nreplace e.com/y => ../x\n",
        ),
        ("x/a.go", "package x\nimport \"e.com/x\"\nimport \"e.com/y\"\n"),
    ];
    assert!(edges_of(&files).is_empty());
}
