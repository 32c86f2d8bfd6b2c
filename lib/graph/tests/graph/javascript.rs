use coord_graph::Reason;

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
        edges(cold(&repository(&files)).graph()),
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
fn a_file_is_meant_before_the_declaration_beside_it_whatever_it_is() {
    for name in ["b.css", "b.wasm", "B.svelte", "b.module.scss", "b.json"] {
        let (written, file) = (format!("./{name}"), format!("src/{name}"));
        let (beside, within) = (format!("src/{name}.d.ts"), {
            let (stem, extension) = name.rsplit_once('.').unwrap();
            format!("src/{stem}.d.{extension}.ts")
        });
        leads_to(&written, &[(&file, ""), (&beside, ""), (&within, "")], &file);
        leads_to(&written, &[(&beside, "")], &beside);
        leads_to(&written, &[(&within, "")], &within);
    }
    leads_to("./b.c", &[("src/b.c.ts", "")], "src/b.c.ts");
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
    // None holds: any is better than none.
    leads_to("p/y", &files, "p/src/y-deno.ts");
    let node = ("tsconfig.json", r#"{"compilerOptions": {"module": "nodenext"}}"#);
    let files = [&files[..], &[node]].concat();
    leads_to("p", &files, "p/src/node.ts");
    leads_to("#i", &files, "src/node.ts");
    let script = [&files[..], &[("a.js", "require('p/x')")]].concat();
    assert_eq!(target(&script, "a.js"), Ok("p/src/x-require.ts".to_owned()));
}

#[test]
fn aliases_of_frameworks_need_no_generated_config() {
    let svelte = [
        (
            "web/svelte.config.js",
            "export default { kit: { alias: { $ui: 'src/ui', $no: computed('src/ui') } } }",
        ),
        ("web/tsconfig.json", r#"{"extends": "./.svelte-kit/tsconfig.json"}"#),
        ("web/src/lib/index.ts", ""),
        ("web/src/lib/x.ts", ""),
        ("web/src/ui/B.svelte", ""),
        ("web/src/routes/a.ts", "import '$lib'"),
        ("web/src/routes/b.ts", "import '$lib/x.js'"),
        (
            "web/src/routes/c.svelte",
            "<script>import B from '$ui/B.svelte'</script>",
        ),
        ("web/src/routes/d.ts", "import '$no/B.svelte'"),
        ("web/src/routes/e.ts", "import '$lib/gone'"),
        ("other/f.ts", "import '$lib/x'"),
    ];
    for (from, expected) in [
        ("web/src/routes/a.ts", Ok("web/src/lib/index.ts")),
        ("web/src/routes/b.ts", Ok("web/src/lib/x.ts")),
        ("web/src/routes/c.svelte", Ok("web/src/ui/B.svelte")),
        ("web/src/routes/d.ts", Err(Reason::External)),
        ("web/src/routes/e.ts", Err(Reason::Missing)),
        ("other/f.ts", Err(Reason::External)),
    ] {
        assert_eq!(target(&svelte, from), expected.map(str::to_owned), "{from}");
    }
    for (config, files) in [
        (
            "nuxt.config.ts",
            ["components/B.vue", "app/composables/c.ts", "shared/s.ts"],
        ),
        (
            "nuxt.config.mjs",
            ["app/components/B.vue", "composables/c.ts", "shared/s.ts"],
        ),
    ] {
        let tree = [
            (config, "export default defineNuxtConfig({})"),
            (files[0], ""),
            (files[1], ""),
            (files[2], ""),
            ("server/a.ts", "import '~/components/B.vue'"),
            ("server/b.ts", "import '@/composables/c'"),
            ("server/c.ts", "import '@@/shared/s'"),
            ("server/d.ts", "import '#imports'"),
            ("server/e.ts", "import '#shared/s'"),
        ];
        assert_eq!(target(&tree, "server/a.ts"), Ok(files[0].to_owned()));
        assert_eq!(target(&tree, "server/b.ts"), Ok(files[1].to_owned()));
        assert_eq!(target(&tree, "server/c.ts"), Ok(files[2].to_owned()));
        assert_eq!(target(&tree, "server/d.ts"), Err(Reason::Missing));
        assert_eq!(target(&tree, "server/e.ts"), Ok(files[2].to_owned()));
    }
    let wxt = [
        ("wxt.config.ts", "export default defineConfig({ srcDir: 'src' })"),
        ("src/utils/u.ts", ""),
        ("src/a.ts", "import '@/utils/u'"),
        ("src/b.ts", "import '~~/src/utils/u'"),
    ];
    assert_eq!(target(&wxt, "src/a.ts"), Ok("src/utils/u.ts".to_owned()));
    assert_eq!(target(&wxt, "src/b.ts"), Ok("src/utils/u.ts".to_owned()));
}

#[test]
fn module_suffixes_stand_before_the_extension() {
    let config = (
        "tsconfig.json",
        r#"{"compilerOptions": {"moduleSuffixes": [".ios", ".native", ""]}}"#,
    );
    leads_to(
        "./b",
        &[config, ("src/b.ts", ""), ("src/b.native.ts", ""), ("src/b.ios.ts", "")],
        "src/b.ios.ts",
    );
    leads_to(
        "./b.js",
        &[config, ("src/b.ts", ""), ("src/b.native.ts", "")],
        "src/b.native.ts",
    );
    leads_to("./b", &[config, ("src/b.ts", ""), ("src/b.ios.js", "")], "src/b.ts");
    leads_to(
        "./d",
        &[config, ("src/d/index.ios.ts", ""), ("src/d/index.ts", "")],
        "src/d/index.ios.ts",
    );
    let only = ("tsconfig.json", r#"{"compilerOptions": {"moduleSuffixes": [".ios"]}}"#);
    assert_eq!(import("./b", &[only, ("src/b.ts", "")]), Err(Reason::Missing));
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
fn tracked_links_are_followed_within_the_repository() {
    let links = [
        ("src/one.ts", "LINK ../lib/real.ts"),
        ("src/two.ts", "LINK one.ts"),
        ("src/shared", "LINK ../lib"),
        ("lib/nested", "LINK ../more"),
        ("src/around", "LINK ."),
        ("src/gone.ts", "LINK ../gone.ts"),
        ("src/out", "LINK /usr/lib"),
        ("node_modules/p", "LINK ../packages/p"),
        ("lib/real.ts", ""),
        ("lib/index.ts", ""),
        ("more/m.ts", ""),
        ("src/plain.ts", ""),
        ("packages/p/package.json", r#"{"name": "@x/other", "main": "m.js"}"#),
        ("packages/p/m.ts", ""),
    ];
    leads_to("./one", &links, "lib/real.ts");
    leads_to("./two.js", &links, "lib/real.ts");
    leads_to("./shared", &links, "lib/index.ts");
    leads_to("./shared/real", &links, "lib/real.ts");
    leads_to("./shared/nested/m", &links, "more/m.ts");
    leads_to("./around/plain", &links, "src/plain.ts");
    leads_to("p", &links, "packages/p/m.ts");
    // What leads nowhere in the repository is the link itself.
    leads_to("./gone", &links, "src/gone.ts");
    assert_eq!(import("./out/x", &links), Err(Reason::Missing));
}

#[test]
fn a_config_that_is_a_link_governs_where_the_link_is() {
    let files = [
        (
            "tsconfig.base.json",
            r#"{"compilerOptions": {"paths": {"@/*": ["./lib/*"]}}}"#,
        ),
        ("src/tsconfig.json", "LINK ../tsconfig.base.json"),
        ("src/lib/x.ts", ""),
        ("lib/x.ts", ""),
    ];
    leads_to("@/x", &files, "src/lib/x.ts");
}
