//! Hostile repetition and nesting: time stays linear, and the stack does not grow.

use super::properties::checked;
use crate::language::Language;

#[test]
fn hostile_repetition_is_scanned_in_linear_time() {
    let closers = ["", ";", "}", "`", "*/", "\n", "</a>", "'", "import 'x'"];
    for unit in [
        "/",
        "=/[",
        "\u{a0}",
        "a\u{a0}",
        "\u{3000}",
        "é ",
        "é",
        "`${",
        "`",
        "{",
        "}",
        "(",
        "<a>",
        "<a b={",
        "<a b=",
        "<a ",
        "<T>(a: T) => a;",
        "a=<b c={import('x')};",
        "vi.mock<",
        "require(`",
        "require(/*",
        "import{",
        "import{a,",
        "import /**/",
        "import a,",
        "export{",
        "export*as ",
        "new URL('a',",
        "import.meta.",
        "import('x',",
        "/*",
        "/**@type {import('",
        "*/ /** @import ",
        "@type {@type {",
        "f'{",
        "f'{a:{",
        "f'{a:",
        "'''",
        "\"\"\"\\",
        "from . ",
        "from a.",
        "import a.",
        "from a import (",
        "import_module('.a',",
        "<script>",
        "<script src='",
        "<!--",
        "<script>import 'x'</script>",
        "vi.mock<import('x')>('y');",
        "\\",
        "\\\n",
        "'\\",
        "a!",
        "++",
        "<a>{",
        "<a>=>",
        "<a>}",
        "<a/>",
        "<a b=<c ",
        "=<a,b>c;",
        "</a>//require.resolve",
        "import.from a.",
        "mod a{",
        "mod a{mod b;",
        "use a::{",
        "use a::{b,",
        "use a::{b::{c},",
        "use a::b as c;c::d::e;",
        "use a as b;use b as a;b::c::d;",
        "a::",
        "::a",
        "crate::a::b;",
        "r#",
        "r#\"",
        "br###",
        "'\\",
        "'a",
        "#[cfg_attr(",
        "#[path=\"",
        "a!{",
        "macro_rules!a{",
        "quote!{",
        "pub(in ",
        "include!(\"a\");",
        "/*/*",
        "package a\nimport(",
        "package a;import\"b\";",
        "//go:build !(",
        "// +build ignore\n",
    ] {
        for closer in closers {
            let text = format!("{}{closer}", unit.repeat(3_000 / unit.len()));
            for language in Language::all() {
                checked(language, text.as_bytes());
                checked(language, format!("<script>{text}").as_bytes());
            }
        }
    }
}

#[test]
fn nesting_a_hundred_thousand_deep_needs_no_stack() {
    for unit in [
        "`${",
        "<a>",
        "<a>{",
        "<a b={",
        "<a b=",
        "{",
        "(",
        "f'{",
        "f'{a:{",
        "vi.mock<",
        "<script>",
        "mod a{",
        "use {",
        "a!{",
        "/*",
        "//go:build (",
    ] {
        let text = unit.repeat(200_000 / unit.len());
        for language in [
            Language::JavaScript,
            Language::TypeScriptJsx,
            Language::Astro,
            Language::Python,
            Language::Rust,
            Language::Go,
        ] {
            checked(language, text.as_bytes());
        }
    }
}
