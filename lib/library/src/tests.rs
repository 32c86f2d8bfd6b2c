use std::collections::BTreeMap;

use super::source::{Source, in_order};

/// These files, each a name and what it requires.
fn files<'f>(files: &[(&'f str, &'f [&'f str])]) -> BTreeMap<&'f str, Source<'f>> {
    let source = |(name, requires): &(&'f str, &'f [&'f str])| (*name, Source::new(requires, "return {}\n"));
    files.iter().map(source).collect()
}

#[test]
fn a_module_comes_behind_those_that_it_requires() {
    let modules = files(&[("a", &["c", "b"]), ("b", &["c"]), ("c", &[]), ("unused", &["a"])]);
    assert_eq!(in_order(&modules, ["a"]), ["c", "b", "a"]);
    assert_eq!(in_order(&modules, ["b", "a"]), ["c", "b", "a"]);
}

#[test]
fn functions_that_extensions_put_into_a_seam_come_with_it() {
    let modules = files(&[
        ("locks/claim", &["seams/gate"]),
        ("locks/read", &[]),
        ("seams/gate", &[]),
        ("intents/records", &[]),
        ("intents/seams", &["intents/records", "seams/gate"]),
    ]);
    assert_eq!(
        in_order(&modules, ["locks/claim"]),
        ["seams/gate", "locks/claim", "intents/records", "intents/seams"]
    );
    assert_eq!(in_order(&modules, ["locks/read"]), ["locks/read"]);
}

#[test]
#[should_panic(expected = r#"["a"] require gone, and there is no such module"#)]
fn the_build_refuses_an_unknown_module() {
    in_order(&files(&[("a", &["gone"])]), ["a"]);
}

#[test]
#[should_panic(expected = r#"a uses itself: ["a", "b", "c"]"#)]
fn the_build_refuses_a_module_that_uses_itself_through_others() {
    in_order(&files(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])]), ["a"]);
}

#[test]
#[should_panic(expected = "a.lua: put its requires at its head, a line each: local Late = require('b')")]
fn the_build_refuses_a_require_that_is_not_at_the_head() {
    Source::parse(
        "a.lua",
        "local One = require('c')\nlocal A = {}\nlocal Late = require('b')\nreturn A\n",
    );
}

#[test]
#[should_panic(expected = "a.lua: put its requires at its head, a line each:   local b = require('b')")]
fn the_build_refuses_a_require_inside_of_a_function() {
    Source::parse("a.lua", "return function()\n  local b = require('b')\nend\n");
}

#[test]
#[should_panic(expected = "a.lua: it requires a module twice")]
fn the_build_refuses_a_module_that_is_required_twice() {
    Source::parse(
        "a.lua",
        "local One = require('b')\nlocal Two = require('b')\nreturn One\n",
    );
}

#[test]
fn comments_are_no_code() {
    let source = Source::parse(
        "a.lua",
        "-- local B = require('b')\nlocal C = require('c')\n\n  -- what it is\nreturn C\n",
    );
    assert_eq!(*source.requires, ["c"]);
    assert_eq!(source.code, "local C = require('c')\nreturn C\n");
}
