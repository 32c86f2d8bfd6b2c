//! Packages and files that a build has not written yet, and their sources.

use coord_graph::Reason;

use super::import::{import, leads_to};
use super::repository::{edges_of, target};

// rule: languages#unbuilt
#[test]
fn an_entry_that_is_not_built_means_its_source() {
    let root = ("package.json", r#"{"workspaces": ["p"]}"#);
    for (package, config, source) in [
        (r#"{"name": "p", "main": "./dist/index.js"}"#, None, "p/src/index.ts"),
        (
            r#"{"name": "p", "exports": {".": {"import": "./dist/esm/main.mjs"}}}"#,
            None,
            "p/src/main.mts",
        ),
        (r#"{"name": "p", "types": "build/types/a/b.d.ts"}"#, None, "p/a/b.tsx"),
        (
            r#"{"name": "p", "main": "./built/x.js"}"#,
            Some(r#"{"compilerOptions": {"outDir": "built", "rootDir": "code"}}"#),
            "p/code/x.ts",
        ),
        (r#"{"name": "p"}"#, None, "p/src/index.ts"),
    ] {
        let mut files = vec![root, ("p/package.json", package), (source, "")];
        files.extend(config.map(|config| ("p/tsconfig.json", config)));
        leads_to("p", &files, source);
    }
    let files = [
        root,
        ("p/package.json", r#"{"name": "p", "exports": {"./*": "./dist/*.js"}}"#),
        ("p/src/k/v.ts", ""),
    ];
    leads_to("p/k/v", &files, "p/src/k/v.ts");
}

#[test]
fn of_what_is_not_built_the_condition_that_holds_is_meant() {
    let package = r#"{"name": "p", "exports": {
        ".": {"browser": "./dist/browser.js", "node": "./dist/node.js", "default": "./dist/main.js"},
        "./x": {"require": "./dist/x-require.js", "import": "./dist/x-import.js"},
        "./y": {"deno": "./dist/y-deno.js"}}}"#;
    let files = [
        (
            "package.json",
            r##"{"workspaces": ["p"], "imports": {"#i": {"node": "./dist/node.js", "default": "./dist/main.js"}}}"##,
        ),
        ("p/package.json", package),
        ("p/src/browser.ts", ""),
        ("p/src/node.ts", ""),
        ("p/src/main.ts", ""),
        ("p/src/x-require.ts", ""),
        ("p/src/x-import.ts", ""),
        ("p/src/y-deno.ts", ""),
        ("src/node.ts", ""),
        ("src/main.ts", ""),
    ];
    leads_to("p", &files, "p/src/main.ts");
    leads_to("p/x", &files, "p/src/x-import.ts");
    leads_to("#i", &files, "src/main.ts");
    assert_eq!(import("p/y", &files), Err(Reason::NoEntry));
    let node = ("tsconfig.json", r#"{"compilerOptions": {"module": "nodenext"}}"#);
    let files = [&files[..], &[node]].concat();
    leads_to("p", &files, "p/src/node.ts");
    leads_to("#i", &files, "src/node.ts");
    let script = [&files[..], &[("a.js", "require('p/x')")]].concat();
    assert_eq!(target(&script, "a.js"), Ok("p/src/x-require.ts".to_owned()));
}

#[test]
fn a_path_that_exports_withholds_has_no_source_either() {
    let root = ("package.json", r#"{"workspaces": ["p"]}"#);
    let package = (
        "p/package.json",
        r#"{"name": "p", "exports": {".": "./dist/i.js", "./x": null, "./in/*": null, "./*": "./dist/*.js"}}"#,
    );
    let files = [
        root,
        package,
        ("p/src/x.ts", ""),
        ("p/src/in/k.ts", ""),
        ("p/src/y.ts", ""),
        ("p/x", ""),
    ];
    leads_to("p/y", &files, "p/src/y.ts");
    for withheld in ["p/x", "p/in/k"] {
        assert_eq!(import(withheld, &files), Err(Reason::NoEntry), "{withheld}");
    }
}

/// A workspace with package `p`, which has `exports`, and the files of `files`.
fn exporting<'a>(manifest: &'a str, files: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let manifests = [
        ("package.json", r#"{"workspaces": ["p"]}"#),
        ("p/package.json", manifest),
    ];
    manifests
        .into_iter()
        .chain(files.iter().map(|file| (*file, "")))
        .collect()
}

/// Once, an import of `vitest` led to the file that throws when it is required.
#[test]
fn a_branch_that_does_not_hold_is_no_source() {
    let files = [
        "p/index.cjs",
        "p/index.d.cts",
        "p/main.mjs",
        "p/deno.ts",
        "p/browser.js",
        "p/server.js",
        "p/x.js",
    ];
    for exports in [
        r#"{"import": "./dist/no.js", "require": "./index.cjs"}"#,
        r#"{".": {"import": {"types": "./dist/no.d.ts", "default": "./dist/no.js"}, "require": {"types": "./index.d.cts", "default": "./index.cjs"}}}"#,
        r#"{"deno": "./deno.ts", "import": "./dist/no.js"}"#,
        r#"{"browser": "./browser.js", "default": "./dist/no.js"}"#,
        r#"{"react-server": "./server.js", "import": "./dist/no.js", "module": "./x.js"}"#,
        r#"{"node": {"require": "./x.js"}, "default": "./dist/no.js"}"#,
        r#"{"require": "./index.cjs"}"#,
        r#"{"deno": "./deno.ts"}"#,
        r#"{"react-native": "./x.js", "worker": "./x.js"}"#,
    ] {
        let manifest = format!(r#"{{"name": "p", "main": "./index.cjs", "exports": {exports}}}"#);
        let files = exporting(&manifest, &files);
        assert_eq!(import("p", &files), Err(Reason::NoEntry), "{exports}");
        let imports = exports.replace(r#"{".":"#, "[").replace("}}}", "}}]");
        let manifest = format!(r##"{{"imports": {{"#x": {imports}}}}}"##);
        let own = files
            .iter()
            .filter_map(|(path, text)| Some((path.strip_prefix("p/")?, *text)));
        let own: Vec<_> = own
            .filter(|(path, _)| *path != "package.json")
            .chain([("package.json", manifest.as_str())])
            .collect();
        assert_eq!(import("#x", &own), Err(Reason::Missing), "{imports}");
    }
    // The other way round.
    let manifest = r#"{"name": "p", "exports": {"import": "./main.mjs", "require": "./dist/no.cjs"}}"#;
    let files = [
        exporting(manifest, &files),
        vec![("a.cjs", "require('p')"), ("b.cts", "import 'p'")],
    ]
    .concat();
    leads_to("p", &files, "p/main.mjs");
    for from in ["a.cjs", "b.cts"] {
        assert_eq!(target(&files, from), Err(Reason::NoEntry), "{from}");
    }
    // By the name of its file either.
    let manifest = r#"{"name": "p", "exports": {"./x.js": {"require": "./x.js", "import": "./dist/no.js"}}}"#;
    assert_eq!(
        import("p/x.js", &exporting(manifest, &["p/x.js"])),
        Err(Reason::NoEntry)
    );
}

#[test]
fn the_source_of_a_branch_that_holds_is_found_beside_others() {
    let exports = r#"{"require": "./index.cjs", "deno": "./deno.ts", "import": "./dist/index.js"}"#;
    let manifest = format!(r#"{{"name": "p", "exports": {exports}}}"#);
    let files = ["p/index.cjs", "p/deno.ts", "p/src/index.ts"];
    leads_to("p", &exporting(&manifest, &files), "p/src/index.ts");
    // A condition that no other tool knows leads to the source.
    for condition in ["source", "@scope/source", "development", "bun"] {
        let exports =
            format!(r#"{{"{condition}": "./code/main.ts", "import": "./dist/main.js", "require": "./r.cjs"}}"#);
        let manifest = format!(r#"{{"name": "p", "exports": {exports}}}"#);
        leads_to(
            "p",
            &exporting(&manifest, &["p/code/main.ts", "p/r.cjs"]),
            "p/code/main.ts",
        );
        let built = ["p/code/main.ts", "p/dist/main.js", "p/r.cjs"];
        leads_to("p", &exporting(&manifest, &built), "p/dist/main.js");
    }
}

#[test]
fn without_a_condition_that_holds_node_is_meant_and_then_a_browser() {
    let all = ["p/deno.mjs", "p/node.mjs", "p/browser.mjs"];
    let manifest =
        r#"{"name": "p", "exports": {"deno": "./deno.mjs", "browser": "./browser.mjs", "node": "./node.mjs"}}"#;
    leads_to("p", &exporting(manifest, &all), "p/node.mjs");
    let manifest = r#"{"name": "p", "exports": {"deno": "./deno.mjs", "browser": "./browser.mjs"}}"#;
    leads_to("p", &exporting(manifest, &all), "p/browser.mjs");
    // A file that is not built does not make another condition hold.
    let manifest = r#"{"name": "p", "exports": {"browser": "./browser.mjs", "node": "./dist/no.mjs"}}"#;
    assert_eq!(import("p", &exporting(manifest, &all)), Err(Reason::NoEntry));
    let own = [
        (
            "package.json",
            r##"{"imports": {"#x": {"deno": "./deno.js", "node": "./node.js"}}}"##,
        ),
        ("deno.js", ""),
        ("node.js", ""),
    ];
    leads_to("#x", &own, "node.js");
    // An import statement of a CommonJS file, as a bundler reads it.
    let manifest = r#"{"name": "p", "exports": {"import": "./node.mjs"}}"#;
    let node = ("tsconfig.json", r#"{"compilerOptions": {"module": "nodenext"}}"#);
    leads_to("p", &[exporting(manifest, &all), vec![node]].concat(), "p/node.mjs");
}

#[test]
fn a_relative_import_of_what_is_not_built_means_its_source() {
    let manifest = r#"{"name": "p", "main": "./build/index.js", "exports": "./build/index.js"}"#;
    let files = [
        ("p/package.json", manifest),
        ("p/src/index.ts", ""),
        ("p/src/cli.ts", ""),
        ("p/bin/a.js", "require('..')"),
        ("p/bin/b.js", "require('../')"),
        ("p/bin/c.js", "require('../build')"),
        ("p/bin/d.mjs", "import '../build/cli.js'"),
        ("p/bin/e.js", "require('../dist/esm/cli')"),
        ("test/f.js", "require('../p')"),
        ("test/g.ts", "import '../p/build/cli'"),
    ];
    let expected = [
        "p/bin/a.js -> p/src/index.ts",
        "p/bin/b.js -> p/src/index.ts",
        "p/bin/c.js -> p/src/index.ts",
        "p/bin/d.mjs -> p/src/cli.ts",
        "p/bin/e.js -> p/src/cli.ts",
        "test/f.js -> p/src/index.ts",
        "test/g.ts -> p/src/cli.ts",
    ];
    assert_eq!(edges_of(&files), expected);
    let config = r#"{"compilerOptions": {"outDir": "made", "rootDir": "code"}}"#;
    let configured = [
        ("package.json", "{}"),
        ("tsconfig.json", config),
        ("code/x.ts", ""),
        ("bin/a.js", "require('../made/x')"),
        ("made/b.js", "require('./x')"),
    ];
    assert_eq!(target(&configured, "bin/a.js"), Ok("code/x.ts".to_owned()));
    assert_eq!(target(&configured, "made/b.js"), Err(Reason::Missing));
    // A file that is missing beside its importer, in a folder that may have sources, or in an installed package.
    for (from, files) in [
        ("lib/a.js", vec![("lib/a.js", "require('./x')"), ("src/x.ts", "")]),
        (
            "src/a.js",
            vec![("src/a.js", "require('../types/x')"), ("src/x.ts", "")],
        ),
        ("i.d.cts", vec![("i.d.cts", "import './dist/i.js'"), ("i.cjs", "")]),
        (
            "node_modules/n/bin/a.js",
            vec![
                ("node_modules/n/bin/a.js", "require('../dist/x')"),
                ("node_modules/n/src/x.ts", ""),
                ("node_modules/n/package.json", "{}"),
            ],
        ),
    ] {
        let files = [files, vec![("package.json", "{}")]].concat();
        assert_eq!(target(&files, from), Err(Reason::Missing), "{from}");
    }
}
