use crate::import_kind::ImportKind;
use crate::language::Language;
use crate::scan;
use crate::specifier::Specifier;

/// Each specifier as text: `mod a`, `mod a = path`, `use a::b`, `use a::b = meaning`, `path a`, `include x`.
fn found(text: &str) -> Vec<String> {
    let tell = |one: Specifier| {
        let kind = match one.kind {
            ImportKind::Module => "mod",
            ImportKind::Import => "use",
            ImportKind::Path => "path",
            ImportKind::Reference => "include",
            other => panic!("{other:?}"),
        };
        let name = one.name.map(|name| format!(" = {name}")).unwrap_or_default();
        format!("{kind} {}{name}", one.text)
    };
    scan(Language::Rust, text.as_bytes()).into_iter().map(tell).collect()
}

fn finds(text: &str, expected: &[&str]) {
    assert_eq!(found(text), expected, "{text}");
}

#[test]
fn modules_are_found_with_their_paths_and_the_modules_around_them() {
    for (text, expected) in [
        ("mod a;", &["mod a"][..]),
        ("pub(crate) mod r#type;", &["mod type"]),
        (
            "mod a { mod b; pub mod c { mod d; } } mod e;",
            &["mod a::b", "mod a::c::d", "mod e"],
        ),
        ("#[path = \"x/y.rs\"] mod a;", &["mod a = x/y.rs"]),
        ("#[path = r\"x.rs\"] #[cfg(test)] /* c */ pub mod a;", &["mod a = x.rs"]),
        ("#[cfg_attr(unix, path = \"u.rs\")] mod a;", &["mod a", "mod a = u.rs"]),
        (
            "#[cfg_attr(unix, path = \"u.rs\")] #[cfg_attr(all(windows), path = \"w.rs\")] mod a;",
            &["mod a", "mod a = u.rs", "mod a = w.rs"],
        ),
        ("#[path = \"x.rs\"] struct A; mod a;", &["mod a"]),
        ("cfg_rt! { mod a; pub mod b { mod c; } }", &["mod a", "mod b::c"]),
        (
            "cfg_if! { if #[cfg(unix)] { mod u; use u::X; } else { mod w; } }",
            &["mod u", "mod w"],
        ),
        (
            "macro_rules! m { ($n:ident) => { mod $n; mod x; use crate::y::z; } } mod a;",
            &["mod a"],
        ),
        ("macro_rules! m [ (\"]\") => { mod x; } ]; mod a;", &["mod a"]),
        ("mod a", &[]),
        ("model! { mod; }", &[]),
    ] {
        let found: Vec<String> = found(text).into_iter().filter(|one| one.starts_with("mod")).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn each_leaf_of_a_use_is_one_specifier() {
    for (text, expected) in [
        (
            "use crate::a::{b, c::{self, d as e}, *};",
            &[
                "use crate::a::b",
                "use crate::a::c",
                "use crate::a::c::d",
                "use crate::a::*",
            ][..],
        ),
        ("pub use super::super::a;", &["use super::super::a"]),
        (
            "use ::serde::{Serialize, de::*,};",
            &["use ::serde::Serialize", "use ::serde::de::*"],
        ),
        ("use {crate::a, b::{c, d}};", &["use crate::a", "use b::c", "use b::d"]),
        ("use crate::{a::{b::{c}}, d};", &["use crate::a::b::c", "use crate::d"]),
        ("use a::{};", &[]),
        ("use r#crate_::r#fn as _;", &["use crate_::fn"]),
        (
            "extern crate foo; extern crate self as me; use me::a;",
            &["use ::foo", "use me = crate", "use me::a = crate::a"],
        ),
        ("fn f() -> impl Sized + use<'a, T> {}", &[]),
        ("use /* x */ crate :: a // y\n :: b ;", &["use crate::a::b"]),
        ("use crate::a::{b", &["use crate::a::b"]),
    ] {
        finds(text, expected);
    }
}

#[test]
fn aliases_of_crates_are_resolved() {
    for (text, expected) in [
        ("extern crate foo as f;", &["use f = ::foo"][..]),
        ("#[macro_use] pub extern crate r#self as me;", &["use me = crate"]),
        ("extern crate foo as _;", &["use ::foo"]),
        ("mod a { extern crate foo as f; }", &["use ::foo"]),
        (
            "fn f() { extern crate foo as f; f::a::b(); }",
            &["use ::foo", "path ::foo::a"],
        ),
    ] {
        finds(text, expected);
    }
}

#[test]
fn of_the_rules_of_a_macro_paths_in_the_own_crate_are_found() {
    for (text, expected) in [
        (
            "macro_rules! m { ($a:expr) => { $crate::a::b::f($a, $crate::g!(), $crate :: c :: D) } } mod x;",
            &["path crate::a::b", "path crate", "path crate::c", "mod x"][..],
        ),
        (
            "mod t { macro_rules! m { () => { $crate::a::b() } } }",
            &["path crate::a"],
        ),
        (
            "macro_rules! m { () => { \"$crate::a::b\"; /* $crate::a::b */ $crate_::a::b; crate::a::b } }",
            &[],
        ),
        ("macro_rules! m { () => { $crate } }", &[]),
        ("macro_rules! m { () => { $crate::a::b", &["path crate::a"]),
        ("quote! { $crate::a::b }", &[]),
    ] {
        finds(text, expected);
    }
}

#[test]
fn names_that_the_file_binds_are_resolved() {
    for (text, expected) in [
        ("mod a; use a::b;", &["mod a", "use a::b = self::a::b"][..]),
        ("use a::b; mod a;", &["use a::b = self::a::b", "mod a"]),
        (
            "use crate::x::task; use task::join;",
            &["use crate::x::task", "use task::join = crate::x::task::join"],
        ),
        (
            "use bitflags::bitflags; use bitflags::b::c;",
            &["use bitflags::bitflags", "use bitflags::b::c"],
        ),
        (
            "mod a { use super::b; use super::super::c; use self::d::e; }",
            &["use self::b", "use super::c", "use self::a::d::e"],
        ),
        (
            "mod t { use super::*; use m::x; } mod m;",
            &["use super::*", "use m::x = self::m::x", "mod m"],
        ),
        ("use crate::x as m; mod t { use m::x; }", &["use crate::x", "use m::x"]),
        (
            "fn f() { use crate::a as b; b::c::d(); } fn g() { b::c::d(); }",
            &["use crate::a", "path crate::a::c", "path b::c"],
        ),
    ] {
        let expected: Vec<String> = expected
            .iter()
            .map(|one| one.replace("use super::*", "use self::*"))
            .collect();
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn paths_count_without_their_last_name_and_once() {
    for (text, expected) in [
        ("fn f() { crate::a::b(); crate::a::c(); }", &["path crate::a"][..]),
        (
            "fn f(x: super::T) -> Vec<super::a::T> {}",
            &["path super", "path super::a"],
        ),
        (
            "fn f() { other::run(); Vec::new(); std::mem::take(x); u32::from(y); Self::new(); }",
            &["path other"],
        ),
        (
            "#[other::main] fn f() { println!(\"{}\", crate::a::B) }",
            &["path other", "path crate::a"],
        ),
        (
            "fn f() { <T as crate::a::Trait>::b::c(); x.y::<Z>(); Vec::<u8>::new::a(); }",
            &["path crate::a"],
        ),
        ("fn f() { ::other::a::b() }", &["path ::other::a"]),
        ("crate::a::m! { use crate::b; }", &["path crate::a", "use crate::b"]),
        ("pub(in crate::a::b) fn f() {}", &[]),
        (
            "mod a; fn f() { a::g(); a::b::h(); self::g(); }",
            &["mod a", "path self::a::b"],
        ),
        (
            "use crate::a; fn f() { a::g(); a::b::h(); }",
            &["use crate::a", "path crate::a::b"],
        ),
        (
            "fn f() { quote! { use crate::x; ::serde::y::z } crate::a::b }",
            &["path crate::a"],
        ),
        (
            "fn f() { let c = x == 'a'; let l: &'static str = crate::a::B; '\\''; b'\"'; '\"'; crate::c::D }",
            &["path crate::a", "path crate::c"],
        ),
    ] {
        finds(text, expected);
    }
}

#[test]
fn text_in_comments_and_literals_is_none() {
    for text in [
        "// mod a;\n",
        "/* mod a; /* use b::c; */ mod d; */",
        "/// use crate::a;\n//! mod b;\n",
        "let a = \"mod a; \\\" use b::c;\";",
        "let a = r#\"mod a; \" use b::c;\"#;",
        "let a = br##\"\"# mod a;\"##;",
        "let a = c\"mod a;\";",
        "#!/usr/bin/env mod a;\n",
        "let a = '\\u{1F600}'; let b = '\u{1F600}'; 'mod: loop {}",
    ] {
        finds(&format!("{text}mod last;"), &["mod last"]);
    }
    finds("#![allow(x)] mod a;", &["mod a"]);
}

#[test]
fn included_files_are_found_where_a_literal_names_them() {
    for (text, expected) in [
        (
            "include!(\"a.rs\"); include_str!(r\"b.txt\",)",
            &["include a.rs", "include b.txt"][..],
        ),
        ("#![doc = include_str!(\"../README.md\")]", &["include ../README.md"]),
        (
            "#[cfg_attr(docs, doc = include_str!(\"a.md\"))] mod a;",
            &["include a.md", "mod a"],
        ),
        ("include!(concat!(env!(\"OUT_DIR\"), \"/a.rs\"))", &[]),
        ("std::include_bytes!(\"x\")", &["include x"]),
    ] {
        finds(text, expected);
    }
}
