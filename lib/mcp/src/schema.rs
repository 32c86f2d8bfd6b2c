//! The schemas of the tools, from those of the HTTP types. An agent reads them in every conversation, so they have only
//! names, types and lists of values, and for a request the meaning of each field. The server checks the rest, and
//! reports problems.

use std::collections::{BTreeMap, BTreeSet};

use coord_protocol::PostRequest;
use coord_protocol::schema::FilePath;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use super::tool_host::ToolHost;

/// Arguments that schemas leave out although tools accept them: models do not need them, and each one costs tokens.
const UNLISTED: [&str; 5] = ["tool_call", "session", "force", "wait_seconds", "interface_changes"];

/// An argument that only the schema of claims lists.
const CLAIM_ARGUMENT: &str = "interface";

fn request_schema<T: ToSchema>() -> JsonObject {
    let mut schema = Components::of::<T>().reduce(&to_value(T::schema()), SchemaDetail::Request);
    schema.remove("description");
    schema
}

/// The schema of the arguments of a tool with the request `T`, without arguments that a caller need not send.
pub fn argument_schema<T: ToSchema>(host: ToolHost) -> JsonObject {
    let mut schema = request_schema::<T>();
    let is_claim = T::name() == PostRequest::name();
    let claim_argument = Some(&CLAIM_ARGUMENT).filter(|_| !is_claim);
    let names = host.filled_arguments().iter().chain(&UNLISTED).chain(claim_argument);
    for name in names {
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.remove(*name);
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(|name| host.is_optional(name)));
    }
    schema
}

/// The schema of a result that is a `T` or a `U`. It has the fields of both, and requires those that both require.
pub fn result_schema<T: ToSchema, U: ToSchema>() -> JsonObject {
    let first = Components::of::<T>().reduce(&to_value(T::schema()), SchemaDetail::Answer);
    let second = Components::of::<U>().reduce(&to_value(U::schema()), SchemaDetail::Answer);
    let required = |schema: &JsonObject| -> BTreeSet<String> {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let required: Vec<String> = required(&first).intersection(&required(&second)).cloned().collect();
    let mut schema = second;
    merge(&mut schema, first);
    schema.insert("required".to_owned(), json!(required));
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for name in TEAM_FIELDS {
            fields.remove(name);
        }
    }
    schema
}

/// Fields with pending items for a member of a team. The text of the answer has them, too. Most agents are in no team.
const TEAM_FIELDS: [&str; 3] = ["your_teams", "unread", "shutdown"];

/// The parts of a schema that stay. Deeper in a response, fewer parts stay, because a model reads answers without them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDetail {
    /// A request: its fields, with their types, bounds and meaning.
    Request,
    /// An answer: its fields, and which of them it always has.
    Answer,
    /// A field: its type, its values, its own fields, or the type of its items.
    Field,
    /// A field of a field: its type, and the words that it may be.
    Word,
    Type,
}

impl SchemaDetail {
    fn under(self, keyword: &str) -> SchemaDetail {
        match (self, keyword) {
            (SchemaDetail::Request, _) => SchemaDetail::Request,
            (SchemaDetail::Answer, _) => SchemaDetail::Field,
            (SchemaDetail::Field, "properties") => SchemaDetail::Word,
            (SchemaDetail::Field | SchemaDetail::Word | SchemaDetail::Type, _) => SchemaDetail::Type,
        }
    }

    /// Whether `keyword` stays with this value.
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

/// The schemas that references name.
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

    /// Resolves every reference of `schema`, and reduces it to `detail`.
    fn reduce(&self, schema: &Value, detail: SchemaDetail) -> JsonObject {
        let Some(fields) = schema.as_object() else {
            return JsonObject::new();
        };
        let mut result = JsonObject::new();
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
            let target = reference.rsplit('/').next().and_then(|name| self.0.get(name));
            result = self.reduce(target.unwrap_or(&Value::Null), detail);
            // This describes the type in general. The property's own description is beside the reference.
            result.remove("description");
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merge(&mut result, self.reduce(part, detail));
        }
        let choices = fields.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let (nulls, others): (Vec<&Value>, Vec<&Value>) = choices.partition(|choice| choice["type"] == "null");
        if let [other] = others.as_slice() {
            merge(&mut result, self.reduce(other, detail));
            if detail != SchemaDetail::Request && !nulls.is_empty() {
                result = or_null(result);
            }
        }
        for (name, value) in fields.iter().filter(|(name, value)| detail.keeps(name, value)) {
            let under = detail.under(name);
            let reduced = match name.as_str() {
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
            // Leaves out a schema that accepts anything.
            if name == "items" && reduced.as_object().is_some_and(JsonObject::is_empty) {
                continue;
            }
            result.insert(name.clone(), reduced);
        }
        if detail != SchemaDetail::Request && fields.get("type").is_some_and(Value::is_array) {
            result = or_null(result);
        }
        result
    }
}

/// The schema `schema`, or `null`. Does not use a list of types, because some clients accept only one type.
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

/// Whether `values` are several words to choose from.
fn is_choice(values: &Value) -> bool {
    values
        .as_array()
        .is_some_and(|values| values.len() > 1 && values.iter().all(Value::is_string))
}

/// Adds `part`, which describes the same object.
fn merge(schema: &mut JsonObject, part: JsonObject) {
    for (name, value) in part {
        match (schema.get_mut(&name), value) {
            (Some(Value::Object(members)), Value::Object(more)) => members.extend(more),
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (_, value) => {
                schema.insert(name, value);
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

    /// Finds the paths of parts that the schema should not have, or that are not resolved.
    fn find_surplus(schema: &Value, path: &str, found: &mut Vec<String>) {
        const EXPECTED: [&str; 8] = [
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
            let path = format!("{path}/{name}");
            if name == "properties" {
                for (name, value) in value.as_object().into_iter().flatten() {
                    find_surplus(value, &format!("{path}/{name}"), found);
                }
            } else if name == "anyOf" {
                for choice in value.as_array().into_iter().flatten() {
                    find_surplus(choice, &path, found);
                }
            } else if EXPECTED.contains(&name.as_str()) {
                find_surplus(value, &path, found);
            } else {
                found.push(path);
            }
        }
        if schema
            .as_object()
            .is_some_and(|schema| !["type", "anyOf"].iter().any(|name| schema.contains_key(*name)))
        {
            found.push(format!("{path} has no type"));
        }
    }

    #[test]
    fn nothing_is_left_of_a_schema_but_names_kinds_and_meaning() {
        for schema in [
            request_schema::<CheckRequest>(),
            request_schema::<PostRequest>(),
            result_schema::<CheckResponse, AgentError>(),
            result_schema::<PostResponse, AgentError>(),
        ] {
            let mut found = Vec::new();
            find_surplus(&Value::Object(schema), "", &mut found);
            assert_eq!(found, [""; 0]);
        }
    }

    #[test]
    fn every_argument_has_a_description_and_a_type() {
        for schema in [request_schema::<CheckRequest>(), request_schema::<PostRequest>()] {
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
        let schema = result_schema::<PostResponse, AgentError>();
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
