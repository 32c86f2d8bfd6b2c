//! Random repositories and changes to them, with few enough names and contents that many of them interact.

use proptest::prelude::*;
use proptest::sample::select;

use super::repository::Repository;

pub const FOLDERS: &[&str] = &[
    "",
    "src",
    "src/a",
    "packages/p",
    "packages/p/src",
    "packages/q",
    "packages/q/lib",
    "py",
    "py/pkg",
    "py/pkg/sub",
    "node_modules/n",
    "node_modules",
    "src/ns/in",
    "py/src/ns/pkg",
    "layers/ns",
    "q/src/ns/pkg",
    "q/src/ns",
];
pub const NAMES: &[&str] = &[
    "a.ts",
    "a.tsx",
    "a.d.ts",
    "a.js",
    "a.mjs",
    "index.ts",
    "index.js",
    "b.json",
    "b.vue",
    "a",
    "c.css",
    "x.py",
    "x.pyi",
    "__init__.py",
    "pkg.py",
    "sub.py",
    "json.py",
    "package.json",
    "tsconfig.json",
    "jsconfig.json",
    "tsconfig.base.json",
    "other.json",
    "pnpm-workspace.yaml",
    "lerna.json",
    "rush.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pants.toml",
    "conftest.py",
    "requirements.txt",
    "svelte.config.js",
    "nuxt.config.ts",
    "vite.config.ts",
    "deno.json",
    "index.html",
    "a.ios.ts",
    "a.css",
    "a.css.d.ts",
];
/// Rust and Go, apart from the others so that enough of them interact.
pub const MODULE_FOLDERS: &[&str] = &[
    "",
    "src",
    "src/m",
    "src/bin",
    "tests",
    "packages/p",
    "packages/p/src",
    "packages/q/lib",
    "vendor/e.com/y",
];
pub const MODULE_NAMES: &[&str] = &[
    "lib.rs",
    "lib.rs",
    "main.rs",
    "mod.rs",
    "m.rs",
    "n.rs",
    "Cargo.toml",
    "Cargo.toml",
    "a.go",
    "a_test.go",
    "b.go",
    "go.mod",
    "go.work",
];
const RUST: &[&str] = &[
    "mod m;",
    "mod n;",
    "#[path = \"m/n.rs\"] mod other;",
    "#[cfg_attr(unix, path = \"../n.rs\")] pub mod a;",
    "mod inline { mod n; use super::n as x; }",
    "use crate::m::n::X;",
    "use super::super::m;",
    "use super::n::*;",
    "use m::{self, n::Y};",
    "use p::m::n;",
    "use root::m;",
    "use q_::n;",
    "fn f() { crate::inline::n::g(); p::m::h(); }",
    "include!(\"n.rs\");",
    "extern crate p as other; use other::m;",
    "extern crate self as me;",
    "use other::m::X; fn f() { me::m::n::g() }",
    "macro_rules! x { () => { $crate::m::n::f() } }",
];
const CARGO: &[&str] = &[
    "[package]\nname = \"p\"\nedition = \"2021\"\n",
    "[package]\nname = \"root\"\nedition.workspace = true\n[workspace]\npackage.edition = \"2024\"\n[workspace.dependencies]\n\
     p.path = \"packages/p\"\n[dependencies]\np.workspace = true\nq_ = { path = \"packages/q\", package = \"q\" }\n",
    "[package]\nname = \"q\"\n[lib]\npath = \"lib/m.rs\"\n[dependencies]\np = \"1\"\n[patch.crates-io]\np.path = \"../p\"\n",
    "[package]\nname = \"p\"\nautobins = false\n[[bin]]\nname = \"n\"\n[[test]]\nname = \"t\"\npath = \"src/n.rs\"\n",
    "[package]\nname = \"q\"\nedition = \"2018\"\n[[test]]\nname = \"t\"\npath = \"../../src/m.rs\"\n[dependencies]\np.path = \"../p\"\n",
    "[package",
];
const GO: &[&str] = &[
    "import \"e.com/x\"",
    "import \"e.com/x/src\"",
    "import (\"e.com/x/src/a\"; \"e.com/y\")",
    "import \"e.com/y/lib\"",
    "import \"fmt\"",
    "import \"C\"",
];
const GO_MODULES: &[&str] = &[
    "module e.com/x\n",
    "module e.com/x\nreplace e.com/y => ./packages/q\n",
    "module e.com/y\nreplace (\n\te.com/x => ../..\n)\n",
    "module std\n",
    "module",
];
const SCRIPTS: &[&str] = &[
    "import './a'",
    "import '../a.js'",
    "import './a/index'",
    "import '..'",
    "import './b.json'",
    "import './b.vue'",
    "import 'p'",
    "import 'p/a'",
    "import 'q'",
    "import '@/a'",
    "import 'src/a'",
    "import 'n'",
    "import 'root'",
    "import '#x'",
    "import './c.css?raw'",
    "require('./a')",
    "export * from '../src/a'",
    "import '../packages/p'",
    "import 'a'",
    "import './a.css'",
    "import '$lib/a'",
    "import '~/a'",
    "define(['./a'], a => a)",
    "import '.'",
    "import a = require('p')",
    "import.meta.glob('./*.ts')",
    "import.meta.glob(['../**/*.{js,ts}', '!**/index.*', '!@/a'])",
    "import.meta.glob('/src/**', { base: './a' })",
    "import.meta.glob('@/*.ts')",
    "require.context('../packages', true, /\\.(js|vue)$/)",
    "import '#layers/ns/a'",
    "require('./b')",
    "import './a.d'",
    "import '../dist/a'",
    "require('../../dist')",
    "import '/x/a'",
    "import '/a'",
    "import 'jsr:p@1/a'",
    "/// <reference types=\"p\" />",
];
const PYTHON: &[&str] = &[
    "import pkg",
    "import pkg.x",
    "from pkg import x",
    "from . import x",
    "from .. import x",
    "from .sub import x",
    "import json",
    "from pkg.sub import *",
    "import py.pkg.x",
    "import x",
    "from src import x",
    "import sub.x",
    "import ns.pkg.x",
    "from ns.in import x",
    "from ns.in.sub import x",
    "from ns import pkg",
    "from ..pkg import sub",
    "from pkgutil import extend_path",
    "import in.x, pkg.sub",
    "import top.x",
];
const PYPROJECTS: &[&str] = &[
    "[tool.maturin]\npython-source = \"py\"\n",
    "[project]\nname = \"pkg\"\n",
    "[project]\nname = \"other\"\ndependencies = [\"pkg\"]\n",
    "[tool.setuptools.package-dir]\ntop = \"sub\"\n",
    "[tool.pytest.ini_options]\npythonpath = [\".\", \"pkg\"]\n",
    "",
];
const PACKAGES: &[&str] = &[
    r#"{"name": "p", "main": "./src/a.js"}"#,
    r#"{"name": "p", "exports": {".": "./dist/index.js", "./*": "./dist/*.js"}}"#,
    r#"{"name": "q", "types": "lib/a.d.ts", "main": "lib/a.js"}"#,
    r##"{"name": "root", "workspaces": ["packages/*"], "imports": {"#x": "./src/a.js"}}"##,
    r#"{"workspaces": ["packages/*", "!packages/q"], "dependencies": {"n": "file:./src"}}"#,
    r#"{"name": "n", "type": "module", "dependencies": {"react-native": "1"}, "typesVersions": {"*": {"*": ["a/*"]}}}"#,
    r#"{"name": "p", "exports": {"import": "./src/a.mjs", "require": "./src/a.js"}}"#,
    r#"{"name": "p", "main": "dist/a.js", "exports": {"deno": "./a.ts", "source": "./src/a.ts", "import": "./dist/no.js"}}"#,
    r#"{"name": "q", "dependencies": {"n": "workspace:p@*", "root": "workspace:*"}}"#,
    r#"{"name": "root", "main": "src/a.js", "resolutions": {"q": "link:./src", "p": "workspace:n@*"}}"#,
    "{",
];
const CONFIGS: &[&str] = &[
    r#"{"compilerOptions": {"baseUrl": "."}}"#,
    r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"], "/x/*": ["./src/*"]}}}"#,
    r#"{"extends": "./tsconfig.base.json", "references": [{"path": "./src"}]}"#,
    r#"{"extends": ["./other.json", "p/tsconfig.json"], "include": ["a.ts"]}"#,
    r#"{"compilerOptions": {"rootDirs": ["src", "packages"], "outDir": "dist", "rootDir": "lib"}}"#,
    r#"{"references": [{"path": "./other.json"}], "files": []}"#,
    r#"{"compilerOptions": {"moduleSuffixes": [".test", ""]}}"#,
    r#"{"compilerOptions": {"module": "nodenext"}}"#,
];
const FRAMEWORKS: &[&str] = &[
    "export default { kit: { alias: { '~': 'src' } } }",
    "import './a'\nexport default { srcDir: 'src', alias: { $lib: 'packages/p' } }",
    "export default { extends: ['./src/ns/in', '../packages/q'] }",
    "export default { $meta: { name: 'ns' }, alias: { '@': fileURLToPath(new URL('./a', import.meta.url)) } }",
    "",
];

const LINKS: &[&str] = &[
    "LINK a.js",
    "LINK ../src/a.ts",
    "LINK src",
    "LINK ../packages/p",
    "LINK ../../py/pkg",
    "LINK ..",
    "LINK ../packages/p/package.json",
    "LINK /a.ts",
    "LINK gone",
];

fn content(name: &str) -> BoxedStrategy<String> {
    prop_oneof![12 => text(name), 1 => select(LINKS).prop_map(str::to_owned)].boxed()
}

fn text(name: &str) -> BoxedStrategy<String> {
    let lines = |pool: &'static [&'static str]| {
        proptest::collection::vec(select(pool), 0..4)
            .prop_map(|lines| lines.join("\n"))
            .boxed()
    };
    match name {
        "package.json" => select(PACKAGES).prop_map(str::to_owned).boxed(),
        "svelte.config.js" | "nuxt.config.ts" => select(FRAMEWORKS).prop_map(str::to_owned).boxed(),
        "vite.config.ts" => select(
            &[
                "export default { resolve: { alias: { '@': resolve(__dirname, 'src') } } }",
                "import './a'\nexport default { root: 'src', alias: [{ find: '~', replacement: '/a' }] }",
            ][..],
        )
        .prop_map(str::to_owned)
        .boxed(),
        "deno.json" => select(
            &[
                r#"{"imports": {"@/": "./src/", "p": "./a.ts"}, "workspace": ["packages/*", "src"]}"#,
                r#"{"name": "p", "exports": "./a.ts", "imports": {"n": "jsr:q@1"}}"#,
            ][..],
        )
        .prop_map(str::to_owned)
        .boxed(),
        "pnpm-workspace.yaml" => {
            let texts: &[&str] = &[
                "packages:\n  - packages/*\n",
                "packages: [src]",
                "overrides: {p: 'link:./src', n: workspace:root@*}",
            ];
            select(texts).prop_map(str::to_owned).boxed()
        }
        "lerna.json" => select(&["{}", r#"{"packages": ["src"]}"#][..])
            .prop_map(str::to_owned)
            .boxed(),
        "rush.json" => Just(r#"{"projects": [{"projectFolder": "packages/q"}]}"#.to_owned()).boxed(),
        "pyproject.toml" => select(PYPROJECTS).prop_map(str::to_owned).boxed(),
        "setup.py" => select(&["setup()", "setup(package_dir={'top': 'pkg'})", "import pkg.x"][..])
            .prop_map(str::to_owned)
            .boxed(),
        "setup.cfg" => select(&["[options.packages.find]\nwhere = pkg\n", "[metadata]\nname = a\n"][..])
            .prop_map(str::to_owned)
            .boxed(),
        "pants.toml" => select(
            &[
                "",
                "[source]\nroot_patterns = [\"ns\", \"/py\"]\nmarker_filenames = [\"a\"]\n",
            ][..],
        )
        .prop_map(str::to_owned)
        .boxed(),
        "Cargo.toml" => select(CARGO).prop_map(str::to_owned).boxed(),
        "go.mod" => select(GO_MODULES).prop_map(str::to_owned).boxed(),
        "go.work" => select(
            &[
                "use .\nuse ./packages/q\n",
                "use (\n.\n../src\n)\nreplace e.com/y => ./src\n",
            ][..],
        )
        .prop_map(str::to_owned)
        .boxed(),
        name if name.ends_with(".rs") => lines(RUST),
        name if name.ends_with(".go") => (lines(GO), any::<bool>())
            .prop_map(|(imports, is_ignored)| {
                let constraint = if is_ignored { "//go:build ignore\n" } else { "" };
                format!("{constraint}package a\n{imports}\n")
            })
            .boxed(),
        name if name.ends_with(".json") => select(CONFIGS).prop_map(str::to_owned).boxed(),
        name if name.contains(".py") => lines(PYTHON),
        "b.vue" => (lines(SCRIPTS), lines(SCRIPTS))
            .prop_map(|(script, code)| {
                format!("<script>\n{script}\n</script>\n<template><p>{{{{ {code} }}}}</p></template>\n")
            })
            .boxed(),
        _ => lines(SCRIPTS),
    }
}

/// Folders and names of files.
pub type Pool = (&'static [&'static str], &'static [&'static str]);

pub fn file((folders, names): Pool) -> impl Strategy<Value = (String, String)> {
    (select(folders), select(names)).prop_flat_map(|(folder, name)| {
        let path = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        (Just(path), content(name))
    })
}

#[derive(Clone, Debug)]
pub enum Change {
    /// Adds the file or gives it another content.
    Write(String, String),
    /// Deletes the nth file.
    Delete(prop::sample::Index),
    /// Moves the nth file to the path.
    Rename(prop::sample::Index, String),
    /// Moves all files of one folder to another.
    MoveFolder(&'static str, &'static str),
}

pub fn change(pool: Pool) -> impl Strategy<Value = Change> {
    prop_oneof![
        5 => file(pool).prop_map(|(path, content)| Change::Write(path, content)),
        2 => any::<prop::sample::Index>().prop_map(Change::Delete),
        2 => (any::<prop::sample::Index>(), file(pool)).prop_map(|(which, (path, _))| Change::Rename(which, path)),
        1 => (select(pool.0), select(pool.0)).prop_map(|(from, to)| Change::MoveFolder(from, to)),
    ]
}

pub fn apply(files: &mut Repository, change: &Change) {
    let nth = |files: &Repository, which: &prop::sample::Index| {
        (!files.is_empty())
            .then(|| files.keys().nth(which.index(files.len())).cloned())
            .flatten()
    };
    match change {
        Change::Write(path, content) => drop(files.insert(path.clone(), content.clone())),
        Change::Delete(which) => drop(nth(files, which).and_then(|path| files.remove(&path))),
        Change::Rename(which, path) => {
            if let Some(content) = nth(files, which).and_then(|old| files.remove(&old)) {
                files.insert(path.clone(), content);
            }
        }
        Change::MoveFolder(from, to) => {
            let inside = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder) == *from;
            let moved: Vec<String> = files.keys().filter(|path| inside(path)).cloned().collect();
            for path in moved {
                let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
                if let Some(content) = files.remove(&path) {
                    files.insert(format!("{to}/{name}").trim_start_matches('/').to_owned(), content);
                }
            }
        }
    }
    // A path cannot be a file and a folder at once.
    let folders: Vec<String> = files
        .keys()
        .filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()))
        .collect();
    files.retain(|path, _| {
        !folders
            .iter()
            .any(|folder| folder == path || folder.starts_with(&format!("{path}/")))
    });
}
