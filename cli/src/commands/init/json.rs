//! Values in a JSON file. Comments, order and layout of everything else stay as they are.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, json};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::edit::{Addition, Removal};
use super::record::FileRecord;

/// Entries to write into a JSON file.
#[derive(Clone, Debug)]
pub struct Json {
    /// How the agent reads the file.
    pub syntax: Syntax,
    pub entries: Vec<Entry>,
}

/// How a program reads JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// By the standard.
    Strict,
    /// With comments, and commas before a closing bracket.
    Comments,
}

/// A value, and its place.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A property, by the names that lead to it. Where there is one of its name, that one stays.
    Property(Vec<&'static str>, CstInputValue),
    /// Elements of the array to which the names lead. An entry of the user's that runs the same command stays.
    Elements {
        /// The names that lead to the array.
        path: Vec<&'static str>,
        values: Vec<CstInputValue>,
        /// The command that they run, which no other element has.
        command: String,
        /// Their values in other forms, which are replaced, and also removed.
        others: Vec<CstInputValue>,
    },
    /// A property at the top that the format requires, and that is not ours.
    Format(&'static str, CstInputValue),
}

impl Json {
    /// Adds missing entries.
    ///
    /// # Errors When the text is no JSON, or something on the way has an unexpected type.
    pub fn add(&self, text: Option<&str>) -> Result<Addition, String> {
        let (mark, body) = split_mark(text.unwrap_or("{}\n"));
        let root = self.parse(body)?;
        let top = root.object_value_or_create().ok_or("its value is no object")?;
        let (mut made, mut kept) = (Vec::new(), Vec::new());
        let mut is_changed = false;
        for entry in &self.entries {
            match entry {
                Entry::Format(name, value) => {
                    if top.get(name).is_none() {
                        top.insert(0, name, value.clone());
                        made.push((*name).to_owned());
                        is_changed = true;
                    }
                }
                Entry::Property(path, value) => {
                    let (name, parents) = path.split_last().expect("a name");
                    let object = objects(&top, parents, &mut made)?;
                    match object.get(name).and_then(|property| property.value()) {
                        Some(found) if is(&found, value) => {}
                        Some(_) => kept.push(format!("`{}` is set otherwise", path.join("."))),
                        None => {
                            open(&top, parents);
                            object.append(name, value.clone());
                            is_changed = true;
                        }
                    }
                }
                Entry::Elements {
                    path,
                    values,
                    command,
                    others,
                } => {
                    let array = array(&top, path, &mut made)?;
                    let found = running(&array, command);
                    if found.iter().any(|element| !is_one_of(element, values, others)) {
                        kept.push(format!("`{command}` is set otherwise"));
                        continue;
                    }
                    if found.len() == values.len() && found.iter().zip(values).all(|(found, value)| is(found, value)) {
                        continue;
                    }
                    let place = found.first().and_then(CstNode::element_index);
                    let place = place.unwrap_or_else(|| array.elements().len());
                    found.into_iter().for_each(CstNode::remove);
                    open(&top, path);
                    for (offset, value) in values.iter().enumerate() {
                        array.insert(place + offset, value.clone());
                    }
                    is_changed = true;
                }
            }
        }
        Ok(Addition {
            text: match is_changed {
                true => format!("{mark}{root}"),
                false => text.unwrap_or_default().to_owned(),
            },
            made: if is_changed { made } else { Vec::new() },
            kept,
        })
    }

    /// Removes unchanged entries, then the objects and arrays that were made around them.
    ///
    /// # Errors
    /// When the text is no JSON.
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Result<Removal, String> {
        let (mark, body) = split_mark(text);
        let root = self.parse(body)?;
        let Some(top) = root.object_value() else {
            return Ok(Removal {
                text: Some(text.to_owned()),
                kept: Vec::new(),
            });
        };
        let mut kept = Vec::new();
        let mut is_changed = false;
        for entry in &self.entries {
            match entry {
                Entry::Property(path, value) => match node(&top, path) {
                    Some(found) if is(&found, value) => {
                        remove_property(&top, path);
                        is_changed = true;
                    }
                    Some(_) => kept.push(format!("`{}` was changed", path.join("."))),
                    None => {}
                },
                Entry::Elements {
                    path,
                    values,
                    command,
                    others,
                } => {
                    let array = node(&top, path).and_then(|node| node.as_array());
                    for element in array.iter().flat_map(|array| running(array, command)) {
                        match is_one_of(&element, values, others) {
                            true => {
                                element.remove();
                                is_changed = true;
                            }
                            false => kept.push(format!("`{command}` was changed")),
                        }
                    }
                }
                Entry::Format(..) => {}
            }
        }
        if !is_changed {
            return Ok(Removal {
                text: Some(text.to_owned()),
                kept,
            });
        }
        self.remove_made(&top, record);
        let rest = format!("{mark}{root}");
        let is_empty = root.to_string().split_whitespace().collect::<String>() == "{}";
        let is_ours = record.is_none_or(|record| record.created);
        Ok(Removal {
            text: (!(is_ours && is_empty)).then_some(rest),
            kept,
        })
    }

    /// Removes empty objects and arrays around our values, and parts that only the format requires: those in the record, or,
    /// without a record, the empty ones, and the rest if nothing else is left.
    fn remove_made(&self, top: &CstObject, record: Option<&FileRecord>) {
        let mut around: Vec<&[&str]> = Vec::new();
        for entry in &self.entries {
            let path = match entry {
                Entry::Property(path, _) => &path[..path.len() - 1],
                Entry::Elements { path, .. } => path,
                Entry::Format(..) => &[],
            };
            around.extend((1..=path.len()).map(|length| &path[..length]));
        }
        around.sort_by_key(|path| std::cmp::Reverse(path.len()));
        for path in around {
            let is_empty = node(top, path).is_some_and(|node| node.children_exclude_trivia_and_tokens().is_empty());
            if is_empty && record.is_none_or(|record| record.made.contains(&path.join("."))) {
                remove_property(top, path);
            }
        }
        let formats = self.entries.iter().filter_map(|entry| match entry {
            Entry::Format(name, value) => Some((*name, value)),
            _ => None,
        });
        let formats: Vec<_> = formats
            .filter(|(name, value)| node(top, &[*name]).is_some_and(|node| is(&node, value)))
            .collect();
        let are_alone = top.properties().len() == formats.len();
        for (name, _) in formats {
            let was_made = match record {
                Some(record) => record.created && are_alone && record.made.contains(name),
                None => are_alone,
            };
            if was_made {
                remove_property(top, &[name]);
            }
        }
    }

    fn parse(&self, text: &str) -> Result<CstRootNode, String> {
        let lenient = self.syntax == Syntax::Comments;
        if !lenient && !text.trim().is_empty() {
            // The other parser keeps comments even where it does not allow them.
            serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
                let sentence = error.to_string();
                let clause = sentence.split(" at line ").next().unwrap_or_default();
                format!("line {}: {clause}", error.line())
            })?;
        }
        let options = ParseOptions {
            allow_comments: lenient,
            allow_trailing_commas: lenient,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        CstRootNode::parse(text, &options).map_err(|error| format!("line {}: {}", error.line_display(), error.kind()))
    }
}

/// The byte order mark that some editors of Windows begin a file with, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    })
}

/// The object to which `path` leads, made where it is missing.
fn objects(top: &CstObject, path: &[&str], made: &mut Vec<String>) -> Result<CstObject, String> {
    let mut object = top.clone();
    for (index, name) in path.iter().enumerate() {
        let place = path[..=index].join(".");
        object = match object.get(name) {
            Some(property) => property
                .object_value()
                .ok_or_else(|| format!("`{place}` is no object"))?,
            None => {
                made.push(place);
                object.append(name, json!({})).object_value_or_set()
            }
        };
    }
    Ok(object)
}

/// The array to which `path` leads, made where it is missing.
fn array(top: &CstObject, path: &[&str], made: &mut Vec<String>) -> Result<CstArray, String> {
    let (name, parents) = path.split_last().expect("a name");
    let object = objects(top, parents, made)?;
    match object.get(name) {
        Some(property) => property
            .array_value()
            .ok_or_else(|| format!("`{}` is no array", path.join("."))),
        None => {
            made.push(path.join("."));
            Ok(object.append(name, json!([])).array_value_or_set())
        }
    }
}

/// Puts the values on the way to `path` on separate lines.
fn open(top: &CstObject, path: &[&str]) {
    top.ensure_multiline();
    for length in 1..=path.len() {
        let Some(node) = node(top, &path[..length]) else {
            return;
        };
        if let Some(object) = node.as_object() {
            object.ensure_multiline();
        } else if let Some(array) = node.as_array() {
            array.ensure_multiline();
        }
    }
}

fn node(top: &CstObject, path: &[&str]) -> Option<CstNode> {
    let (name, parents) = path.split_last()?;
    let mut object = top.clone();
    for parent in parents {
        object = object.get(parent)?.object_value()?;
    }
    object.get(name)?.value()
}

fn remove_property(top: &CstObject, path: &[&str]) {
    let (name, parents) = path.split_last().expect("a name");
    let object = match parents {
        [] => Some(top.clone()),
        _ => node(top, parents).and_then(|node| node.as_object()),
    };
    if let Some(property) = object.and_then(|object| object.get(name)) {
        property.remove();
    }
}

fn is(found: &CstNode, value: &CstInputValue) -> bool {
    found.to_serde_value().is_some_and(|found| found == plain(value))
}

/// The elements of `array` that run `command`.
fn running(array: &CstArray, command: &str) -> Vec<CstNode> {
    let mut elements = array.elements();
    elements.retain(|element| has(element, command));
    elements
}

/// Whether `found` is ours, in any form.
fn is_one_of(found: &CstNode, values: &[CstInputValue], others: &[CstInputValue]) -> bool {
    values.iter().chain(others).any(|value| is(found, value))
}

/// Whether a string in `found` has `command` in it.
fn has(found: &CstNode, command: &str) -> bool {
    fn any(value: &Value, command: &str) -> bool {
        match value {
            Value::String(text) => text.contains(command),
            Value::Array(values) => values.iter().any(|value| any(value, command)),
            Value::Object(values) => values.values().any(|value| any(value, command)),
            _ => false,
        }
    }
    found.to_serde_value().is_some_and(|found| any(&found, command))
}

fn plain(value: &CstInputValue) -> Value {
    match value {
        CstInputValue::Null => Value::Null,
        CstInputValue::Bool(value) => (*value).into(),
        CstInputValue::Number(number) => serde_json::from_str(number).unwrap_or_default(),
        CstInputValue::String(text) => text.as_str().into(),
        CstInputValue::Array(values) => values.iter().map(plain).collect(),
        CstInputValue::Object(values) => values
            .iter()
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect(),
    }
}
