//! `public/openapi.json` against the code that it is made from. That the answers agree with it is what `tests/api` looks after.

use std::path::Path;

use coord_domain::{AgentId, Branch, CommitSha, FilePath, LockReason, RepoId, is_plain_text, plain_text};
use coord_extensions::document;
use coord_http::Endpoint;
use coord_protocol::Event;
use coord_protocol::plain_text::is_invisible;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use serde_json::{Value, json};

const REGENERATE: &str = "COORD_UPDATE_OPENAPI=1 cargo test --test api openapi_document";

#[test]
fn the_committed_openapi_document_matches_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/openapi.json");
    let mut document = document();
    // Nothing where objects are sorted anyway; which crates of a build ask for another order must not matter.
    document.sort_all_objects();
    let text = format!("{document:#}\n");
    if std::env::var_os("COORD_UPDATE_OPENAPI").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "public/openapi.json is not what the code says; write it anew with\n    {REGENERATE}"
    );
}

#[test]
fn the_operations_are_those_of_the_table_of_routes() {
    let document = document();
    let mut described: Vec<&str> = document["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    // MCP describes itself: its one route takes every request of JSON-RPC.
    let elsewhere = [
        coord_http::endpoint::operation::MCP,
        coord_http::endpoint::operation::MCP_METADATA,
    ]
    .map(Endpoint::path);
    let routes = || {
        coord_extensions::endpoints()
            .iter()
            .map(|endpoint| endpoint.route())
            .filter(|route| !elsewhere.contains(&route.path))
    };
    let mut served: Vec<&str> = routes().map(|route| route.path).collect();
    described.sort_unstable();
    served.sort_unstable();
    assert_eq!(described, served);
    for route in routes() {
        let operations = document["paths"][route.path].as_object().unwrap();
        // HEAD is GET without a body.
        let methods = route.methods.split(", ").filter(|method| *method != "HEAD");
        let mut methods: Vec<String> = methods.map(str::to_lowercase).collect();
        methods.sort_unstable();
        let mut described: Vec<&String> = operations.keys().collect();
        described.sort_unstable();
        assert_eq!(described, methods.iter().collect::<Vec<_>>(), "{}", route.path);
        for operation in operations.values() {
            assert_eq!(operation["tags"], json!([route.audience.tag()]), "{}", route.path);
            let allowed = &operation["responses"]["405"]["headers"]["Allow"]["schema"]["examples"];
            assert_eq!(*allowed, json!([route.methods]), "{}", route.path);
        }
    }
}

/// The types of events as the document has them, each with what is said of it.
fn event_types(document: &Value) -> Vec<(String, String)> {
    let variants = document["components"]["schemas"]["Event"]["oneOf"].as_array().unwrap();
    let type_of = |variant: &Value| {
        let parts = variant["allOf"].as_array().unwrap();
        let tag = parts
            .iter()
            .find_map(|part| part["properties"]["type"]["enum"][0].as_str());
        let description = variant["description"].as_str().unwrap();
        (tag.unwrap().to_owned(), description.to_owned())
    };
    variants.iter().map(type_of).collect()
}

#[test]
fn each_type_of_event_has_an_example_that_the_type_writes_again() {
    let document = document();
    let schema = json!({ "$ref": "#/components/schemas/Event", "components": document["components"] });
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let examples = document["components"]["schemas"]["Event"]["examples"]
        .as_array()
        .unwrap();
    let mut shown = Vec::new();
    for example in examples {
        let event: Event = serde_json::from_value(example.clone()).unwrap();
        assert_eq!(json!(event), *example);
        assert!(validator.is_valid(example), "{example}");
        shown.push(example["type"].as_str().unwrap());
    }
    // Some have several.
    shown.dedup();
    let types = event_types(&document);
    let types: Vec<&str> = types.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        shown, types,
        "lib/protocol/src/event.rs has an example of each type, in their order"
    );
}

#[test]
fn the_page_of_the_state_lists_the_events() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/internals/state.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut table = "| event | meaning |\n|---|---|\n".to_owned();
    for (name, description) in event_types(&document()) {
        table += &format!("| `{name}` | {description} |\n");
    }
    let begin = page.find("| event |").unwrap();
    let end = begin + page[begin..].find("\n\n").unwrap() + 1;
    if std::env::var_os("COORD_UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &page[..begin], &page[end..])).unwrap();
        return;
    }
    assert!(
        page[begin..end] == table,
        "docs/internals/state.md does not list the events of lib/protocol/src/event.rs; write the list anew with\n    \
         COORD_UPDATE_DOCS=1 cargo test --test api openapi_document"
    );
}

#[test]
fn every_reference_leads_to_a_schema() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

/// A value of the domain: its schema, how it is parsed, and text that is nearly one.
struct Text {
    name: &'static str,
    parses: fn(&str) -> bool,
    nearly: &'static str,
}

const TEXTS: [Text; 6] = [
    Text {
        name: "RepoUrl",
        parses: |text| RepoId::parse(text).is_ok(),
        nearly: "[ \t]?(https://|HTTP://|Ssh://u@|git@|ftp://|[a@:/]{0,3})((h\\.x|h:22|localhost|h\\.{1,3}|[a@:/.]{0,3})[/:]{1,2})(([a-c.~]{1,3}|[@: ]?)/){1,2}(a|\\.{1,4})(\\.git|/?\\.Git|git){0,2}/{0,2}\n?",
    },
    Text {
        name: "CommitId",
        parses: |text| CommitSha::parse(text).is_ok(),
        nearly: "[ \t\u{85}\u{1c}]{0,2}[0-9a-fA-Fg]{5,9}([0-9a-f]{55,58})?[ \n\u{feff}]{0,2}",
    },
    Text {
        name: "Branch",
        parses: |text| Branch::parse(text).is_ok(),
        nearly: "[a-c/.@{}ä -]{0,6}(HEAD|\\.lock|@\\{|\u{7f}|\u{1}|\u{2028}|\u{34f}|[~^:?*\\[\\\\])?[a-c/.]{0,3}\n?",
    },
    Text {
        name: "FilePath",
        parses: |text| FilePath::parse(text).is_ok(),
        nearly: "(C:)?[ /.]{0,3}[a/.]{0,5}(\\.\\./|\\\\|\u{0}|ä|\n|\u{85}|\u{feff}|\u{202e}|\u{a0}|\u{ad}|\u{3164})?[a/.]{0,4} ?",
    },
    Text {
        name: "AgentId",
        parses: |text| AgentId::parse(text).is_ok(),
        nearly: "[a-zA-Z0-9._: /ä-]{0,3}([a-z]{124,128})?\n?",
    },
    Text {
        name: "Message",
        parses: |text| LockReason::parse(text).is_ok(),
        nearly: "[ \t\u{85}\u{1c}\u{feff}\u{2003}]{0,3}(a|ä|𝄞|[a ]{495,502})?[ \n\u{a0}\u{180e}\u{200b}]{0,3}",
    },
];

fn validator(name: &str) -> Validator {
    let document = document();
    jsonschema::draft202012::new(&document["components"]["schemas"][name]).unwrap()
}

#[test]
fn a_pattern_takes_what_is_parsed_and_nothing_else() {
    let cases = ProptestConfig {
        cases: 800,
        source_file: Some(file!()),
        ..ProptestConfig::default()
    };
    for Text { name, parses, nearly } in TEXTS {
        let validator = validator(name);
        let mut runner = proptest::test_runner::TestRunner::new(cases.clone());
        let mut taken = 0;
        let outcome = runner.run(&string_regex(nearly).unwrap(), |text| {
            prop_assert_eq!(validator.is_valid(&json!(text)), parses(&text), "{:?}", text);
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut runner = proptest::test_runner::TestRunner::new(cases.clone());
        let texts = string_regex(nearly).unwrap();
        for _ in 0..500 {
            let text = texts.new_tree(&mut runner).unwrap().current();
            taken += usize::from(parses(&text));
        }
        assert!((10..490).contains(&taken), "{name}: {taken} of 500 are good");
    }
}

/// The patterns and the parsers have one list of invisible characters each. Beyond the first 65,536 the patterns have none, because not all
/// validators can name these.
#[test]
fn each_character_that_a_pattern_can_name_is_refused_where_it_is_invisible() {
    type Parses = fn(&str) -> bool;
    let texts: [(&str, Parses); 7] = [
        ("Branch", |text| Branch::parse(text).is_ok()),
        ("FilePath", |text| FilePath::parse(text).is_ok()),
        ("PlainLine", |text| plain_text(text) == text),
        ("TaskTitle", |text| plain_text(text) == text),
        ("PlainText", is_plain_text),
        ("LongText", is_plain_text),
        ("ScopePattern", |text| !text.chars().any(is_invisible)),
    ];
    for (name, parses) in texts {
        let validator = validator(name);
        for character in (0..=0xffff).filter_map(char::from_u32) {
            let text = format!("a{character}b");
            assert_eq!(validator.is_valid(&json!(text)), parses(&text), "{name}: {text:?}");
        }
    }
}
