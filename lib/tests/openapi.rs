//! `public/openapi.json` against the code that it is made from. That the answers agree with it is what `tests/api` looks after.

use std::path::Path;

use coord::http::{Endpoint, openapi};
use serde_json::Value;

const REGENERATE: &str = "COORD_UPDATE_OPENAPI=1 cargo test -p coord --test openapi";

#[test]
fn the_committed_document_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../public/openapi.json");
    let mut document = openapi::document();
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
fn every_endpoint_is_an_operation_and_every_operation_an_endpoint() {
    let document = openapi::document();
    let mut described: Vec<&str> = document["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut served: Vec<&str> = Endpoint::ALL.iter().map(|endpoint| endpoint.path()).collect();
    described.sort_unstable();
    served.sort_unstable();
    assert_eq!(described, served);
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
    let document = openapi::document();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}
