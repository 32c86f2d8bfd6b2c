//! No repository can make a build panic or hang.

use std::sync::Arc;

use coord_graph::{Limits, Previous, Reason};
use coord_scan::FileState;
use proptest::prelude::*;

use super::repository::{Repository, cold, edges, everything, repository, snapshot_after, snapshot_within, target};

#[test]
fn configs_that_extend_each_other_in_a_circle_end() {
    let files = [
        (
            "tsconfig.json",
            r#"{"extends": "./tsconfig.b.json", "references": [{"path": "."}, {"path": "./tsconfig.b.json"}]}"#,
        ),
        (
            "tsconfig.b.json",
            r#"{"extends": ["./tsconfig.json", "./tsconfig.b.json"], "compilerOptions": {"baseUrl": "."}, "references": [{"path": "."}]}"#,
        ),
        ("src/a.ts", "import 'src/b'"),
        ("src/b.ts", ""),
    ];
    assert_eq!(target(&files, "src/a.ts"), Ok("src/b.ts".to_owned()));
}

#[test]
fn extends_that_double_at_each_step_end() {
    let mut files = Repository::new();
    for number in 0..40 {
        let next = format!("./tsconfig.{}.json", number + 1);
        files.insert(
            format!("tsconfig.{number}.json"),
            format!(r#"{{"extends": ["{next}", "{next}"]}}"#),
        );
    }
    files.insert(
        "tsconfig.json".to_owned(),
        r#"{"extends": "./tsconfig.0.json"}"#.to_owned(),
    );
    files.insert("a.ts".to_owned(), "import './b'".to_owned());
    files.insert("b.ts".to_owned(), String::new());
    assert_eq!(edges(cold(&files).graph()), ["a.ts -> b.ts"]);
}

#[test]
fn packages_whose_main_is_another_package_in_a_circle_end() {
    let files = [
        ("x/package.json", r#"{"main": "../y"}"#),
        ("y/package.json", r#"{"main": "../x"}"#),
        ("z/package.json", r#"{"main": "."}"#),
        ("a.ts", "import './x'"),
        ("b.ts", "import './z'"),
    ];
    assert_eq!(target(&files, "a.ts"), Err(Reason::Missing));
    assert_eq!(target(&files, "b.ts"), Err(Reason::Missing));
}

#[test]
fn imports_that_name_themselves_end() {
    let files = [
        (
            "package.json",
            r##"{"name": "me", "workspaces": ["."], "imports": {"#a": "me/x"}, "exports": {"./x": "me/x"}}"##,
        ),
        ("a.ts", "import '#a'"),
    ];
    assert_eq!(target(&files, "a.ts"), Err(Reason::Missing));
}

#[test]
fn deep_and_wide_manifests_end() {
    let deep = format!("{}{}", r#"{"exports":"#.repeat(100_000), "}".repeat(100_000));
    let wide = format!(
        r#"{{"name": "w", "exports": {{".": [{}]}}}}"#,
        r#"{"import": "./no.js"},"#.repeat(20_000) + "null"
    );
    let globs = format!(
        r#"{{"workspaces": [{} "*"]}}"#,
        r#""**/*a*a*a*a*a*/**/*b*b*b*b*/**/c*","#.repeat(2_000)
    );
    let mut files = repository(&[
        ("deep/package.json", &deep),
        ("w/package.json", &wide),
        ("package.json", &globs),
        ("a.ts", "import 'w'; import './deep'"),
    ]);
    for number in 0..2_000 {
        let path = format!("{}{number}/package.json", "a/b/".repeat(20));
        files.insert(path, format!(r#"{{"name": "n{number}"}}"#));
    }
    assert!(edges(cold(&files).graph()).is_empty());
}

#[test]
fn a_path_with_a_newline_is_left_out() {
    let files = repository(&[("a\n.ts", "import './b'"), ("b.ts", "")]);
    let snapshot = cold(&files);
    assert_eq!(snapshot.graph().len(), 1);
    assert_eq!(snapshot.graph().edge_count(), 0);
}

proptest! {
    #[test]
    fn any_manifest_and_any_specifier_are_resolved_or_refused(
        package in "(?s).{0,60}",
        config in r#"\{"(extends|references|compilerOptions|include)": ["\[{]{0,2}.{0,40}\}"#,
        glob in r"[*?!./a{},]{0,20}",
        specifier in r"[@#./a-c?:*~\\é ]{0,16}",
        module in r"[.a-c_é]{1,12}",
    ) {
        let script = format!("import {specifier:?}; require({specifier:?}); new URL({specifier:?}, import.meta.url)");
        let root = format!(r##"{{"name": "a", "workspaces": [{glob:?}], "exports": {{{glob:?}: {specifier:?}}}, "imports": {{"#a": {glob:?}}}}}"##);
        let aliases = format!(r#"{{"compilerOptions": {{"paths": {{{glob:?}: [{glob:?}, {specifier:?}]}}, "baseUrl": {glob:?}}}, "include": [{glob:?}]}}"#);
        let python = format!("import {module}\nfrom {module} import a\nimport importlib\nimportlib.import_module({module:?})");
        cold(&repository(&[
            ("package.json", &root), ("a/package.json", &package), ("a/tsconfig.json", &config), ("tsconfig.json", &aliases),
            ("pnpm-workspace.yaml", &package), ("pyproject.toml", &config), ("a/a.ts", &script), ("b.ts", &script), ("a/b.py", &python),
            ("a/__init__.py", ""), ("b.py", &python),
        ]));
    }

    #[test]
    fn any_module_and_any_manifest_of_rust_and_go_are_resolved_or_refused(
        manifest in "(?s).{0,60}",
        value in r#"[a-c./\\"'{}\[\]= -]{0,16}"#,
        path in r"(crate|self|super|[a-c:*{},; ]){1,8}",
        folder in r"[./ac]{0,12}",
    ) {
        let cargo = format!("[package]\nname = \"a\"\n[lib]\npath = \"{folder}\"\n[dependencies]\nb = {{ path = \"{folder}\" }}\n[{value}]\n");
        let code = format!("mod a; #[path = \"{folder}\"] mod b; mod c {{ mod a; use super::{path}; }} use {path}; {path}::x(); include!(\"{folder}\");");
        let module = format!("module e.com/{folder}\nreplace e.com/a => ./{folder}\nuse {folder}\n{value}\n");
        let go = format!("package a\nimport \"e.com/{folder}\"; import {value:?}\nimport \"{folder}\"");
        cold(&repository(&[
            ("Cargo.toml", &cargo), ("a/Cargo.toml", &manifest), ("src/lib.rs", &code), ("src/a.rs", &code), ("a/src/main.rs", &code),
            ("go.mod", &module), ("a/go.mod", &manifest), ("go.work", &module), ("a/a.go", &go), ("b.go", &go), ("c/c.go", &go),
        ]));
    }
}

#[test]
fn packages_and_modules_that_multiply_stay_small() {
    let mut files = Repository::new();
    let imports: String = (0..2_000)
        .map(|number| format!("import \"e.com/{number}\"\n"))
        .collect();
    let replaces: String = (0..2_000)
        .map(|number| format!("replace e.com/{number} => ./p\n"))
        .collect();
    files.insert("go.mod".to_owned(), format!("module e.com\n{replaces}"));
    files.insert(
        "Cargo.toml".to_owned(),
        "[package]\nname = \"a\"\nedition = \"2021\"\n".to_owned(),
    );
    let shared: String = (0..100)
        .map(|number| format!("#[path = \"s{number}.rs\"] mod s;\n"))
        .collect();
    for number in 0..500 {
        files.insert(format!("p/{number}.go"), "package p\n".to_owned());
        files.insert(format!("m{number}.go"), format!("package m\n{imports}"));
    }
    for number in 0..100 {
        files.insert(format!("tests/t{number}.rs"), shared.clone());
        files.insert(format!("tests/s/{number}.rs"), "use super::super::super::x;".to_owned());
        files.insert(
            format!("tests/s{number}.rs"),
            "use crate::s::s; use super::s::s::s;".to_owned(),
        );
    }
    let snapshot = cold(&files);
    assert!(snapshot.graph().edge_count() >= 250_000);
}

#[test]
fn a_file_that_very_many_packages_have_as_a_root_stays_small() {
    let uses = "use d::x;\n".repeat(1_000);
    let mut files = repository(&[("shared.rs", &format!("mod m;\n{uses}")), ("m.rs", &uses)]);
    for number in 0..2_000 {
        files.insert(
            format!("p{number:04}/Cargo.toml"),
            format!(
                "[package]\nname = \"p{number}\"\n[[test]]\nname = \"t\"\npath = \"../shared.rs\"\n\
                 [dev-dependencies]\nd = {{ path = \"../d{number:04}\", package = \"e\" }}\n"
            ),
        );
        files.insert(
            format!("d{number:04}/Cargo.toml"),
            "[package]\nname = \"e\"\n".to_owned(),
        );
        files.insert(format!("d{number:04}/src/lib.rs"), String::new());
    }
    let found = edges(cold(&files).graph());
    let targets = |from: &str| {
        found
            .iter()
            .filter(|edge| edge.starts_with(from) && edge.contains("lib.rs"))
            .count()
    };
    assert_eq!((targets("shared.rs -> "), targets("m.rs -> ")), (32, 32));
}

/// The files that the graph reports as past a limit.
fn over_limit(graph: &coord_graph::ImportGraph) -> Vec<&str> {
    let over = graph.nodes().filter(|node| node.state == FileState::OverLimit);
    over.map(|node| node.path).collect()
}

#[test]
fn a_file_with_very_many_imports_keeps_the_first_and_is_marked_over_limit() {
    let many: String = (0..30_000).map(|number| format!("import './f{number}'\n")).collect();
    let long: String = (0..2_000).map(|number| format!("import '{number:02000}'\n")).collect();
    let repeated = "import './f1'\n".repeat(30_000);
    let mut files = repository(&[
        ("a.ts", &many),
        ("b.ts", &long),
        ("c.ts", "import './a'"),
        ("d.ts", &repeated),
        ("f1.ts", ""),
    ]);
    let snapshot = cold(&files);
    assert_eq!(over_limit(snapshot.graph()), ["a.ts", "b.ts"]);
    assert_eq!(
        edges(snapshot.graph()),
        ["a.ts -> f1.ts", "c.ts -> a.ts", "d.ts -> f1.ts"]
    );
    let kept: usize = snapshot.records().map(|(_, record)| record.specifiers.len()).sum();
    assert!((20_000..21_000).contains(&kept), "{kept}");
    // The file is not read again for that.
    files.insert("f1.ts".to_owned(), "import './c'".to_owned());
    let (next, read) = snapshot_after(Previous::Snapshot(snapshot), &files);
    assert_eq!(read, 1);
    assert_eq!(everything(&next), everything(&cold(&files)));
}

#[test]
fn imports_past_the_limit_of_the_graph_are_left_out_in_the_order_of_paths() {
    let three = "import './a'\nimport './b'\nimport './c'\n";
    let mut files = repository(&[("a.ts", three), ("b.ts", three), ("c.ts", three), ("d.ts", "")]);
    let limits = Limits {
        max_imports: 7,
        ..Limits::default()
    };
    let (snapshot, _) = snapshot_within(limits, Previous::Nothing, &files);
    assert_eq!(over_limit(snapshot.graph()), ["c.ts", "d.ts"]);
    files.insert("a.ts".to_owned(), String::new());
    let (next, _) = snapshot_within(limits, Previous::Snapshot(snapshot), &files);
    assert_eq!(over_limit(next.graph()), Vec::<&str>::new());
    let (fresh, _) = snapshot_within(limits, Previous::Nothing, &files);
    assert_eq!(everything(&next), everything(&fresh));
}

#[test]
fn bodies_beyond_the_memory_are_read_in_turns_without_loss() {
    // All files differ, and together they take two waves.
    let files: Repository = (0..30)
        .map(|number| {
            let imports: String = (0..19_000).map(|at| format!("import 'p{number}-{at}'\n")).collect();
            (format!("f{number:03}.ts"), imports)
        })
        .collect();
    let (snapshot, read) = snapshot_after(Previous::Nothing, &files);
    assert!(read > files.len(), "{read} were read: all of them in one wave");
    assert_eq!(snapshot.graph().unresolved(Reason::External), 30 * 19_000);
    assert!(over_limit(snapshot.graph()).is_empty());
}

#[test]
fn edges_that_packages_multiply_end_at_a_limit() {
    let mut files = Repository::new();
    files.insert("go.mod".to_owned(), "module e.com\n".to_owned());
    for number in 0..1_800 {
        files.insert(format!("p/{number:04}.go"), "package p\n".to_owned());
        files.insert(
            format!("q/{number:04}.go"),
            "package q\nimport \"e.com/p\"\n".to_owned(),
        );
    }
    let snapshot = cold(&files);
    let cut = 3_000_000 / 1_799;
    assert_eq!(snapshot.graph().edge_count(), cut * 1_800);
    let over = over_limit(snapshot.graph());
    assert_eq!((over.len(), over[0]), (1_800 - cut, "q/1667.go"));
    files.remove("p/0000.go");
    let (next, _) = snapshot_after(Previous::Snapshot(Arc::clone(&snapshot)), &files);
    assert_eq!(next.graph().edge_count(), cold(&files).graph().edge_count());
    assert_eq!(over_limit(next.graph()), over_limit(cold(&files).graph()));
}

#[test]
fn large_manifests_past_the_limit_resolve_nothing() {
    let targets = "null,".repeat(90_000);
    let files: Repository = (0..20)
        .map(|number| {
            let text = format!(r#"{{"name": "n{number}", "exports": [{targets} "./x.js"]}}"#);
            (format!("p{number:02}/package.json"), text)
        })
        .collect();
    let mut files = files;
    files.insert("p00/x.js".to_owned(), "import 'n0'".to_owned());
    assert!(edges(cold(&files).graph()).is_empty());
    let large: Repository = (0..40)
        .map(|number| {
            (
                format!("p{number:02}/package.json"),
                format!("{{\"name\": \"{}\"}}", "n".repeat(1_000_000)),
            )
        })
        .collect();
    assert_eq!(over_limit(cold(&large).graph()).len(), 40 - (32 << 20) / 1_000_012);
}
