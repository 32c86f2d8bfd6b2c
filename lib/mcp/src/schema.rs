//! The schemas of the tools, made of those of the HTTP types. An agent reads them with every conversation, so only the necessary parts
//! are left: names, kinds, lists of values, and of a request the meaning of each field. The server checks the rest, and reports
//! problems.

use std::collections::{BTreeMap, BTreeSet};

use coord_protocol::PostRequest;
use coord_protocol::schema::FilePath;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use super::offer::Offer;

/// Members that only hooks or persons send, and accepted ones that are left out because each listed one costs tokens.
const NOT_OF_MODELS: [&str; 5] = ["tool_call", "session", "force", "wait_seconds", "interface_changes"];

/// A member that is listed for claims alone.
const OF_CLAIMS: &str = "interface";

/// The schema of the arguments of a tool, which are a request of type `T`.
fn of_arguments<T: ToSchema>() -> JsonObject {
    let mut schema = Components::of::<T>().reduce(&to_value(T::schema()), SchemaDetail::Request);
    schema.remove("description");
    schema
}

/// The schema of the arguments of a tool whose request is a `T`, without those that need not be sent.
pub fn arguments_of<T: ToSchema>(offer: Offer) -> JsonObject {
    let mut schema = of_arguments::<T>();
    let is_claim = T::name() == PostRequest::name();
    let of_claims = Some(&OF_CLAIMS).filter(|_| !is_claim);
    for name in offer.filled_in().iter().chain(&NOT_OF_MODELS).chain(of_claims) {
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.remove(*name);
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(|name| offer.is_optional(name)));
    }
    schema
}

/// The schema of a result, which is an answer of type `T` or `U`: every field of both, of which those are required that both require.
pub fn of_results<T: ToSchema, U: ToSchema>() -> JsonObject {
    let one = Components::of::<T>().reduce(&to_value(T::schema()), SchemaDetail::Answer);
    let other = Components::of::<U>().reduce(&to_value(U::schema()), SchemaDetail::Answer);
    let required = |schema: &JsonObject| -> BTreeSet<String> {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let required: Vec<String> = required(&one).intersection(&required(&other)).cloned().collect();
    let mut schema = other;
    merge(&mut schema, one);
    schema.insert("required".to_owned(), json!(required));
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        OF_TEAMS.iter().for_each(|name| drop(fields.remove(*name)));
    }
    schema
}

/// Fields of answers with pending items for a member of a team. The text of the answer says it too, and most agents are in none.
const OF_TEAMS: [&str; 3] = ["your_teams", "unread", "shutdown"];

/// The parts of a schema that are kept. The deeper a part of a response lies, the less is kept: a model reads answers
/// without a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDetail {
    /// Of a request: fields, their types and bounds, and their meaning.
    Request,
    /// Of an answer: its fields, and which it always has.
    Answer,
    /// Of a field: its type, its values, its own fields, or the type of its items.
    Field,
    /// Of a field of a field: its type, and the words that it may be.
    Word,
    Type,
}

impl SchemaDetail {
    /// The parts kept under `keyword`.
    fn under(self, keyword: &str) -> SchemaDetail {
        match (self, keyword) {
            (SchemaDetail::Request, _) => SchemaDetail::Request,
            (SchemaDetail::Answer, _) => SchemaDetail::Field,
            (SchemaDetail::Field, "properties") => SchemaDetail::Word,
            (SchemaDetail::Field | SchemaDetail::Word | SchemaDetail::Type, _) => SchemaDetail::Type,
        }
    }

    /// Whether `keyword`, of this value, is kept.
    fn keeps(self, keyword: &str, value: &Value) -> bool {
        match (self, keyword) {
            (_, "type" | "items") => true,
            (SchemaDetail::Request, "description" | "required" | "minItems" | "maxItems" | "enum") => true,
            (SchemaDetail::Answer, "required") => true,
            (SchemaDetail::Field | SchemaDetail::Word, "enum") => is_choice(value),
            (
                SchemaDetail::Request | SchemaDetail::Answer | SchemaDetail::Field,
                "properties" | "additionalProperties",
            ) => true,
            _ => false,
        }
    }
}

/// The schemas that others refer to.
struct Components(BTreeMap<String, Value>);

impl Components {
    fn of<T: ToSchema>() -> Self {
        let mut schemas: Vec<(String, RefOr<Schema>)> = vec![(FilePath::name().into_owned(), FilePath::schema())];
        T::schemas(&mut schemas);
        Components(
            schemas
                .into_iter()
                .map(|(name, schema)| (name, to_value(schema)))
                .collect(),
        )
    }

    /// `schema` with every reference resolved, and without dropped parts.
    fn reduce(&self, schema: &Value, keeps: SchemaDetail) -> JsonObject {
        let Some(fields) = schema.as_object() else {
            return JsonObject::new();
        };
        let mut result = JsonObject::new();
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
            let target = reference.rsplit('/').next().and_then(|name| self.0.get(name));
            result = self.reduce(target.unwrap_or(&Value::Null), keeps);
            // The general description of a text; this property's own description is beside the reference.
            result.remove("description");
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merge(&mut result, self.reduce(part, keeps));
        }
        let choices = fields.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let (null, others): (Vec<&Value>, Vec<&Value>) = choices.partition(|choice| choice["type"] == "null");
        if let [other] = others.as_slice() {
            merge(&mut result, self.reduce(other, keeps));
            if keeps != SchemaDetail::Request && !null.is_empty() {
                result = or_null(result);
            }
        }
        for (name, value) in fields.iter().filter(|(name, value)| keeps.keeps(name, value)) {
            let under = keeps.under(name);
            let kept = match name.as_str() {
                "type" => without_null(value),
                "description" => value.as_str().unwrap_or_default().replace('\n', " ").into(),
                "items" | "additionalProperties" => Value::Object(self.reduce(value, under)),
                "properties" => {
                    let properties = value.as_object().into_iter().flatten();
                    let reduced = properties.map(|(name, value)| (name.clone(), self.reduce(value, under).into()));
                    Value::Object(reduced.collect())
                }
                _ => value.clone(),
            };
            // A schema that accepts anything is dropped.
            if name == "items" && kept.as_object().is_some_and(JsonObject::is_empty) {
                continue;
            }
            result.insert(name.clone(), kept);
        }
        if keeps != SchemaDetail::Request && fields.get("type").is_some_and(Value::is_array) {
            result = or_null(result);
        }
        result
    }
}

/// The schema `schema`, or `null`. Not by a list of types: some clients take one type alone.
fn or_null(schema: JsonObject) -> JsonObject {
    JsonObject::from_iter([("anyOf".to_owned(), json!([schema, { "type": "null" }]))])
}

/// A type without `null`.
fn without_null(kind: &Value) -> Value {
    let kinds = kind.as_array().into_iter().flatten();
    match kinds.filter(|kind| *kind != "null").collect::<Vec<_>>().as_slice() {
        [kind] => (*kind).clone(),
        _ => kind.clone(),
    }
}

/// Whether `values` are words between which there is a choice.
fn is_choice(values: &Value) -> bool {
    values
        .as_array()
        .is_some_and(|values| values.len() > 1 && values.iter().all(Value::is_string))
}

/// Adds `part`, which describes the same object.
fn merge(whole: &mut JsonObject, part: JsonObject) {
    for (name, value) in part {
        match (whole.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => {
                whole.insert(name, value);
            }
        }
    }
}

fn to_value(schema: RefOr<Schema>) -> Value {
    serde_json::to_value(schema).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_protocol::{AgentError, CheckRequest, CheckResponse, PostRequest, PostResponse};

    /// The places of `schema` in which something stands that is not kept, or that is not resolved.
    fn left_over(schema: &Value, place: &str, found: &mut Vec<String>) {
        const KEPT: [&str; 8] = [
            "type",
            "enum",
            "required",
            "minItems",
            "maxItems",
            "description",
            "items",
            "additionalProperties",
        ];
        for (name, value) in schema.as_object().into_iter().flatten() {
            let place = format!("{place}/{name}");
            if name == "properties" {
                for (name, value) in value.as_object().into_iter().flatten() {
                    left_over(value, &format!("{place}/{name}"), found);
                }
            } else if name == "anyOf" {
                for choice in value.as_array().into_iter().flatten() {
                    left_over(choice, &place, found);
                }
            } else if KEPT.contains(&name.as_str()) {
                left_over(value, &place, found);
            } else {
                found.push(place);
            }
        }
        if schema
            .as_object()
            .is_some_and(|schema| !["type", "anyOf"].iter().any(|name| schema.contains_key(*name)))
        {
            found.push(format!("{place} has no type"));
        }
    }

    #[test]
    fn nothing_is_left_of_a_schema_but_names_kinds_and_meaning() {
        for schema in [
            of_arguments::<CheckRequest>(),
            of_arguments::<PostRequest>(),
            of_results::<CheckResponse, AgentError>(),
            of_results::<PostResponse, AgentError>(),
        ] {
            let mut found = Vec::new();
            left_over(&Value::Object(schema), "", &mut found);
            assert_eq!(found, [""; 0]);
        }
    }

    #[test]
    fn every_argument_has_a_description_and_a_type() {
        for schema in [of_arguments::<CheckRequest>(), of_arguments::<PostRequest>()] {
            for (name, field) in schema["properties"].as_object().unwrap() {
                assert!(
                    field["description"].is_string() && field["type"].is_string(),
                    "{name}: {field}"
                );
            }
            assert_eq!(schema["required"].as_array().map(|names| names.len() >= 4), Some(true));
        }
    }

    #[test]
    fn a_result_has_what_is_in_both_answers_and_requires_what_both_have() {
        let schema = of_results::<PostResponse, AgentError>();
        assert_eq!(schema["required"], json!(["orchestration"]));
        for name in [
            "success",
            "locks",
            "conflicting_locks",
            "error",
            "message",
            "field",
            "orchestration",
        ] {
            assert!(schema["properties"][name].is_object(), "{name}");
        }
        let actions = &schema["properties"]["orchestration"]["properties"]["action"]["enum"];
        assert_eq!(actions.as_array().map(Vec::len), Some(6));
    }
}
