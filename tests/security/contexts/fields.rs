//! Every string field of every request, from the OpenAPI document and the list of the tools of MCP: the next one joins by itself.

use serde_json::{Map, Value as Json, json};

/// A step to a field in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Member(String),
    Item,
}

/// Where a request has the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldLocation {
    Path,
    Query,
    Header,
    Body,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub place: FieldLocation,
    pub steps: Vec<Step>,
}

impl Field {
    /// The name of the member, or of the list that it is in.
    pub fn name(&self) -> &str {
        let names = self.steps.iter().rev().filter_map(|step| match step {
            Step::Member(name) => Some(name.as_str()),
            Step::Item => None,
        });
        names.into_iter().next().expect("a field has a name")
    }
}

/// A request of HTTP, or a tool.
#[derive(Clone, Debug)]
pub struct Operation {
    /// `post /api/tasks`, or `tool task_create`.
    pub name: String,
    pub method: String,
    pub path: String,
    pub fields: Vec<Field>,
    /// The schema of each parameter outside of the body.
    pub parameters: Vec<(FieldLocation, String, bool, Json)>,
    /// The schema of the body; null for none.
    pub body: Json,
}

/// The schemas that references lead to.
pub struct Schemas(pub Json);

impl Schemas {
    fn resolved<'a>(&'a self, schema: &'a Json) -> &'a Json {
        match schema["$ref"].as_str() {
            Some(reference) => self.resolved(self.0.pointer(reference.trim_start_matches('#')).unwrap()),
            None => schema,
        }
    }

    /// The schemas that `schema` is made of, without null.
    fn parts<'a>(&'a self, schema: &'a Json) -> Vec<&'a Json> {
        let schema = self.resolved(schema);
        let lists = ["allOf", "oneOf", "anyOf"].map(|name| schema[name].as_array());
        let inner: Vec<&Json> = lists.into_iter().flatten().flatten().collect();
        let mut parts: Vec<&Json> = inner.into_iter().flat_map(|part| self.parts(part)).collect();
        parts.push(schema);
        parts.retain(|part| part["type"] != "null");
        parts
    }

    fn is_a(schema: &Json, kind: &str) -> bool {
        schema["type"] == kind
            || schema["type"]
                .as_array()
                .is_some_and(|kinds| kinds.contains(&json!(kind)))
    }

    /// The ways to the strings in `schema`.
    pub fn strings(&self, schema: &Json, way: &[Step], found: &mut Vec<Vec<Step>>) {
        for part in self.parts(schema) {
            let further = |step| [way, &[step]].concat();
            for (name, member) in part["properties"].as_object().into_iter().flatten() {
                self.strings(member, &further(Step::Member(name.clone())), found);
            }
            if part["items"].is_object() {
                self.strings(&part["items"], &further(Step::Item), found);
            }
            if Self::is_a(part, "string") && !found.iter().any(|known| known == way) {
                found.push(way.to_vec());
            }
        }
    }

    /// A value of `schema`: what it requires, what `known` has, and `value` at the end of `way`.
    pub fn sample(
        &self,
        schema: &Json,
        name: &str,
        way: Option<(&[Step], &str)>,
        known: &dyn Fn(&str) -> Option<Json>,
    ) -> Json {
        if let Some(([], value)) = way {
            return json!(value);
        }
        if way.is_none()
            && let Some(value) = known(name)
        {
            return value;
        }
        let parts = self.parts(schema);
        let next = way.map(|(steps, value)| (&steps[0], &steps[1..], value));
        let mut members = Map::new();
        for part in &parts {
            let required = part["required"].as_array().into_iter().flatten();
            let required: Vec<&str> = required.filter_map(Json::as_str).collect();
            for (inner, schema) in part["properties"].as_object().into_iter().flatten() {
                let way = match next {
                    Some((Step::Member(wanted), rest, value)) if wanted == inner => Some((rest, value)),
                    _ => None,
                };
                let is_there = way.is_some() || required.contains(&inner.as_str()) || known(inner).is_some();
                if is_there {
                    members.insert(inner.clone(), self.sample(schema, inner, way, known));
                }
            }
        }
        let is_object = parts.iter().any(|part| part["properties"].is_object());
        let is_list = |part: &&&Json| part["items"].is_object();
        match (parts.iter().find(is_list), next) {
            (Some(list), Some((Step::Item, rest, value))) => {
                json!([self.sample(&list["items"], name, Some((rest, value)), known)])
            }
            (Some(list), None) if !is_object => json!([self.sample(&list["items"], "", None, known)]),
            _ if is_object => Json::Object(members),
            _ => scalar(&parts),
        }
    }
}

fn scalar(parts: &[&Json]) -> Json {
    let of = |name: &str| parts.iter().map(|part| &part[name]).find(|value| !value.is_null());
    let first = |name: &str| of(name).and_then(|values| values.as_array()?.first().cloned());
    if let Some(value) = first("enum").or_else(|| first("examples")) {
        return value;
    }
    let is = |kind| parts.iter().any(|part| Schemas::is_a(part, kind));
    match (is("string"), is("boolean")) {
        (true, _) => json!("word"),
        (_, true) => json!(false),
        _ => of("minimum").cloned().unwrap_or(json!(1)),
    }
}

/// The operations of `document`.
pub fn operations(document: &Json) -> Vec<Operation> {
    let schemas = Schemas(document.clone());
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let parameters = described["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|parameter| {
                    let place = match parameter["in"].as_str().unwrap() {
                        "path" => FieldLocation::Path,
                        "query" => FieldLocation::Query,
                        "header" => FieldLocation::Header,
                        other => panic!("{other}"),
                    };
                    let name = parameter["name"].as_str().unwrap().to_owned();
                    (place, name, parameter["required"] == true, parameter["schema"].clone())
                });
            let parameters: Vec<_> = parameters.collect();
            let body = described["requestBody"]["content"]["application/json"]["schema"].clone();
            let mut fields = Vec::new();
            for (place, name, _, schema) in &parameters {
                let mut ways = Vec::new();
                schemas.strings(schema, &[Step::Member(name.clone())], &mut ways);
                fields.extend(ways.into_iter().map(|steps| Field { place: *place, steps }));
            }
            let mut ways = Vec::new();
            schemas.strings(&body, &[], &mut ways);
            fields.extend(ways.into_iter().map(|steps| Field {
                place: FieldLocation::Body,
                steps,
            }));
            found.push(Operation {
                name: format!("{method} {path}"),
                method: method.to_uppercase(),
                path: path.clone(),
                fields,
                parameters,
                body,
            });
        }
    }
    found
}

/// The tools in `listed`, the result of `tools/list`.
pub fn tools(listed: &Json) -> Vec<Operation> {
    let tools = listed["tools"].as_array().unwrap().iter();
    let operation = |tool: &Json| {
        let body = tool["inputSchema"].clone();
        let mut ways = Vec::new();
        Schemas(body.clone()).strings(&body, &[], &mut ways);
        let field = |steps| Field {
            place: FieldLocation::Body,
            steps,
        };
        let name = tool["name"].as_str().unwrap();
        Operation {
            name: format!("tool {name}"),
            method: "TOOL".to_owned(),
            path: name.to_owned(),
            fields: ways.into_iter().map(field).collect(),
            parameters: Vec::new(),
            body,
        }
    };
    tools.map(operation).collect()
}
