//! Specifiers of JavaScript and TypeScript -> files.

use coord_graph::Reason;

use super::import::{import, leads_to};
use super::repository::edges_of;

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
fn a_specifier_that_ends_in_d_means_a_declaration() {
    for (written, tracked) in [
        ("./b.d", "src/b.d.ts"),
        ("./b.d.js", "src/b.d.ts"),
        ("./b.d.ts", "src/b.d.ts"),
        ("./b.d.jsx", "src/b.d.ts"),
        ("./b.d.mjs", "src/b.d.mts"),
        ("./b.d.mts", "src/b.d.mts"),
        ("./b.d.cjs", "src/b.d.cts"),
        ("./b.d", "src/b.d.js"),
        ("./b.d.js", "src/b.d.js"),
        ("./b.d", "src/b.d.tsx"),
    ] {
        leads_to(written, &[(tracked, "")], tracked);
    }
    leads_to(
        "./b.d",
        &[("src/b.d.ts", ""), ("src/b.ts", ""), ("src/b.js", "")],
        "src/b.d.ts",
    );
    assert_eq!(import("./b.d", &[("src/b.ts", "")]), Err(Reason::Missing));
    assert_eq!(import("./b.d.mjs", &[("src/b.d.ts", "")]), Err(Reason::Missing));
    let config = r#"{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["lib/*"]}}}"#;
    let others = [
        ("tsconfig.json", config),
        ("package.json", r#"{"workspaces": ["p"]}"#),
        ("p/package.json", r#"{"name": "p"}"#),
        ("p/x.d.ts", ""),
        ("lib/x.d.ts", ""),
    ];
    leads_to("@/x.d", &others, "lib/x.d.ts");
    leads_to("lib/x.d.js", &others, "lib/x.d.ts");
    leads_to("p/x.d", &others, "p/x.d.ts");
}

#[test]
fn a_require_without_extension_finds_data_in_the_order_of_node() {
    let files = [
        ("package.json", r#"{"main": "data"}"#),
        ("data.json", ""),
        ("conf.json", ""),
        ("conf/index.js", ""),
        ("both.js", ""),
        ("both.json", ""),
        ("only/index.json", ""),
        ("bin/a.js", "require('../package')"),
        ("bin/b.js", "require('../conf')"),
        ("bin/c.js", "require('../conf/')"),
        ("bin/d.js", "require('../both')"),
        ("bin/e.js", "require('../only')"),
        ("bin/f.js", "require('..')"),
        ("bin/g.ts", "import '../conf'"),
        ("bin/h.ts", "import conf = require('../conf')"),
    ];
    let expected = [
        "bin/a.js -> package.json",
        "bin/b.js -> conf.json",
        "bin/c.js -> conf/index.js",
        "bin/d.js -> both.js",
        "bin/e.js -> only/index.json",
        "bin/f.js -> data.json",
        "bin/g.ts -> conf/index.js",
        "bin/h.ts -> conf.json",
    ];
    assert_eq!(edges_of(&files), expected);
}

#[test]
fn an_unresolved_import_has_a_reason() {
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
fn paths_of_references_and_urls_need_no_dot() {
    let files = [
        (
            "d/a.ts",
            "/// <reference path=\"types.d.ts\" />\nnew URL('w.js', import.meta.url)",
        ),
        ("d/types.d.ts", ""),
        ("d/w.js", ""),
    ];
    assert_eq!(edges_of(&files), ["d/a.ts -> d/types.d.ts", "d/a.ts -> d/w.js"]);
}

#[test]
fn a_file_never_imports_itself() {
    assert!(edges_of(&[("a.ts", "import './a'")]).is_empty());
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
    // A link that leads nowhere in the repository means itself.
    leads_to("./gone", &links, "src/gone.ts");
    assert_eq!(import("./out/x", &links), Err(Reason::Missing));
}

#[test]
fn an_import_is_one_in_either_form_of_unicode() {
    for written in ["./gr\u{f6}\u{df}e", "./gro\u{308}\u{df}e"] {
        // Trees have composed paths.
        leads_to(written, &[("src/gr\u{f6}\u{df}e.ts", "")], "src/gr\u{f6}\u{df}e.ts");
    }
}
