//! Texts that compress to nothing and name very much: an attacker would push these to make a build run out of memory.

use coord_scan::Language;

/// A text of about so many bytes.
type Text = Box<dyn Fn(usize) -> String>;

/// Repeats `unit` between `before` and `after`; `%` in it is the number of the repetition, and `%+1` the next one.
#[derive(Clone)]
struct Shape {
    name: &'static str,
    before: String,
    unit: String,
    after: &'static str,
}

fn shape(name: &'static str, before: impl Into<String>, unit: impl Into<String>, after: &'static str) -> Shape {
    Shape {
        name,
        before: before.into(),
        unit: unit.into(),
        after,
    }
}

impl Shape {
    fn text(&self, bytes: usize) -> String {
        let mut text = self.before.clone();
        if !self.unit.contains('%') {
            text += &self.unit.repeat(bytes / self.unit.len());
        }
        let mut number = 0;
        while self.unit.contains('%') && text.len() < bytes {
            let unit = self.unit.replace("%+1", &(number + 1).to_string());
            text += &unit.replace('%', &number.to_string());
            number += 1;
        }
        text + self.after
    }

    fn named(self) -> (&'static str, Text) {
        (self.name, Box::new(move |bytes| self.text(bytes)))
    }
}

fn common() -> Vec<Shape> {
    vec![
        shape("braces", "", "{", ""),
        shape("parentheses", "", "(", ""),
        shape("line breaks", "", "\n", ""),
    ]
}

fn javascript() -> Vec<Shape> {
    vec![
        shape("one import", "", "import'a';", ""),
        shape("imports", "", "import'%';", ""),
        shape("requires", "", "require('%');", ""),
        shape("dynamic imports", "", "import(`%`);", ""),
        shape("exports", "", "export*from'%';", ""),
        shape("mocks", "", "vi.mock('%');", ""),
        shape("define", "define([", "'a',", "],a);require('b')"),
        shape("JSDoc", "", "/**@type {import('%')}*/", ""),
        shape("references", "", "///<reference path='%'/>\n", ""),
        shape("URLs", "", "new URL('%',import.meta.url);", ""),
        shape("globs", "", "import.meta.glob('./%/**/*');", ""),
        shape("templates", "", "`${", "import 'a'"),
        shape("elements", "", "<a>", "import 'a'"),
        shape("elements in elements", "", "<a b={<a>{", "import 'a'"),
        shape("long", "", format!("import'{}';", "a".repeat(4_000)), ""),
        shape("escapes", "", format!("import'{}';", "\\u{e9}".repeat(600)), ""),
    ]
}

fn component() -> Vec<Shape> {
    let hole = r#"<p :a="import('%')">{{import('a')}}"#;
    vec![
        shape("scripts", "", "<script src=a />", ""),
        shape("many scripts", "", "<script>import'%'</script>", ""),
        shape("holes", "<a b=\"", "{import('a')}", ""),
        shape("open holes", "", "{a.map(b=><p c={", ""),
        shape("different holes", "<template>", hole, ""),
        shape("blocks", "", "{#if a}<b>", ""),
        shape("one script", "<script>", "import'%';", ""),
    ]
}

fn python() -> Vec<Shape> {
    let long = format!("from {} import b", "a".repeat(4_000));
    vec![
        shape("imports", "import a", ",a", ""),
        shape("names", "from a import b", ",b", ""),
        shape("different names", "from a import b", ",b%", ""),
        shape("names of a long module", long, ",b", ""),
        shape("stars", "", "from . import*\n", ""),
        shape("calls", "", "import_module('a');", ""),
        shape("fields", "", "f'{", "\nimport a"),
        shape("a long module", "import a", ".a", ""),
        shape("stars in a list", "import a", ",*", ""),
    ]
}

fn rust() -> Vec<Shape> {
    let long = format!("use {}{{b", "a::".repeat(160));
    let long_module = format!("mod {}{{", "a".repeat(500));
    vec![
        shape("leaves", "use a::{b", ",b", "};"),
        shape("different leaves", "use a::{b", ",b%", "};"),
        shape("leaves of a long path", &long, ",b", "};"),
        shape("different leaves of a long path", &long, ",b%", "};"),
        shape("nested", "use ", "a::{b,", ""),
        shape("aliases", "", "use a% as a%+1;", ""),
        shape("aliases in scopes", "", "{use a as b%;", ""),
        shape("modules", "", "mod a%;", ""),
        shape("one module", "", "mod a;", ""),
        shape("modules in modules", "", "mod a{mod b;", ""),
        shape("modules beside modules", "", "mod a{}", ""),
        shape("paths", "", "a::b%::c;", ""),
        shape("paths of an alias", "use x::y as a;", "a::b%::c;", ""),
        shape("one path", "", "a::b;", ""),
        shape("path attributes", "", "#[path=\"a\"]", "mod a;"),
        shape("paths of a long module", long_module, "#[path=\"a\"]", "mod b;"),
        shape("includes", "", "include!(\"a\");", ""),
        shape("globs", "", "use a::*;", ""),
        shape("crates", "", "extern crate a%;", ""),
        shape("blocks", "", "{}", ""),
    ]
}

fn go() -> Vec<Shape> {
    vec![
        shape("imports", "package a\nimport(", "\"%\";", ""),
        shape("one import", "package a;", "import\"b\";", ""),
        shape("constraints", "//go:build ", "a||", "\npackage a"),
        shape("negations", "//go:build ", "!(", "\npackage a"),
    ]
}

/// The shapes of a language; a new language has the common ones, and further ones if it lists them here.
pub fn of(language: Language) -> impl Iterator<Item = (&'static str, Text)> {
    let own = match language {
        Language::JavaScript | Language::TypeScript | Language::TypeScriptJsx => javascript(),
        Language::Vue | Language::Svelte | Language::Astro => [component(), javascript()].concat(),
        Language::Python => python(),
        Language::Rust => rust(),
        Language::Go => go(),
    };
    common().into_iter().chain(own).map(Shape::named)
}

/// The shapes of manifests of every format: JSON, TOML, YAML and those of Go.
pub fn of_manifests() -> impl Iterator<Item = (&'static str, Text)> {
    let resolutions = r#"{"name":"a","workspaces":[],"resolutions":{"#;
    let folders = "[tool.setuptools]\npackage-dir={";
    let dependencies = "[package]\nname='a'\n[dependencies]\n";
    let shapes = [
        shape("braces", "", "{", ""),
        shape("lists in lists", r#"{"exports":"#, "[", ""),
        shape("objects in objects", "", r#"{"exports":"#, ""),
        shape("numbers", r#"{"name":"a","exports":["#, "1,", "1]}"),
        shape("workspaces", r#"{"workspaces":["#, r#""**/*","#, r#""a"]}"#),
        shape("stars", r#"{"workspaces":[""#, "*a", r#""]}"#),
        shape(
            "exports",
            r#"{"name":"a","exports":{"#,
            r#""./%*":"./src/*","#,
            r#"".":"./a"}}"#,
        ),
        shape("imports", r#"{"imports":{"#, r##""#%*":"./*","##, r##""#a":"./a"}}"##),
        shape("import map", r#"{"imports":{"#, r#""%/":"./","#, r#""a":"./a"}}"#),
        shape(
            "dependencies on the workspace",
            resolutions,
            r#""%":"workspace:a@","#,
            r#""a":"file:."}}"#,
        ),
        shape("overrides", "overrides:\n", " a%: link:.\n", ""),
        shape("aliases", "alias:{", "a%:resolve(__dirname,'a'),", ""),
        shape("calls in calls", "alias:{a:", "resolve(", ""),
        shape(
            "paths",
            r#"{"compilerOptions":{"paths":{"#,
            r#""%*":["*"],"#,
            r#""*":["*"]}}}"#,
        ),
        shape("references", r#"{"references":["#, r#"{"path":"."},"#, "{}]}"),
        shape("extends", r#"{"extends":["#, r#""./tsconfig.json","#, r#""a"]}"#),
        shape("packages", "packages:\n", "  - '**'\n", ""),
        shape("tables", "", "[a%]\n", ""),
        shape("tables in tables", "[a", ".a", "]\n"),
        shape("TOML lists in lists", "a=", "[", ""),
        shape("members", "[workspace]\nmembers=[", "\"**\",", "]\n"),
        shape("dependencies", dependencies, "a%={path='..'}\n", ""),
        shape("folders", folders, "''='src',", "}\n"),
        shape("replaces", "module a\n", "replace a/%=>./\n", ""),
        shape("uses", "go 1.22\n", "use ./\n", ""),
        shape("kit aliases", "export default{kit:{alias:{", "a%:'src',", "}}}"),
    ];
    shapes.into_iter().map(Shape::named)
}
