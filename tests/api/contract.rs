//! Every answer that a test receives is held against the OpenAPI document, more strictly than a client should: a field that the
//! document does not name is an error as well.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use coord_http::Endpoint;
use coord_protocol::{
    ActivityResponse, AgentError, CheckResponse, ErrorBody, IntentResponse, IntentsResponse, LocksResponse,
    PostResponse,
};
use jsonschema::{Draft, Validator};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::api::Answer;

static DOCUMENT: LazyLock<Value> = LazyLock::new(coord_extensions::document);

/// Panics where the document does not say that `method` on `path` may be answered so.
pub fn assert_documented(method: &Method, path: &str, answer: &Answer) {
    if let Err(problem) = check(method, path, answer) {
        let body = String::from_utf8_lossy(&answer.bytes);
        panic!(
            "{method} {path} was answered {} {body}\nagainst the OpenAPI document: {problem}",
            answer.status
        );
    }
}

fn check(method: &Method, path: &str, answer: &Answer) -> Result<(), String> {
    let path = Endpoint::at(coord_extensions::endpoints(), path).map_or(path, |endpoint| endpoint.path());
    let Some(operations) = DOCUMENT["paths"].get(path).and_then(Value::as_object) else {
        // No operation: a page, or a path that is not there.
        return Ok(());
    };
    if method == Method::OPTIONS && answer.status == 204 {
        // A browser that asks for leave; every operation may be asked about so.
        return Ok(());
    }
    let name_of_method = method.as_str().to_ascii_lowercase();
    let operation = match (operations.get(&name_of_method), operations.get("get")) {
        (Some(operation), _) => operation,
        (None, Some(get)) if method == Method::HEAD => get,
        (None, _) if answer.status == 405 => operations.values().next().ok_or("the path has no operation")?,
        _ => return Err(format!("{path} has no {method}")),
    };
    if method != Method::HEAD && answer.status == 404 && answer.json()["error"] == "UNKNOWN_ROUTE" {
        // The function of another endpoint was asked.
        return validate(&json!({ "$ref": "#/components/schemas/ErrorBody" }), &answer.json());
    }
    let pointer = format!("/responses/{}", answer.status);
    let documented = operation
        .pointer(&pointer)
        .ok_or_else(|| format!("status {} is not documented", answer.status))?;
    for (name, header) in documented["headers"].as_object().into_iter().flatten() {
        let value = answer.header(name).ok_or_else(|| format!("header {name} is missing"))?;
        let value = match header["schema"]["type"].as_str() {
            Some("integer") => value
                .parse::<i64>()
                .map(Value::from)
                .map_err(|error| error.to_string())?,
            _ => value.into(),
        };
        validate(&header["schema"], &value).map_err(|problem| format!("header {name}: {problem}"))?;
    }
    if method == Method::HEAD {
        return Ok(());
    }
    let Some(content) = documented["content"].as_object() else {
        let is_empty = answer.bytes.is_empty();
        return if is_empty {
            Ok(())
        } else {
            Err("a body, where none is documented".to_owned())
        };
    };
    let content_type = answer.header("content-type").unwrap_or_default();
    // The document names media types; a text has its encoding besides.
    let media_type = content_type.trim_end_matches("; charset=utf-8");
    let body = content
        .get(media_type)
        .ok_or_else(|| format!("Content-Type '{content_type}' is not documented"))?;
    if media_type.starts_with("text/") {
        let text = String::from_utf8(answer.bytes.clone()).map_err(|error| error.to_string())?;
        return validate(&body["schema"], &text.into());
    }
    let body_sent = unpacked(answer)?;
    validate(&body["schema"], &body_sent)?;
    survives_the_protocol(path, &body_sent)
}

/// Fails where the types of the protocol lose anything of `body`.
fn survives_the_protocol(path: &str, body: &Value) -> Result<(), String> {
    fn again<T: DeserializeOwned + Serialize>(body: &Value) -> Result<Value, String> {
        let read: T = serde_json::from_value(body.clone()).map_err(|error| error.to_string())?;
        serde_json::to_value(read).map_err(|error| error.to_string())
    }
    let is_whole = |field: &str| body.get(field).is_some();
    let read = match path {
        "/api/check_status" if is_whole("held") => again::<CheckResponse>(body)?,
        "/api/post_status" if is_whole("success") => again::<PostResponse>(body)?,
        "/api/activity" if is_whole("cursor") => again::<ActivityResponse>(body)?,
        "/api/locks" if is_whole("locks") => again::<LocksResponse>(body)?,
        "/api/intents" if is_whole("intents") => again::<IntentsResponse>(body)?,
        _ if is_whole("success") && is_whole("state") => again::<IntentResponse>(body)?,
        _ if is_whole("error") && is_whole("orchestration") => again::<AgentError>(body)?,
        _ if is_whole("error") => again::<ErrorBody>(body)?,
        _ => return Ok(()),
    };
    if read == *body {
        Ok(())
    } else {
        Err(format!("the protocol reads it as {read}"))
    }
}

fn unpacked(answer: &Answer) -> Result<Value, String> {
    let read = match answer.header("content-encoding") {
        Some("gzip") => serde_json::from_reader(flate2::read::GzDecoder::new(answer.bytes.as_slice())),
        _ => serde_json::from_slice(&answer.bytes),
    };
    read.map_err(|error| error.to_string())
}

/// Whether `value` is as `schema` says, and has nothing that it does not name.
pub fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let key = schema.to_string();
    let known = VALIDATORS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key)
        .cloned();
    let validator = known.unwrap_or_else(|| {
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true);
        let validator = Arc::new(options.build(&closed(schema, true)).unwrap());
        let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
        validators.insert(key, Arc::clone(&validator));
        validator
    });
    let problems: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{error} at '{}'", error.instance_path()))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

/// Returns `schema` with every reference resolved, and every object closed to fields that it does not name. A mere part
/// of an object's description (`allOf`) stays open: the whole is closed.
pub fn closed(schema: &Value, is_whole: bool) -> Value {
    let Some(fields) = schema.as_object() else {
        return schema.clone();
    };
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| DOCUMENT.pointer(pointer));
        return closed(target.unwrap_or_else(|| panic!("{reference} leads nowhere")), is_whole);
    }
    let mut result = Map::new();
    for (name, value) in fields {
        let each = |value: &Value, is_whole| match value {
            Value::Array(items) => items.iter().map(|item| closed(item, is_whole)).collect(),
            other => closed(other, is_whole),
        };
        let value = match name.as_str() {
            "allOf" => each(value, false),
            // One way to be a part is as open as the part.
            "oneOf" | "anyOf" => each(value, is_whole),
            "items" | "prefixItems" | "additionalProperties" => each(value, true),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let properties = properties.map(|(name, value)| (name.clone(), closed(value, true)));
                Value::Object(properties.collect())
            }
            _ => value.clone(),
        };
        result.insert(name.clone(), value);
    }
    let names_fields = fields.contains_key("properties") || fields.contains_key("allOf");
    if is_whole && names_fields && !fields.contains_key("additionalProperties") {
        result.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    Value::Object(result)
}
