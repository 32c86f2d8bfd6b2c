//! Specifiers under the config that governs the file: `tsconfig.json`, and those that frameworks write.

use coord_graph::Reason;

use super::import::{import, leads_to};
use super::repository::target;

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
fn patterns_may_begin_with_a_slash() {
    let config = (
        "tsconfig.json",
        r#"{"compilerOptions": {"baseUrl": ".", "paths": {"/@/*": ["src/*"], "/x": ["src/y.ts"]}}}"#,
    );
    let files = [config, ("src/y.ts", "")];
    leads_to("/@/y", &files, "src/y.ts");
    leads_to("/x", &files, "src/y.ts");
    assert_eq!(import("/@/gone", &files), Err(Reason::Missing));
    // `baseUrl` is for names alone.
    assert_eq!(import("/src/y", &files), Err(Reason::External));
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

// rule: languages#tsconfig
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
    for before in [
        "const escape = (text) => text.replace(/[{}`]/g, (c) => ({ '{': '&#123;', '}': '&#125;', '`': '&#96;' })[c]);",
        "const onwarn = (warning) => /^a11y-'x/.test(warning.code);",
        "const banner = `${name('`')} it's`;",
    ] {
        let config = format!("{before}\nexport default {{ kit: {{ alias: {{ $ui: 'src/ui' }} }} }};");
        leads_to(
            "$ui/b",
            &[("svelte.config.js", &config), ("src/ui/b.ts", "")],
            "src/ui/b.ts",
        );
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
fn aliases_that_a_config_computes_from_strings_are_known() {
    for config in [
        "export default { kit: { alias: { $ui: path.resolve('src/ui') } } }",
        "export default { kit: { alias: { $ui: resolve(__dirname, './src', 'ui'), } } }",
        "export default { kit: { alias: { '$ui': fileURLToPath(new URL('./src/ui', import.meta.url)) } } }",
    ] {
        leads_to(
            "$ui/b",
            &[("svelte.config.js", config), ("src/ui/b.ts", "")],
            "src/ui/b.ts",
        );
    }
    let nuxt = (
        "web/nuxt.config.ts",
        "const { resolve } = createResolver(import.meta.url)\nexport default defineNuxtConfig({ srcDir: resolve('./client'), alias: { ui: resolve('../ui') } })",
    );
    let files = [
        nuxt,
        ("ui/b.ts", ""),
        ("web/client/c.ts", ""),
        ("web/a.ts", "import 'ui/b'"),
        ("web/b.ts", "import '~/c'"),
    ];
    assert_eq!(target(&files, "web/a.ts"), Ok("ui/b.ts".to_owned()));
    assert_eq!(target(&files, "web/b.ts"), Ok("web/client/c.ts".to_owned()));
}

// rule: languages#bundlers
#[test]
fn layers_of_nuxt_have_names_and_the_aliases_of_their_project() {
    let files = [
        (
            "nuxt.config.ts",
            "export default defineNuxtConfig({ extends: ['./shared', 'github:a/b', '../out', './none'] })",
        ),
        ("app/x.ts", ""),
        ("layers/base/nuxt.config.ts", "export default defineNuxtConfig({})"),
        ("layers/base/app/utils/x.ts", ""),
        ("layers/base/server/s.ts", ""),
        ("layers/base/app/own.ts", ""),
        (
            "layers/old/nuxt.config.js",
            "export default { srcDir: 'src', $meta: { name: 'older' } }",
        ),
        ("layers/old/src/y.ts", ""),
        ("layers/none/y.ts", ""),
        ("shared/nuxt.config.ts", "export default { $meta: { name: 'common' } }"),
        ("shared/z.ts", ""),
        (
            "app/a.vue",
            "<script setup>import x from \"#layers/base/utils/x\"</script>",
        ),
        ("app/b.ts", "import '#layers/base/server/s'"),
        ("app/c.ts", "import '#layers/older/y'"),
        ("app/d.ts", "import '#layers/common/z'"),
        ("app/e.ts", "import '#layers/none/y'"),
        ("layers/base/app/f.ts", "import '#layers/common/z'"),
        ("layers/base/app/g.ts", "import '~/x'"),
        ("layers/base/app/h.ts", "import '~/own'"),
        ("shared/i.ts", "import '@/x'"),
        ("other/j.ts", "import '#layers/gone/y'"),
    ];
    for (from, expected) in [
        ("app/a.vue", Ok("layers/base/app/utils/x.ts")),
        ("app/b.ts", Ok("layers/base/server/s.ts")),
        ("app/c.ts", Ok("layers/old/src/y.ts")),
        ("app/d.ts", Ok("shared/z.ts")),
        ("app/e.ts", Err(Reason::Missing)),
        ("layers/base/app/f.ts", Ok("shared/z.ts")),
        ("layers/base/app/g.ts", Ok("app/x.ts")),
        ("layers/base/app/h.ts", Ok("layers/base/app/own.ts")),
        ("shared/i.ts", Ok("app/x.ts")),
        ("other/j.ts", Err(Reason::Missing)),
    ] {
        assert_eq!(target(&files, from), expected.map(str::to_owned), "{from}");
    }
}

#[test]
fn module_suffixes_precede_the_extension() {
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
    let json = [config, ("src/e.json", ""), ("src/e.ios.json", "")];
    leads_to("./e.json", &json, "src/e.ios.json");
    leads_to("./e.json", &json[..2], "src/e.json");
    leads_to(
        "./f.css",
        &[config, ("src/f.css", ""), ("src/f.ios.css", "")],
        "src/f.css",
    );
    let exact = (
        "tsconfig.json",
        r#"{"compilerOptions": {"moduleSuffixes": [".ios", ""], "paths": {"one": ["./src/q.ts"]}}}"#,
    );
    leads_to("one", &[exact, ("src/q.ts", ""), ("src/q.ios.ts", "")], "src/q.ios.ts");
    let exported = [
        config,
        ("package.json", r##"{"imports": {"#d": "./src/d.json"}}"##),
        ("src/d.json", ""),
        ("src/d.native.json", ""),
    ];
    leads_to("#d", &exported, "src/d.native.json");
    let only = ("tsconfig.json", r#"{"compilerOptions": {"moduleSuffixes": [".ios"]}}"#);
    assert_eq!(import("./b", &[only, ("src/b.ts", "")]), Err(Reason::Missing));
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
