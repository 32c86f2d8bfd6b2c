//! Specifiers that name packages of the repository.

use coord_graph::Reason;

use super::import::{import, leads_to};
use super::repository::{edges_of, target};

// rule: languages#packages
#[test]
fn exports_imports_and_self_reference_are_followed() {
    let root = (
        "package.json",
        r##"{"name": "me", "workspaces": ["p"], "exports": {"./*": "./src/*.ts"}, "imports": {"#in/*": {"types": "./src/in/*.ts"}, "#p": "p/f/x"}}"##,
    );
    let package = (
        "p/package.json",
        r#"{"name": "p", "exports": {"./f/*": ["./no/*.js", "./g/*.js"], "./style": "./s.css"}}"#,
    );
    let files = [
        root,
        package,
        ("p/g/x.ts", ""),
        ("p/s.css", ""),
        ("src/in/y.ts", ""),
        ("src/z.ts", ""),
    ];
    leads_to("p/f/x", &files, "p/g/x.ts");
    leads_to("p/style", &files, "p/s.css");
    leads_to("#in/y", &files, "src/in/y.ts");
    leads_to("#p", &files, "p/g/x.ts");
    leads_to("me/z", &files, "src/z.ts");
}

#[test]
fn modules_without_a_manifest_are_found_in_tracked_node_modules() {
    leads_to("b", &[("node_modules/b.js", "")], "node_modules/b.js");
    leads_to("b", &[("node_modules/b/index.js", "")], "node_modules/b/index.js");
    leads_to("@s/b/c", &[("node_modules/@s/b/c.js", "")], "node_modules/@s/b/c.js");
    leads_to(
        "b",
        &[("node_modules/b.js", ""), ("src/node_modules/b/index.js", "")],
        "src/node_modules/b/index.js",
    );
    assert_eq!(import("b", &[("other/node_modules/b.js", "")]), Err(Reason::External));
    assert_eq!(import("b", &[("not_node_modules/b.js", "")]), Err(Reason::External));
}

#[test]
fn a_package_without_files_resolves_to_its_types_package() {
    let types = [
        ("node_modules/@types/k/index.d.ts", ""),
        ("node_modules/@types/k/sub.d.ts", ""),
        ("node_modules/@types/s__k/index.d.ts", ""),
    ];
    leads_to("k", &types, "node_modules/@types/k/index.d.ts");
    leads_to("k/sub", &types, "node_modules/@types/k/sub.d.ts");
    leads_to("@s/k", &types, "node_modules/@types/s__k/index.d.ts");
    assert_eq!(import("types/k", &types), Err(Reason::External));
    let own = [&types[..], &[("node_modules/k/index.js", "")]].concat();
    leads_to("k", &own, "node_modules/k/index.js");
    let workspace = [
        ("package.json", r#"{"workspaces": ["types/*"]}"#),
        ("types/k/package.json", r#"{"name": "@types/k", "types": "k.d.ts"}"#),
        ("types/k/k.d.ts", ""),
    ];
    leads_to("k", &workspace, "types/k/k.d.ts");
}

#[test]
fn a_scripts_require_of_a_folder_means_main_and_typescripts_means_types() {
    let files = [
        ("package.json", r#"{"main": "lib/index.js", "types": "types.d.ts"}"#),
        ("types.d.ts", ""),
        ("lib/index.js", ""),
        ("test/deep/a.js", "require('../..')"),
        ("test/deep/b.js", "import x from '../../'"),
        ("test/deep/a.ts", "import x from '../..'"),
    ];
    assert_eq!(
        edges_of(&files),
        [
            "test/deep/a.js -> lib/index.js",
            "test/deep/a.ts -> types.d.ts",
            "test/deep/b.js -> lib/index.js"
        ]
    );
    let only_types = [
        ("package.json", r#"{"main": "dist/x.js", "types": "types.d.ts"}"#),
        ("types.d.ts", ""),
        ("test/a.js", "require('..')"),
    ];
    assert_eq!(target(&only_types, "test/a.js"), Ok("types.d.ts".to_owned()));
}

#[test]
fn a_script_means_what_runs_and_typescript_what_describes_it() {
    let files = [
        ("package.json", r#"{"workspaces": ["p"]}"#),
        ("p/package.json", r#"{"name": "p", "types": "t.d.ts", "main": "m.js"}"#),
        ("p/t.d.ts", ""),
        ("p/m.js", ""),
        ("a.ts", "import 'p'"),
        ("a.js", "import 'p'"),
    ];
    assert_eq!(edges_of(&files), ["a.js -> p/m.js", "a.ts -> p/t.d.ts"]);
}

#[test]
fn types_versions_count_for_the_newest_typescript() {
    let workspace = ("package.json", r#"{"workspaces": ["t"]}"#);
    for versions in [
        r#"{"*": {"*": ["ts/*"]}}"#,
        r#"{"<4.0": {"*": ["old/*"]}, ">=4.0": {"*": ["ts/*"]}}"#,
        r#"{">=3.1 <4": {"*": ["old/*"]}, ">= 4 || <2": {"sub": ["ts/sub.d.ts"], "*": ["ts/*"]}}"#,
    ] {
        let manifest = format!(r#"{{"name": "t", "types": "./main.d.ts", "typesVersions": {versions}}}"#);
        let files = [
            workspace,
            ("t/package.json", &manifest),
            ("t/ts/sub.d.ts", ""),
            ("t/ts/main.d.ts", ""),
            ("t/old/sub.d.ts", ""),
            ("t/old/main.d.ts", ""),
            ("t/sub.js", ""),
            ("b.js", "require('t/sub')"),
        ];
        leads_to("t/sub", &files, "t/ts/sub.d.ts");
        leads_to("t", &files, "t/ts/main.d.ts");
        // A script means the file that runs.
        assert_eq!(target(&files, "b.js"), Ok("t/sub.js".to_owned()), "{versions}");
    }
    let manifest = r#"{"name": "t", "typesVersions": {"*": {"x": ["ts/x.d.ts"]}}}"#;
    leads_to(
        "t/y",
        &[workspace, ("t/package.json", manifest), ("t/y.ts", "")],
        "t/y.ts",
    );
}

#[test]
fn a_reference_to_types_means_a_path_or_a_package() {
    let files = [
        ("package.json", r#"{"workspaces": ["t"]}"#),
        ("t/package.json", r#"{"name": "t", "types": "./main.d.ts"}"#),
        ("t/main.d.ts", ""),
        ("t/client.d.ts", ""),
        ("node_modules/@types/k/index.d.ts", ""),
        ("src/local.d.ts", ""),
        ("src/a.ts", "/// <reference types=\"t\" />"),
        ("src/b.ts", "/// <reference types=\"t/client\" />"),
        ("src/c.ts", "/// <reference types=\"./local\" />"),
        ("src/d.ts", "/// <reference types=\"k\" />"),
        ("src/e.ts", "/// <reference types=\"local\" />"),
        ("src/f.ts", "/// <reference types=\"/src/local\" />"),
    ];
    for (from, expected) in [
        ("src/a.ts", Ok("t/main.d.ts")),
        ("src/b.ts", Ok("t/client.d.ts")),
        ("src/c.ts", Ok("src/local.d.ts")),
        ("src/d.ts", Ok("node_modules/@types/k/index.d.ts")),
        ("src/e.ts", Err(Reason::External)),
        ("src/f.ts", Err(Reason::External)),
    ] {
        assert_eq!(target(&files, from), expected.map(str::to_owned), "{from}");
    }
}

#[test]
fn exports_are_those_for_require_where_a_file_requires() {
    let package = r#"{"name": "p", "exports": {"import": "./imp.mjs", "require": "./req.cjs"}}"#;
    let common = [
        ("p/package.json", package),
        ("p/imp.mjs", ""),
        ("p/req.cjs", ""),
        ("m/package.json", r#"{"type": "module"}"#),
    ];
    let root = ("package.json", r#"{"workspaces": ["p"]}"#);
    let node = ("tsconfig.json", r#"{"compilerOptions": {"module": "nodenext"}}"#);
    let (imports, requires) = ("p/imp.mjs", "p/req.cjs");
    for (statement, from, by_bundler, by_node) in [
        ("import x = require('p')", "a.ts", requires, requires),
        ("import x = require('p')", "m/a.mts", requires, requires),
        ("import 'p'", "a.ts", imports, requires),
        ("export * from 'p'", "a.tsx", imports, requires),
        ("import type { T } from 'p'", "a.d.ts", imports, requires),
        ("let x: import('p').T", "a.ts", imports, requires),
        ("import 'p'", "a.js", imports, requires),
        ("import 'p'", "a.cts", requires, requires),
        ("import 'p'", "m/a.cts", requires, requires),
        ("import 'p'", "m/a.ts", imports, imports),
        ("import 'p'", "m/a.jsx", imports, imports),
        ("import 'p'", "a.mts", imports, imports),
        ("<script>import 'p'</script>", "a.vue", imports, imports),
        ("import('p')", "a.ts", imports, imports),
        ("import('p')", "a.cjs", imports, imports),
    ] {
        let files = [&common[..], &[root, (from, statement)]].concat();
        assert_eq!(target(&files, from), Ok(by_bundler.to_owned()), "{from}: {statement}");
        let files = [&files[..], &[node]].concat();
        assert_eq!(
            target(&files, from),
            Ok(by_node.to_owned()),
            "{from} by node: {statement}"
        );
    }
    // The scripts behind a declaration.
    let declared = r#"{"name": "p", "exports": {"types": "./t.d.ts", "import": "./imp.mjs", "require": "./req.cjs"}}"#;
    let files = [&common[1..], &[root, ("p/package.json", declared), ("p/t.d.ts", "")]].concat();
    for (statement, from, expected) in [("import 'p'", "a.mjs", imports), ("require('p')", "a.cjs", requires)] {
        let files = [&files[..], &[(from, statement)]].concat();
        assert_eq!(target(&files, from), Ok(expected.to_owned()), "{from}");
    }
}
