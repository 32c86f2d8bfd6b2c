use coord::graph::resolve::Reason;

use super::repository::{cold, edges, repository, target};

const A: &str = "src/a.ts";

/// Where `import 'specifier'` in `src/a.ts` leads beside `others`.
fn import(specifier: &str, others: &[(&str, &str)]) -> Result<String, Reason> {
    let text = format!("import '{specifier}'");
    let mut files = vec![(A, text.as_str())];
    files.extend_from_slice(others);
    target(&files, A)
}

fn leads_to(specifier: &str, others: &[(&str, &str)], expected: &str) {
    assert_eq!(import(specifier, others), Ok(expected.to_owned()), "{specifier}");
}

#[test]
fn a_relative_specifier_finds_files_by_extension_and_folders_by_index() {
    leads_to(
        "./b",
        &[("src/b.ts", ""), ("src/b.js", ""), ("src/b/index.ts", "")],
        "src/b.ts",
    );
    leads_to("./b", &[("src/b.js", ""), ("src/b.d.ts", "")], "src/b.js");
    leads_to("./b", &[("src/b.d.ts", "")], "src/b.d.ts");
    leads_to("./b", &[("src/b/index.tsx", "")], "src/b/index.tsx");
    leads_to("./b/", &[("src/b.ts", ""), ("src/b/index.ts", "")], "src/b/index.ts");
    leads_to("..", &[("index.ts", "")], "index.ts");
    leads_to("./b.test", &[("src/b.test.ts", "")], "src/b.test.ts");
    leads_to(
        "./b",
        &[("src/b/package.json", r#"{"main": "m.js"}"#), ("src/b/m.ts", "")],
        "src/b/m.ts",
    );
}

#[test]
fn a_script_extension_means_the_typescript_that_it_is_made_from() {
    for (written, tracked) in [
        ("./b.js", "src/b.ts"),
        ("./b.js", "src/b.tsx"),
        ("./b.jsx", "src/b.tsx"),
        ("./b.mjs", "src/b.mts"),
        ("./b.cjs", "src/b.cts"),
        ("./b.ts", "src/b.ts"),
        ("./b.js", "src/b.js.ts"),
    ] {
        leads_to(written, &[(tracked, "")], tracked);
    }
    assert_eq!(import("./b.mjs", &[("src/b.ts", "")]), Err(Reason::Missing));
}

#[test]
fn assets_components_and_queries_lead_to_tracked_files() {
    for (written, tracked) in [
        ("./b.css", "src/b.css"),
        ("./b.json", "src/b.json"),
        ("./b.svg?raw", "src/b.svg"),
        ("./b?url#x", "src/b.ts"),
        ("./b.vue", "src/b.vue"),
        ("./LICENSE", "src/LICENSE"),
    ] {
        leads_to(written, &[(tracked, "")], tracked);
    }
}

#[test]
fn what_leads_nowhere_says_why() {
    for (written, reason) in [
        ("./no", Reason::Missing),
        ("../../no", Reason::OutsideRepository),
        ("react", Reason::External),
        ("@scope/x/y", Reason::External),
        ("node:fs", Reason::External),
        ("https://x.example/y.js", Reason::External),
        ("/src/a.ts", Reason::External),
        ("#x", Reason::Missing),
        ("@scope", Reason::Invalid),
        ("", Reason::Invalid),
    ] {
        assert_eq!(import(written, &[]), Err(reason), "{written}");
    }
}

#[test]
fn the_nearest_config_governs_with_what_it_extends() {
    let base = (
        "conf/base.json",
        r#"{"compilerOptions": {"paths": {"@/*": ["../src/lib/*"], "one": ["../src/one.ts"]}}}"#,
    );
    let own = (
        "tsconfig.json",
        "{ // with a comment\n \"extends\": [\"./conf/base\"], }",
    );
    let lib = ("src/lib/x.ts", "");
    leads_to("@/x", &[base, own, lib], "src/lib/x.ts");
    leads_to("one", &[base, own, ("src/one.ts", "")], "src/one.ts");
    let nearer = ("src/jsconfig.json", r#"{"compilerOptions": {"baseUrl": "lib"}}"#);
    leads_to("x", &[base, own, nearer, lib], "src/lib/x.ts");
    assert_eq!(import("@/x", &[base, own, nearer, lib]), Err(Reason::External));
}

#[test]
fn a_config_of_a_package_of_the_repository_can_be_extended() {
    let files = [
        ("package.json", r#"{"workspaces": ["conf"]}"#),
        ("conf/package.json", r#"{"name": "@x/conf"}"#),
        (
            "conf/strict.json",
            r#"{"compilerOptions": {"paths": {"~/*": ["${configDir}/lib/*"]}}}"#,
        ),
        ("src/tsconfig.json", r#"{"extends": "@x/conf/strict"}"#),
        ("src/lib/y.ts", ""),
    ];
    leads_to("~/y", &files, "src/lib/y.ts");
}

#[test]
fn of_a_solutions_configs_the_one_that_lists_the_file_governs() {
    let files = [
        (
            "tsconfig.json",
            r#"{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "./tsconfig.node.json"}]}"#,
        ),
        (
            "tsconfig.app.json",
            r#"{"include": ["src"], "exclude": ["src/no"], "compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#,
        ),
        (
            "tsconfig.node.json",
            r#"{"include": ["*.ts"], "compilerOptions": {"paths": {"@/*": ["./other/*"]}}}"#,
        ),
        ("src/x.ts", ""),
        ("other/x.ts", ""),
        ("vite.config.ts", "import '@/x'"),
        ("src/no/b.ts", "import '@/x'"),
    ];
    leads_to("@/x", &files, "src/x.ts");
    assert_eq!(target(&files, "vite.config.ts"), Ok("other/x.ts".to_owned()));
    assert_eq!(target(&files, "src/no/b.ts"), Err(Reason::External));
}

#[test]
fn root_dirs_are_one_folder() {
    let config = (
        "tsconfig.json",
        r#"{"compilerOptions": {"rootDirs": ["src", "generated"]}}"#,
    );
    leads_to("./made", &[config, ("generated/made.ts", "")], "generated/made.ts");
    leads_to(
        "./made",
        &[config, ("generated/made.ts", ""), ("src/made.ts", "")],
        "src/made.ts",
    );
}

#[test]
fn workspaces_are_found_by_name_whatever_manager_they_are_for() {
    let package = ("packages/p/package.json", r#"{"name": "@x/p", "main": "lib/m.js"}"#);
    let main = ("packages/p/lib/m.js", "");
    for root in [
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("package.json", r#"{"workspaces": {"packages": ["./packages/**"]}}"#),
        ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"),
        ("package.json", r#"{"dependencies": {"@x/p": "link:./packages/p"}}"#),
    ] {
        leads_to("@x/p", &[root, package, main], "packages/p/lib/m.js");
        leads_to("@x/p/lib/m", &[root, package, main], "packages/p/lib/m.js");
        assert_eq!(import("@x/p/no", &[root, package, main]), Err(Reason::NoEntry));
    }
    let negated = ("package.json", r#"{"workspaces": ["packages/*", "!packages/p"]}"#);
    assert_eq!(import("@x/p", &[negated, package, main]), Err(Reason::External));
}

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
fn a_script_means_what_runs_and_typescript_what_describes_it() {
    let files = [
        ("package.json", r#"{"workspaces": ["p"]}"#),
        ("p/package.json", r#"{"name": "p", "types": "t.d.ts", "main": "m.js"}"#),
        ("p/t.d.ts", ""),
        ("p/m.js", ""),
        ("a.ts", "import 'p'"),
        ("a.js", "import 'p'"),
    ];
    assert_eq!(
        edges(cold(&repository(&files)).graph()),
        ["a.js -> p/m.js", "a.ts -> p/t.d.ts"]
    );
}

#[test]
fn paths_of_references_and_urls_need_no_dot() {
    let files = [
        (
            "d/a.ts",
            "/// <reference path=\"types.d.ts\" />\nnew URL('w.js', import.meta.url)",
        ),
        ("d/types.d.ts", ""),
        ("d/w.js", ""),
    ];
    assert_eq!(
        edges(cold(&repository(&files)).graph()),
        ["d/a.ts -> d/types.d.ts", "d/a.ts -> d/w.js"]
    );
}

#[test]
fn a_file_never_imports_itself() {
    assert!(edges(cold(&repository(&[("a.ts", "import './a'")])).graph()).is_empty());
}

#[test]
fn an_alias_that_leads_nowhere_is_missing_and_what_is_installed_is_external() {
    for (pattern, target, specifier, reason) in [
        ("@/*", "./src/*", "@/gone", Reason::Missing),
        ("app", "./src/gone", "app", Reason::Missing),
        ("@/*", "./src/*", "react", Reason::External),
        ("*", "./types/*", "react", Reason::External),
        ("react", "./node_modules/@types/react", "react", Reason::External),
    ] {
        let config = format!(r#"{{"compilerOptions": {{"paths": {{"{pattern}": ["{target}"]}}}}}}"#);
        let found = import(specifier, &[("tsconfig.json", &config)]);
        assert_eq!(found, Err(reason), "{specifier} by {pattern} -> {target}");
    }
}
