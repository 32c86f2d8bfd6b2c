//! Texts that compress to nothing and name very much: an attacker would push these to make a build run out of memory.

use coord_scan::Language;

/// A text of about `bytes` bytes.
type Text = fn(bytes: usize) -> String;

fn repeated(before: &str, unit: &str, bytes: usize) -> String {
    format!("{before}{}", unit.repeat(bytes / unit.len()))
}

/// `before`, and as many different lines as fit.
fn numbered(before: &str, bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = before.to_owned();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

const COMMON: &[(&str, Text)] = &[
    ("braces", |bytes| "{".repeat(bytes)),
    ("parentheses", |bytes| "(".repeat(bytes)),
    ("line breaks", |bytes| "\n".repeat(bytes)),
];

const JAVASCRIPT: &[(&str, Text)] = &[
    ("one import", |bytes| repeated("", "import'a';", bytes)),
    ("imports", |bytes| {
        numbered("", bytes, |number| format!("import'{number}';"))
    }),
    ("requires", |bytes| {
        numbered("", bytes, |number| format!("require('{number}');"))
    }),
    ("dynamic imports", |bytes| {
        numbered("", bytes, |number| format!("import(`{number}`);"))
    }),
    ("exports", |bytes| {
        numbered("", bytes, |number| format!("export*from'{number}';"))
    }),
    ("mocks", |bytes| {
        numbered("", bytes, |number| format!("vi.mock('{number}');"))
    }),
    ("define", |bytes| {
        repeated("define([", "'a',", bytes) + "],a);require('b')"
    }),
    ("JSDoc", |bytes| {
        numbered("", bytes, |number| format!("/**@type {{import('{number}')}}*/"))
    }),
    ("references", |bytes| {
        numbered("", bytes, |number| format!("///<reference path='{number}'/>\n"))
    }),
    ("URLs", |bytes| {
        numbered("", bytes, |number| format!("new URL('{number}',import.meta.url);"))
    }),
    ("globs", |bytes| {
        numbered("", bytes, |number| format!("import.meta.glob('./{number}/**/*');"))
    }),
    ("templates", |bytes| repeated("", "`${", bytes) + "import 'a'"),
    ("elements", |bytes| repeated("", "<a>", bytes) + "import 'a'"),
    ("elements in elements", |bytes| {
        repeated("", "<a b={<a>{", bytes) + "import 'a'"
    }),
    ("long", |bytes| {
        repeated("", &format!("import'{}';", "a".repeat(4_000)), bytes)
    }),
    ("escapes", |bytes| {
        repeated("", &format!("import'{}';", "\\u{e9}".repeat(600)), bytes)
    }),
];

const COMPONENT: &[(&str, Text)] = &[
    ("scripts", |bytes| repeated("", "<script src=a />", bytes)),
    ("many scripts", |bytes| {
        numbered("", bytes, |number| format!("<script>import'{number}'</script>"))
    }),
    ("holes", |bytes| repeated("<a b=\"", "{import('a')}", bytes)),
    ("open holes", |bytes| repeated("", "{a.map(b=><p c={", bytes)),
    ("different holes", |bytes| {
        numbered("<template>", bytes, |number| {
            format!("<p :a=\"import('{number}')\">{{{{import('a')}}}}")
        })
    }),
    ("blocks", |bytes| repeated("", "{#if a}<b>", bytes)),
    ("one script", |bytes| {
        numbered("<script>", bytes, |number| format!("import'{number}';"))
    }),
];

const PYTHON: &[(&str, Text)] = &[
    ("imports", |bytes| repeated("import a", ",a", bytes)),
    ("names", |bytes| repeated("from a import b", ",b", bytes)),
    ("different names", |bytes| {
        numbered("from a import b", bytes, |number| format!(",b{number}"))
    }),
    ("names of a long module", |bytes| {
        repeated(&format!("from {} import b", "a".repeat(4_000)), ",b", bytes)
    }),
    ("stars", |bytes| repeated("", "from . import*\n", bytes)),
    ("calls", |bytes| repeated("", "import_module('a');", bytes)),
    ("fields", |bytes| repeated("", "f'{", bytes) + "\nimport a"),
    ("a long module", |bytes| repeated("import a", ".a", bytes)),
    ("stars", |bytes| repeated("import a", ",*", bytes)),
];

const RUST: &[(&str, Text)] = &[
    ("leaves", |bytes| repeated("use a::{b", ",b", bytes) + "};"),
    ("different leaves", |bytes| {
        numbered("use a::{b", bytes, |number| format!(",b{number}")) + "};"
    }),
    ("leaves of a long path", |bytes| {
        repeated(&format!("use {}{{b", "a::".repeat(160)), ",b", bytes) + "};"
    }),
    ("different leaves of a long path", |bytes| {
        numbered(&format!("use {}{{b", "a::".repeat(160)), bytes, |number| {
            format!(",b{number}")
        }) + "};"
    }),
    ("nested", |bytes| repeated("use ", "a::{b,", bytes)),
    ("aliases", |bytes| {
        numbered("", bytes, |number| format!("use a{number} as a{};", number + 1))
    }),
    ("aliases in scopes", |bytes| {
        numbered("", bytes, |number| format!("{{use a as b{number};"))
    }),
    ("modules", |bytes| {
        numbered("", bytes, |number| format!("mod a{number};"))
    }),
    ("one module", |bytes| repeated("", "mod a;", bytes)),
    ("modules in modules", |bytes| repeated("", "mod a{mod b;", bytes)),
    ("modules beside modules", |bytes| repeated("", "mod a{}", bytes)),
    ("paths", |bytes| {
        numbered("", bytes, |number| format!("a::b{number}::c;"))
    }),
    ("paths of an alias", |bytes| {
        numbered("use x::y as a;", bytes, |number| format!("a::b{number}::c;"))
    }),
    ("one path", |bytes| repeated("", "a::b;", bytes)),
    ("path attributes", |bytes| {
        repeated("", "#[path=\"a\"]", bytes) + "mod a;"
    }),
    ("path attributes of a long module", |bytes| {
        format!("mod {}{{{}mod b;", "a".repeat(500), "#[path=\"a\"]".repeat(bytes / 11))
    }),
    ("includes", |bytes| repeated("", "include!(\"a\");", bytes)),
    ("globs", |bytes| repeated("", "use a::*;", bytes)),
    ("crates", |bytes| {
        numbered("", bytes, |number| format!("extern crate a{number};"))
    }),
    ("blocks", |bytes| repeated("", "{}", bytes)),
];

const GO: &[(&str, Text)] = &[
    ("imports", |bytes| {
        numbered("package a\nimport(", bytes, |number| format!("\"{number}\";"))
    }),
    ("one import", |bytes| repeated("package a;", "import\"b\";", bytes)),
    ("constraints", |bytes| {
        repeated("//go:build ", "a||", bytes) + "\npackage a"
    }),
    ("negations", |bytes| {
        repeated("//go:build ", "!(", bytes) + "\npackage a"
    }),
];

/// The shapes of a language; a new language has the common ones, and further ones if it lists them here.
pub fn of(language: Language) -> impl Iterator<Item = (&'static str, Text)> {
    let own: &[&[(&str, Text)]] = match language {
        Language::JavaScript | Language::TypeScript | Language::TypeScriptJsx => &[JAVASCRIPT],
        Language::Vue | Language::Svelte | Language::Astro => &[COMPONENT, JAVASCRIPT],
        Language::Python => &[PYTHON],
        Language::Rust => &[RUST],
        Language::Go => &[GO],
    };
    COMMON.iter().chain(own.iter().copied().flatten()).copied()
}

/// Manifests of every format: JSON, TOML, YAML and those of Go.
const MANIFESTS: &[(&str, Text)] = &[
    ("braces", |bytes| "{".repeat(bytes)),
    ("lists in lists", |bytes| repeated("{\"exports\":", "[", bytes)),
    ("objects in objects", |bytes| repeated("", "{\"exports\":", bytes)),
    ("numbers", |bytes| {
        repeated("{\"name\":\"a\",\"exports\":[", "1,", bytes) + "1]}"
    }),
    ("workspaces", |bytes| {
        repeated("{\"workspaces\":[", "\"**/*\",", bytes) + "\"a\"]}"
    }),
    ("stars", |bytes| repeated("{\"workspaces\":[\"", "*a", bytes) + "\"]}"),
    ("exports", |bytes| {
        numbered("{\"name\":\"a\",\"exports\":{", bytes, |number| {
            format!("\"./{number}*\":\"./src/*\",")
        }) + "\".\":\"./a\"}}"
    }),
    ("imports", |bytes| {
        numbered("{\"imports\":{", bytes, |number| format!("\"#{number}*\":\"./*\",")) + "\"#a\":\"./a\"}}"
    }),
    ("import map", |bytes| {
        numbered("{\"imports\":{", bytes, |number| format!("\"{number}/\":\"./\",")) + "\"a\":\"./a\"}}"
    }),
    ("dependencies on the workspace", |bytes| {
        numbered("{\"name\":\"a\",\"workspaces\":[],\"resolutions\":{", bytes, |number| {
            format!("\"{number}\":\"workspace:a@\",")
        }) + "\"a\":\"file:.\"}}"
    }),
    ("overrides", |bytes| {
        numbered("overrides:\n", bytes, |number| format!(" a{number}: link:.\n"))
    }),
    ("aliases", |bytes| {
        numbered("alias:{", bytes, |number| format!("a{number}:resolve(__dirname,'a'),"))
    }),
    ("calls in calls", |bytes| repeated("alias:{a:", "resolve(", bytes)),
    ("paths", |bytes| {
        numbered("{\"compilerOptions\":{\"paths\":{", bytes, |number| {
            format!("\"{number}*\":[\"*\"],")
        }) + "\"*\":[\"*\"]}}}"
    }),
    ("references", |bytes| {
        repeated("{\"references\":[", "{\"path\":\".\"},", bytes) + "{}]}"
    }),
    ("extends", |bytes| {
        repeated("{\"extends\":[", "\"./tsconfig.json\",", bytes) + "\"a\"]}"
    }),
    ("packages", |bytes| repeated("packages:\n", "  - '**'\n", bytes)),
    ("tables", |bytes| numbered("", bytes, |number| format!("[a{number}]\n"))),
    ("tables in tables", |bytes| repeated("[a", ".a", bytes) + "]\n"),
    ("TOML lists in lists", |bytes| repeated("a=", "[", bytes)),
    ("members", |bytes| {
        repeated("[workspace]\nmembers=[", "\"**\",", bytes) + "]\n"
    }),
    ("dependencies", |bytes| {
        numbered("[package]\nname='a'\n[dependencies]\n", bytes, |number| {
            format!("a{number}={{path='..'}}\n")
        })
    }),
    ("folders", |bytes| {
        repeated("[tool.setuptools]\npackage-dir={", "''='src',", bytes) + "}\n"
    }),
    ("replaces", |bytes| {
        numbered("module a\n", bytes, |number| format!("replace a/{number}=>./\n"))
    }),
    ("uses", |bytes| repeated("go 1.22\n", "use ./\n", bytes)),
    ("aliases of a framework", |bytes| {
        numbered("export default{kit:{alias:{", bytes, |number| {
            format!("a{number}:'src',")
        }) + "}}}"
    }),
];

/// The shapes of manifests.
pub fn of_manifests() -> impl Iterator<Item = (&'static str, Text)> {
    MANIFESTS.iter().copied()
}
