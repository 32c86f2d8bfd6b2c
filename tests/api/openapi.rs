//! The OpenAPI document: what it shows is what a server answers, and what holds answers against it is not blind.

use coord_extensions::document;
use coord_http::openapi::examples;
use serde_json::{Value, json};

use crate::api::{Answer, Api};
use crate::contract::{closed, validate};

const GRAPH: &str = "/api/graph?repo_url=https://github.com/acme/shop.git&branch=main";

/// The answer, as if it had been given when those of the examples were.
fn at_the_time_of_the_examples(answer: &Answer) -> Value {
    fn change(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match name.as_str() {
                "timestamp" | "generated_at" | "since" if value.is_i64() => *value = examples::GRANTED_AT.into(),
                "expiry" | "expected_by" => *value = examples::EXPIRY.into(),
                "token" => *value = examples::TOKEN.into(),
                _ => change(value),
            }),
            Value::Array(items) => items.iter_mut().for_each(change),
            _ => {}
        }
    }
    let mut body = answer.json();
    change(&mut body);
    // Where a second has passed meanwhile, or has not: the end of a lock is shown rounded up.
    let mut text = body.to_string();
    for seconds in [299, 301] {
        text = text
            .replace(&format!("in {seconds} s"), "in 300 s")
            .replace(&format!("\"retry_after\":{seconds}"), "\"retry_after\":300");
    }
    // The graph of these tests is published without the names of files that nothing imports.
    serde_json::from_str(&text.replace(" (new file)", "")).unwrap()
}

#[tokio::test]
async fn the_examples_are_what_a_server_answers() {
    let api = Api::start().await;
    assert_eq!(api.head, examples::HEAD);
    let building = api.get(GRAPH, &[]).await;
    assert_eq!((building.status, building.json()), (202, examples::building_graph()));
    api.publish_graph(&api.head).await;
    let (claim, check) = (examples::post_request(), examples::check_request());
    for (user, path, body, status, expected) in [
        ("ada", "/api/post_status", &claim, 200, examples::post_granted()),
        ("bob", "/api/post_status", &claim, 409, examples::post_refused()),
        ("bob", "/api/check_status", &check, 200, examples::check_conflict()),
    ] {
        let answer = api.post(user, path, body).await;
        assert_eq!(
            (answer.status, at_the_time_of_the_examples(&answer)),
            (status, expected),
            "{path}"
        );
    }
    let graph = api.get(GRAPH, &[]).await;
    assert_eq!(at_the_time_of_the_examples(&graph), examples::graph());
    let locks = api.get(&GRAPH.replace("graph", "locks"), &[]).await;
    assert_eq!(at_the_time_of_the_examples(&locks), examples::locks());
    let activity = api.get(&GRAPH.replace("graph", "activity"), &[]).await;
    assert_eq!(events_of_locks(&activity), examples::activity());
}

/// The events of locks in `answer`, as if they had happened when those of the examples did.
fn events_of_locks(answer: &Answer) -> Value {
    let mut body = at_the_time_of_the_examples(answer);
    let example = examples::activity();
    let events = body["events"].as_array_mut().unwrap();
    events.retain(|event| event["type"].as_str().unwrap().starts_with("lock_"));
    for (event, example) in events.iter_mut().zip(example["events"].as_array().unwrap()) {
        for changing in ["id", "time", "time_ms", "expiry_ms"] {
            if event.get(changing).is_some() {
                event[changing] = example[changing].clone();
            }
        }
    }
    body["cursor"] = example["cursor"].clone();
    body
}

/// Every example in the document with the schema that it belongs to, and where both are.
fn documented_examples() -> Vec<(String, Value, Value)> {
    let document = document();
    let mut found = Vec::new();
    let mut add = |place: String, media: &Value| {
        let schema = &media["schema"];
        if let Some(example) = media.get("example") {
            found.push((place.clone(), schema.clone(), example.clone()));
        }
        for (name, example) in media["examples"].as_object().into_iter().flatten() {
            found.push((format!("{place} {name}"), schema.clone(), example["value"].clone()));
        }
    };
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let place = format!("{method} {path}");
            add(
                format!("{place} request"),
                &operation["requestBody"]["content"]["application/json"],
            );
            for (status, answer) in operation["responses"].as_object().unwrap() {
                add(format!("{place} {status}"), &answer["content"]["application/json"]);
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                add(format!("{place} {}", parameter["name"]), parameter);
            }
        }
    }
    found
}

#[test]
fn every_example_matches_its_schema() {
    let examples = documented_examples();
    assert!(examples.len() > 50, "{}", examples.len());
    for (place, schema, example) in examples {
        validate(&schema, &example).unwrap_or_else(|problem| panic!("{place}: {problem}\n{example:#}"));
    }
}

#[test]
fn a_field_that_is_dropped_renamed_or_new_is_noticed() {
    /// Every object in `value`, by pointer.
    fn objects(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.push(pointer.to_owned());
                for (name, value) in fields {
                    objects(value, &format!("{pointer}/{}", name.replace('/', "~1")), found);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    objects(value, &format!("{pointer}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut changes = 0;
    for (place, schema, example) in documented_examples() {
        if place.contains("request") || !example.is_object() {
            continue;
        }
        let mut pointers = Vec::new();
        objects(&example, "", &mut pointers);
        for pointer in pointers {
            let mut more = example.clone();
            let fields = more.pointer_mut(&pointer).unwrap();
            // A map by file path takes any name, but not any value.
            fields["surprise"] = json!("new");
            assert!(validate(&schema, &more).is_err(), "{place}: a new field at '{pointer}'");
            for name in example.pointer(&pointer).unwrap().as_object().unwrap().keys() {
                let mut less = example.clone();
                let fields = less.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
                let value = fields.remove(name).unwrap();
                if is_optional(&pointer, name) {
                    continue;
                }
                assert!(validate(&schema, &less).is_err(), "{place}: without {pointer}/{name}");
                let fields = less.pointer_mut(&pointer).unwrap();
                fields[format!("{name}_")] = value;
                assert!(validate(&schema, &less).is_err(), "{place}: {pointer}/{name} renamed");
                changes += 1;
            }
        }
    }
    assert!(changes > 300, "{changes}");
}

/// Fields that an answer may lack, and the files of maps by file path.
fn is_optional(pointer: &str, name: &str) -> bool {
    let is_map = ["/locks", "/held", "/conflicting_locks"]
        .iter()
        .any(|map| pointer.ends_with(map));
    let optional = [
        "field",
        "metadata",
        "lock_owner",
        "neighbor_of",
        "conflicts",
        "retry_after",
        "ticket",
        "position",
        "before",
        "free",
        "expected_by",
        "conflicting_locks",
        "language",
        "since",
        "latency_ms",
        "size",
        "lock_type",
        "id",
        "action",
        "files",
        "expiry_ms",
        "conflict_count",
        "intent_id",
        "owner_intent",
        "selected",
        "owners",
        "context",
        "intents_omitted",
        "next",
        "hash",
        "recorded",
        "branch",
    ];
    // Members of an intent that it may be without.
    let of_intent = [
        "budget",
        "assigned_agent",
        "created_at",
        "updated_at",
        "supplements",
        "related_specs",
        "criteria",
        "missing",
        "may_overlap",
        "reason",
        "last_heard",
        "max_turns",
        "max_tokens",
        "consumed_turns",
        "consumed_tokens",
        "owned_files",
        "intent",
        "is_required",
    ];
    is_map || optional.contains(&name) || of_intent.contains(&name)
}

#[test]
fn the_parts_of_a_whole_stay_open() {
    let schema = closed(&json!({ "$ref": "#/components/schemas/AgentError" }), true);
    assert_eq!(schema["unevaluatedProperties"], false);
    assert!(schema["allOf"][0].get("unevaluatedProperties").is_none());
    assert_eq!(
        schema["allOf"][2]["properties"]["orchestration"]["unevaluatedProperties"],
        false
    );
}
