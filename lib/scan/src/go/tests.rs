use crate::import_kind::ImportKind;
use crate::language::Language;
use crate::scan;

fn found(text: &str) -> Vec<String> {
    let tell = |kind: ImportKind, text: String| match kind {
        ImportKind::Constraint => format!("! {text}"),
        _ => text,
    };
    scan(Language::Go, text.as_bytes())
        .into_iter()
        .map(|one| tell(one.kind, one.text))
        .collect()
}

#[test]
fn imports_are_found_in_every_form() {
    for (text, expected) in [
        ("package a\nimport \"fmt\"\n", &["fmt"][..]),
        (
            "package a; import \"b\"; import (\"c\"; d \"e/f\"\n. \"g\"\n_ `h`\n)\nfunc main() {}",
            &["b", "c", "e/f", "g", "h"],
        ),
        (
            "// c\n/* package x */ package a /* y */\n\nimport /* z */ (\n\t// \"no\"\n\t\"b\" // c\n)\n",
            &["b"],
        ),
        ("package a\nimport ()\nimport \"b\"", &["b"]),
        (
            "package a\nimport \"C\"\nvar x = `\nimport \"no\"\n`\nimport \"no\"",
            &["C"],
        ),
        ("\u{feff}package a\nimport \u{e9}t\u{e9} \"b\"", &["b"]),
        ("package a\r\nimport (\r\n\t\"b\"\r\n\t\"c\"\r\n)\r\n", &["b", "c"]),
        ("package a\nimport \"b", &[]),
        ("package a\nimport (\"b\"", &["b"]),
        ("package a\nimport (\"b\" + \"c\")", &["b"]),
        ("package a\nimport \"b\"\nimport c \"b\"", &["b"]),
        ("import \"b\"", &[]),
        ("package a\nimport \"a\\x62\"\nimport \"c\"", &["c"]),
        ("", &[]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn a_file_with_an_ignore_constraint_is_marked_ignored() {
    for (header, is_ignored) in [
        ("//go:build ignore\n\n", true),
        ("// Copyright\n\n//go:build ignore\n// +build ignore\n\n// Doc.\n", true),
        ("// +build ignore\n\n", true),
        ("// +build ignore\n", false),
        ("// +build linux,ignore ignore\n\n", true),
        ("// +build linux ignore\n\n", false),
        ("// +build linux\n// +build ignore\n\n", true),
        ("//go:build linux && ignore\n", true),
        ("//go:build linux || ignore\n", false),
        ("//go:build !ignore\n", false),
        ("//go:build !(linux || !ignore)\n", true),
        ("//go:build (ignore\n", false),
        ("//go:build ignored\n", false),
        ("/*\n//go:build ignore\n*/\n", false),
        ("/* x */\n//go:build ignore\n", true),
        ("//go:build\tignore\n", true),
        ("  //go:build ignore\n", true),
        ("//go:buildignore\n", false),
        ("// go:build ignore\n", false),
        ("//go:build linux\n// +build ignore\n\n", false),
        ("//go:build !!ignore\n", false),
        ("//go:build ignore\n//go:build linux\n", false),
        ("//+build ignore\n\n", true),
        ("//\t+build\tignore\n\n", true),
        ("/* x */\n// +build ignore\n\n", false),
        ("// +build ignore\n\n/* x */\n", true),
        ("// +build ignore\n/* x */\n\n", false),
        ("/* x */ /* y\n*/ /* z\n//go:build ignore\n*/\n", false),
        ("/* x\n*/ // y /*\n//go:build ignore\n", true),
        ("// about build ignore\n", false),
    ] {
        let expected: &[&str] = if is_ignored { &["! ignore", "b"] } else { &["b"] };
        assert_eq!(found(&format!("{header}package a\nimport \"b\"")), expected, "{header}");
    }
    assert_eq!(found("package documentation\nimport \"b\""), ["! documentation", "b"]);
    assert_eq!(found("//go:build ignore\npackage documentation"), ["! ignore"]);
    assert_eq!(found("package documentation_test\nimport \"b\""), ["b"]);
    let deep = format!("//go:build {}ignore\npackage a\nimport \"b\"", "!(".repeat(100_000));
    assert_eq!(found(&deep), ["b"]);
}
