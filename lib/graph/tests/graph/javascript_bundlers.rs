//! Specifiers that Vite, Deno and React Native resolve beyond TypeScript.

use coord_graph::{Previous, Reason};

use super::import::{import, leads_to};
use super::repository::{cold, edges, edges_of, everything, repository, snapshot_after, target};

// rule: languages#bundlers
#[test]
fn aliases_of_vite_count_as_far_as_they_are_literal() {
    let config = "import { resolve } from 'node:path'\n\
        export default defineConfig(({ mode }) => ({ plugins: [vue()], resolve: { alias: {\n\
          '@': fileURLToPath(new URL('./src', import.meta.url)), '~': resolve(__dirname, 'lib'),\n\
          $root: '/src', shared: resolve(__dirname, '../shared'), react: 'preact/compat', $no: find('src') } } }))";
    let files = [
        ("web/vite.config.ts", config),
        ("web/src/b.js", ""),
        ("web/lib/index.ts", ""),
        ("shared/s.ts", ""),
        ("web/a.vue", "<script>import '@/b'</script>"),
        ("web/b.ts", "import '~'"),
        ("web/c.ts", "import '$root/b.js'"),
        ("web/d.ts", "import 'shared/s'"),
        ("web/e.ts", "import '@/gone'"),
        ("web/f.ts", "import '$no/b'"),
        ("web/g.ts", "import 'react/jsx-runtime'"),
        ("other/h.ts", "import '@/b'"),
    ];
    for (from, expected) in [
        ("web/a.vue", Ok("web/src/b.js")),
        ("web/b.ts", Ok("web/lib/index.ts")),
        ("web/c.ts", Ok("web/src/b.js")),
        ("web/d.ts", Ok("shared/s.ts")),
        ("web/e.ts", Err(Reason::Missing)),
        ("web/f.ts", Err(Reason::External)),
        ("web/g.ts", Err(Reason::External)),
        ("other/h.ts", Err(Reason::External)),
    ] {
        assert_eq!(target(&files, from), expected.map(str::to_owned), "{from}");
    }
    // Beside the config of a framework, and in the form of a list.
    let list = "export default { test: { alias: [{ find: '@', replacement: path.join(__dirname, 'src') }] } }";
    let files = [
        ("svelte.config.js", "export default {}"),
        ("vitest.config.mts", list),
        ("src/lib/x.ts", ""),
    ];
    leads_to("@/lib/x", &files, "src/lib/x.ts");
    leads_to("$lib/x", &files, "src/lib/x.ts");
}

#[test]
fn a_path_that_begins_with_a_slash_is_below_the_root_of_the_page() {
    leads_to("/src/b.ts", &[("index.html", ""), ("src/b.ts", "")], "src/b.ts");
    leads_to("/src/b.js", &[("index.html", ""), ("src/b.ts", "")], "src/b.ts");
    leads_to(
        "/b.css?inline",
        &[("src/index.html", ""), ("index.html", ""), ("b.css", "")],
        "b.css",
    );
    leads_to(
        "/b.css",
        &[("src/index.html", ""), ("src/b.css", ""), ("b.css", "")],
        "src/b.css",
    );
    let root = ("vite.config.js", "export default { root: 'src' }");
    leads_to("/b", &[root, ("src/b.ts", "")], "src/b.ts");
    assert_eq!(
        import("/b.ts", &[("other/index.html", ""), ("other/b.ts", "")]),
        Err(Reason::External)
    );
    assert_eq!(import("/gone.ts", &[("index.html", "")]), Err(Reason::External));
}

// rule: languages#deno
#[test]
fn denos_import_map_and_workspace_count() {
    let root = r#"{ // all
        "imports": {"@/": "./src/", "lib": "./lib/mod.ts", "chalk": "npm:chalk@5"}, "workspace": ["./pk", "./other"], }"#;
    let files = [
        ("deno.jsonc", root),
        ("src/a.ts", ""),
        ("lib/mod.ts", ""),
        (
            "pk/deno.json",
            r#"{"name": "@s/pk", "exports": {".": "./mod.ts", "./x": "./in/x.ts"}}"#,
        ),
        ("pk/mod.ts", ""),
        ("pk/in/x.ts", ""),
        (
            "other/deno.json",
            r#"{"name": "@s/other", "exports": "./m.ts", "imports": {"lib": "./own.ts", "pk": "jsr:@s/pk@^1"}}"#,
        ),
        ("other/own.ts", ""),
        ("1.ts", "import '@/a.ts'"),
        ("2.ts", "import 'lib'"),
        ("3.ts", "import '@s/pk'"),
        ("4.ts", "import '@s/pk/x'"),
        ("5.ts", "import 'jsr:@s/pk@^1.0/x'"),
        ("6.ts", "import 'chalk'"),
        ("7.ts", "import 'npm:chalk@5'"),
        ("8.ts", "import '@s/pk/no'"),
        ("other/1.ts", "import 'lib'"),
        ("other/2.ts", "import '@/a.ts'"),
        ("other/3.ts", "import 'pk'"),
        ("9.ts", "import 'pk'"),
    ];
    for (from, expected) in [
        ("1.ts", Ok("src/a.ts")),
        ("2.ts", Ok("lib/mod.ts")),
        ("3.ts", Ok("pk/mod.ts")),
        ("4.ts", Ok("pk/in/x.ts")),
        ("5.ts", Ok("pk/in/x.ts")),
        ("6.ts", Err(Reason::External)),
        ("7.ts", Err(Reason::External)),
        ("8.ts", Err(Reason::NoEntry)),
        ("other/1.ts", Ok("other/own.ts")),
        ("other/2.ts", Ok("src/a.ts")),
        ("other/3.ts", Ok("pk/mod.ts")),
        ("9.ts", Err(Reason::External)),
    ] {
        assert_eq!(target(&files, from), expected.map(str::to_owned), "{from}");
    }
    let separate = [
        ("import_map.json", r#"{"imports": {"lib": "./lib/mod.ts"}}"#),
        ("lib/mod.ts", ""),
    ];
    leads_to("lib", &separate, "lib/mod.ts");
}

// rule: languages#platforms
#[test]
fn files_of_single_platforms_resolve_for_the_common_name() {
    let files = [
        ("package.json", "{}"),
        ("Button.ios.tsx", "import './util'"),
        ("Button.android.tsx", ""),
        ("util.ios.ts", ""),
        ("util.android.ts", ""),
        ("util.native.ts", ""),
        ("both.ts", ""),
        ("both.ios.ts", ""),
        ("folder/index.native.js", ""),
        ("a.tsx", "import './Button'"),
        ("b.tsx", "import './Button.js'; import './both'"),
        ("c.tsx", "import './folder'; require('./no')"),
        ("d.tsx", "import './Button.ios'"),
    ];
    let common = [
        "Button.ios.tsx -> util.ios.ts",
        "Button.ios.tsx -> util.native.ts",
        "a.tsx -> Button.android.tsx",
        "a.tsx -> Button.ios.tsx",
        "b.tsx -> Button.android.tsx",
        "b.tsx -> Button.ios.tsx",
        "b.tsx -> both.ts",
        "c.tsx -> folder/index.native.js",
        "d.tsx -> Button.ios.tsx",
    ];
    assert_eq!(edges_of(&files), common);
    // In a project for React Native, a variant counts beside the common file.
    let mut native = repository(&files);
    native.insert(
        "package.json".to_owned(),
        r#"{"peerDependencies": {"react-native": "*"}}"#.to_owned(),
    );
    let mut expected = common.to_vec();
    expected.insert(6, "b.tsx -> both.ios.ts");
    assert_eq!(edges(cold(&native).graph()), expected);
    let aliased = [
        ("tsconfig.json", r#"{"compilerOptions": {"paths": {"@/*": ["src/*"]}}}"#),
        ("src/b.web.ts", ""),
    ];
    leads_to("@/b", &aliased, "src/b.web.ts");
}

#[test]
fn an_edited_config_changes_the_files_below_it() {
    let mut files = repository(&[
        ("src/a.ts", "import '@/b'; import '/b'; import 'pk'"),
        ("src/b.ts", ""),
        ("lib/b.ts", ""),
        ("pk/m.ts", ""),
    ]);
    let mut snapshot = cold(&files);
    for (path, text, expected) in [
        (
            "vite.config.ts",
            "export default { resolve: { alias: { '@': resolve(__dirname, 'src') } } }",
            1,
        ),
        (
            "vite.config.ts",
            "export default { root: 'lib', resolve: { alias: { '@': resolve(__dirname, 'src') } } }",
            2,
        ),
        ("vite.config.ts", "", 0),
        ("deno.json", r#"{"imports": {"@/": "./lib/"}}"#, 1),
        ("vite.config.ts", "export default { root: 'src' }", 2),
        ("src/deno.json", r#"{"imports": {"@/": "../lib/"}}"#, 2),
        ("deno.json", r#"{"workspace": ["pk"]}"#, 2),
        ("pk/deno.json", r#"{"name": "pk", "exports": "./m.ts"}"#, 3),
        ("pk/deno.json", r#"{"name": "pk", "exports": "./no.ts"}"#, 2),
        ("src/index.html", "", 2),
        ("src/b.ios.ts", "", 2),
        ("package.json", r#"{"dependencies": {"react-native": "1"}}"#, 3),
        ("package.json", "{}", 2),
    ] {
        files.insert(path.to_owned(), text.to_owned());
        snapshot = snapshot_after(Previous::Snapshot(snapshot), &files).0;
        assert_eq!(snapshot.graph().edge_count(), expected, "{path}: {text}");
        assert_eq!(everything(&snapshot), everything(&cold(&files)), "{path}: {text}");
    }
}
