use coord_graph::{Reason, Resolution};

use super::repository::{cold, edges_of, repository, target};

const PACKAGE: (&str, &str) = ("Cargo.toml", "[package]\nname = \"me\"\nedition = \"2024\"\n");

/// The edges of the file at `from` in a package.
fn targets(files: &[(&str, &str)], from: &str) -> Vec<String> {
    let all: Vec<(&str, &str)> = files.iter().copied().chain([PACKAGE]).collect();
    super::repository::targets(&all, from)
}

#[test]
fn a_mod_leads_to_the_file_beside_or_in_a_folder() {
    for (declaration, from, file) in [
        ("mod a;", "src/lib.rs", "src/a.rs"),
        ("mod a;", "src/lib.rs", "src/a/mod.rs"),
        ("mod a;", "src/main.rs", "src/a.rs"),
        ("mod a;", "src/bin/tool.rs", "src/bin/a.rs"),
        ("mod a;", "src/bin/tool/main.rs", "src/bin/tool/a.rs"),
        ("mod a;", "tests/t.rs", "tests/a/mod.rs"),
        ("mod a { mod b; }", "src/lib.rs", "src/a/b.rs"),
        ("#[path = \"x/y.rs\"] mod a;", "src/lib.rs", "src/x/y.rs"),
        ("mod a { #[path = \"x.rs\"] mod b; }", "src/lib.rs", "src/a/x.rs"),
    ] {
        assert_eq!(
            targets(&[(from, declaration), (file, "")], from),
            [file],
            "{declaration}"
        );
    }
    let nested = [
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", "mod b;"),
        ("src/a/b.rs", ""),
        ("src/b.rs", ""),
    ];
    assert_eq!(targets(&nested, "src/a.rs"), ["src/a/b.rs"]);
    // A file that `#[path]` names has its modules beside it.
    let elsewhere = [
        ("src/lib.rs", "#[path = \"x/y.rs\"] mod a;"),
        ("src/x/y.rs", "mod b;"),
        ("src/x/b.rs", ""),
    ];
    assert_eq!(targets(&elsewhere, "src/x/y.rs"), ["src/x/b.rs"]);
    let platforms = "#[cfg(unix)] #[path = \"u.rs\"] mod a; #[cfg(windows)] #[path = \"w.rs\"] mod a; use a::F;";
    assert_eq!(
        targets(
            &[("src/lib.rs", platforms), ("src/u.rs", ""), ("src/w.rs", "")],
            "src/lib.rs"
        ),
        ["src/u.rs", "src/w.rs"]
    );
}

// rule: languages#rust
#[test]
fn a_path_leads_to_the_file_of_the_deepest_module_it_names() {
    let tree = [
        (
            "src/lib.rs",
            "mod a; mod c; pub mod inline { pub mod d; pub struct E; }",
        ),
        ("src/a.rs", "pub mod b; pub use b::X;"),
        ("src/a/b.rs", ""),
        ("src/inline/d.rs", ""),
    ];
    for (text, expected) in [
        ("use crate::a;", &["src/a.rs"][..]),
        ("use crate::a::b::X;", &["src/a/b.rs"]),
        ("use crate::a::{self, X, b::{Y, Z}};", &["src/a.rs", "src/a/b.rs"]),
        ("use super::a::*;", &["src/a.rs"]),
        ("use super::X;", &["src/lib.rs"]),
        ("use crate::inline::d::X;", &["src/inline/d.rs"]),
        ("use crate::inline::E;", &["src/lib.rs"]),
        ("use super::inline::d;", &["src/inline/d.rs"]),
        ("fn f() { crate::a::b::g() }", &["src/a/b.rs"]),
        ("fn f() { crate::a::b() }", &["src/a.rs"]),
        ("use crate::a as z; fn f() { z::b::g() }", &["src/a.rs", "src/a/b.rs"]),
        ("mod t { use super::super::a::X; }", &["src/a.rs"]),
        ("use self::nothing::X; use serde::Y; use std::fmt;", &[]),
    ] {
        let mut files = tree.to_vec();
        files.push(("src/c.rs", text));
        assert_eq!(targets(&files, "src/c.rs"), expected, "{text}");
    }
}

#[test]
fn a_module_of_several_crates_resolves_in_each_crate() {
    let files = [
        ("src/lib.rs", "mod m;"),
        ("src/main.rs", "mod m; mod only;"),
        ("src/m.rs", "use crate::X; use super::Y;"),
        ("src/only.rs", "use crate::X; use me::Z;"),
    ];
    assert_eq!(targets(&files, "src/m.rs"), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(targets(&files, "src/only.rs"), ["src/lib.rs", "src/main.rs"]);
    let explained = cold(&repository(&files));
    let explained = explained.explain("src/m.rs").unwrap();
    let lines: Vec<&str> = explained.iter().map(|(specifier, _)| specifier.text.as_str()).collect();
    assert_eq!(
        lines,
        ["crate", "super", "super"].map(|text| if text == "crate" { "crate::X" } else { "super::Y" })
    );
    assert!(
        explained
            .iter()
            .all(|(_, outcome)| matches!(outcome, Resolution::File(_)))
    );
}

#[test]
fn names_of_other_packages_are_their_libraries() {
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"*\"]\npackage.edition = \"2021\"\n[workspace.dependencies]\nmy-b = { path = \"b\" }\n\
             [patch.crates-io]\nd = { path = \"d\" }\n",
        ),
        (
            "a/Cargo.toml",
            "[package]\nname = \"a\"\nedition.workspace = true\n[dependencies]\nmy-b.workspace = true\nd = \"1\"\n\
             [target.'cfg(unix)'.dev-dependencies]\nother-c = { path = \"../c\", package = \"c\" }\n",
        ),
        (
            "a/src/main.rs",
            "use my_b::m::X; use other_c::Y; fn f() { real_d::g(); b::no(); c::no(); }",
        ),
        ("b/Cargo.toml", "[package]\nname = \"my-b\"\n"),
        ("b/src/lib.rs", "pub mod m;"),
        ("b/src/m.rs", ""),
        ("c/Cargo.toml", "[package]\nname = \"c\"\n[lib]\npath = \"lib.rs\"\n"),
        ("c/lib.rs", ""),
        ("d/Cargo.toml", "[package]\nname = \"d\"\n[lib]\nname = \"real_d\"\n"),
        ("d/src/lib.rs", ""),
    ];
    let found = edges_of(&files);
    assert_eq!(
        found,
        [
            "a/src/main.rs -> b/src/m.rs",
            "a/src/main.rs -> c/lib.rs",
            "a/src/main.rs -> d/src/lib.rs",
            "b/src/lib.rs -> b/src/m.rs",
        ]
    );
}

#[test]
fn a_target_outside_the_folder_of_its_package_knows_the_dependencies_of_that_package() {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"me\"\nedition = \"2015\"\n[dependencies]\nb = { path = \"b\" }\n",
        ),
        ("src/lib.rs", "pub mod own;"),
        ("src/own.rs", ""),
        (
            "a/Cargo.toml",
            "[package]\nname = \"a\"\nedition = \"2024\"\n[[test]]\nname = \"t\"\npath = \"../checks/main.rs\"\n\
             [[test]]\nname = \"both\"\npath = \"../tests/both.rs\"\n[dev-dependencies]\nc = { path = \"../c\" }\n",
        ),
        ("checks/main.rs", "mod part; use b::no; use me::no;"),
        ("checks/part.rs", "use c::m::X; use crate::Y;"),
        // A target of both packages: of one because of its folder.
        ("tests/both.rs", "use c::m::X; use me::own; use b::m::X;"),
        ("tests/alone.rs", "use c::m::X; use b::m::X;"),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ("b/src/lib.rs", "pub mod m;"),
        ("b/src/m.rs", ""),
        ("c/Cargo.toml", "[package]\nname = \"c\"\n"),
        ("c/src/lib.rs", "pub mod m;"),
        // A file of two crates, of packages with different dependencies.
        ("c/src/m.rs", "#[path = \"../../shared.rs\"] mod shared;"),
        ("b/build.rs", "#[path = \"../shared.rs\"] mod shared;"),
        ("shared.rs", "use b::m::X; use c::m::Y;"),
    ];
    let found = edges_of(&files);
    assert_eq!(
        found,
        [
            "b/build.rs -> shared.rs",
            "b/src/lib.rs -> b/src/m.rs",
            "c/src/lib.rs -> c/src/m.rs",
            "c/src/m.rs -> shared.rs",
            "checks/main.rs -> checks/part.rs",
            "checks/part.rs -> c/src/m.rs",
            "checks/part.rs -> checks/main.rs",
            "shared.rs -> b/src/m.rs",
            "shared.rs -> c/src/m.rs",
            "src/lib.rs -> src/own.rs",
            "tests/alone.rs -> b/src/m.rs",
            "tests/both.rs -> b/src/m.rs",
            "tests/both.rs -> c/src/m.rs",
            "tests/both.rs -> src/own.rs",
        ]
    );
}

#[test]
fn another_name_that_the_root_gives_to_a_crate_counts_in_all_of_its_files() {
    for edition in ["2015", "2018", "2024"] {
        let manifest =
            format!("[package]\nname = \"me\"\nedition = \"{edition}\"\n[dependencies]\ndep = {{ path = \"dep\" }}\n");
        let files = [
            ("Cargo.toml", manifest.as_str()),
            (
                "src/lib.rs",
                "#[macro_use] extern crate dep as d; extern crate self as own; mod m; mod n;",
            ),
            ("src/m.rs", "use d::sub::X; use own::n::Y; fn f() { ::d::g() }"),
            ("src/n.rs", ""),
            ("src/main.rs", "use d::sub::X; mod m2;"),
            ("src/m2.rs", "extern crate dep as e; use e::sub::Z;"),
            ("dep/Cargo.toml", "[package]\nname = \"dep\"\n"),
            ("dep/src/lib.rs", "pub mod sub;"),
            ("dep/src/sub.rs", ""),
        ];
        let found = edges_of(&files);
        let of = |from: &str| -> Vec<&str> {
            let own = found.iter().filter_map(|edge| edge.split_once(" -> "));
            own.filter(|(source, _)| *source == from)
                .map(|(_, target)| target)
                .collect()
        };
        assert_eq!(
            of("src/lib.rs"),
            ["dep/src/lib.rs", "src/m.rs", "src/n.rs"],
            "{edition}"
        );
        assert_eq!(
            of("src/m.rs"),
            ["dep/src/lib.rs", "dep/src/sub.rs", "src/n.rs"],
            "{edition}"
        );
        // Not of another crate of the package, and not by a name from elsewhere than the root.
        assert_eq!(of("src/main.rs"), ["src/m2.rs"], "{edition}");
        assert!(of("src/m2.rs").contains(&"dep/src/lib.rs"), "{edition}");
    }
}

#[test]
fn the_rules_of_a_macro_resolve_in_the_crate_of_the_macro() {
    let files = [
        ("src/lib.rs", "mod a; mod m;"),
        ("src/a.rs", ""),
        ("src/m.rs", "macro_rules! m { () => { $crate::a::f(); $crate::g() } }"),
    ];
    assert_eq!(targets(&files, "src/m.rs"), ["src/a.rs", "src/lib.rs"]);
}

#[test]
fn paths_of_use_begin_at_the_root_in_the_edition_of_2015() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"old\"\n"),
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use b::X; use ::b::Y; mod b;"),
        ("src/a/b.rs", ""),
        ("src/b.rs", ""),
    ];
    let found = edges_of(&files);
    assert!(found.contains(&"src/a.rs -> src/b.rs".to_owned()), "{found:?}");
}

#[test]
fn included_files_are_relative_to_the_file() {
    let included = "include!(\"x.rs\"); const A: &str = include_str!(\"../a.txt\");";
    let files = [("src/lib.rs", included), ("src/x.rs", ""), ("a.txt", "")];
    assert_eq!(targets(&files, "src/lib.rs"), ["a.txt", "src/x.rs"]);
}

#[test]
fn an_unresolved_import_has_a_reason() {
    for (text, reason) in [
        ("mod missing;", Reason::Missing),
        ("#[path = \"../../../x.rs\"] mod a;", Reason::OutsideRepository),
        ("use serde::X;", Reason::External),
        ("use super::X;", Reason::Missing),
        ("include!(\"../../x.rs\");", Reason::OutsideRepository),
    ] {
        assert_eq!(
            target(&[("src/lib.rs", text), PACKAGE], "src/lib.rs"),
            Err(reason),
            "{text}"
        );
    }
}

#[test]
fn modules_in_a_circle_and_broken_manifests_end() {
    let files = [
        ("Cargo.toml", "[package\nname = \"me\""),
        (
            "a/Cargo.toml",
            "[package]\nname = 1\nedition = []\nbuild = {}\n[lib]\npath = [\"x\"]\n[dependencies]\na = { path = \"../../..\" }\n",
        ),
        (
            "a/src/lib.rs",
            "#[path = \"lib.rs\"] mod a; #[path = \"b.rs\"] mod b; use a::a::a::b::b::X;",
        ),
        ("a/src/b.rs", "#[path = \"lib.rs\"] mod b; use super::super::super::X;"),
    ];
    let found = edges_of(&files);
    assert_eq!(found, ["a/src/b.rs -> a/src/lib.rs", "a/src/lib.rs -> a/src/b.rs"]);
}

// rule: languages#rust
#[test]
fn a_file_outside_every_crate_resolves_what_its_location_allows() {
    let files = [
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", ""),
        ("src/new.rs", "use crate::a::X; mod sub;"),
        ("src/new/sub.rs", ""),
    ];
    assert_eq!(targets(&files, "src/new.rs"), ["src/a.rs", "src/new/sub.rs"]);
    for (from, text, around, expected) in [
        ("src/x/new.rs", "use super::Y;", "src/x.rs", &["src/x.rs"][..]),
        ("src/x/new.rs", "use super::Y;", "src/x/mod.rs", &["src/x/mod.rs"]),
        ("src/x/new/mod.rs", "use super::Y;", "src/x/mod.rs", &["src/x/mod.rs"]),
        ("src/new.rs", "use super::Y;", "src/main.rs", &["src/main.rs"]),
        (
            "src/bin/t/new.rs",
            "use crate::Y;",
            "src/bin/t/main.rs",
            &["src/bin/t/main.rs"],
        ),
        (
            "tests/t/new.rs",
            "use crate::Y; use super::super::Z;",
            "tests/t/main.rs",
            &["tests/t/main.rs"],
        ),
        ("tests/ui/new.rs", "use crate::Y; use super::Z;", "tests/t.rs", &[]),
    ] {
        assert_eq!(targets(&[(from, text), (around, "")], from), expected, "{from}: {text}");
    }
}
