//! Values in a JSON file. Everything else in the file keeps its comments, order and layout.

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
    /// A property, by the names that lead to it. An existing property of that name stays.
    Property(Vec<&'static str>, CstInputValue),
    /// Elements of an array. The user's own element that runs the same command stays.
    Elements {
        /// The names that lead to the array.
        path: Vec<&'static str>,
        values: Vec<CstInputValue>,
        /// The command that the elements run, and no other element.
        command: String,
        /// The elements in other forms, which are replaced, and also removed.
        other_forms: Vec<CstInputValue>,
    },
    /// A property at the top that the format requires, and that is not ours.
    Format(&'static str, CstInputValue),
}

impl Json {
    /// Adds missing entries.
    ///
    /// # Errors
    /// When the text is not JSON, or a value on the way to an entry has an unexpected type.
    pub fn add(&self, text: Option<&str>) -> Result<Addition, String> {
        let (mark, body) = split_mark(text.unwrap_or("{}\n"));
        let root = self.parse(body)?;
        let top = root.object_value_or_create().ok_or("its value is not an object")?;
        let (mut made, mut skipped) = (Vec::new(), Vec::new());
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
                    let object = object_at(&top, parents, &mut made)?;
                    match object.get(name).and_then(|property| property.value()) {
                        Some(existing) if is_equal(&existing, value) => {}
                        Some(_) => skipped.push(format!("`{}` is set otherwise", path.join("."))),
                        None => {
                            expand(&top, parents);
                            object.append(name, value.clone());
                            is_changed = true;
                        }
                    }
                }
                Entry::Elements {
                    path,
                    values,
                    command,
                    other_forms,
                } => {
                    let array = array_at(&top, path, &mut made)?;
                    let existing = elements_with(&array, command);
                    if existing.iter().any(|element| !is_ours(element, values, other_forms)) {
                        skipped.push(format!("`{command}` is set otherwise"));
                        continue;
                    }
                    let is_current = existing.len() == values.len()
                        && existing
                            .iter()
                            .zip(values)
                            .all(|(element, value)| is_equal(element, value));
                    if is_current {
                        continue;
                    }
                    let index = existing.first().and_then(CstNode::element_index);
                    let index = index.unwrap_or_else(|| array.elements().len());
                    existing.into_iter().for_each(CstNode::remove);
                    expand(&top, path);
                    for (offset, value) in values.iter().enumerate() {
                        array.insert(index + offset, value.clone());
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
            skipped,
        })
    }

    /// Removes unchanged entries, then the objects and arrays that were created around them.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Result<Removal, String> {
        let (mark, body) = split_mark(text);
        let root = self.parse(body)?;
        let Some(top) = root.object_value() else {
            return Ok(Removal::unchanged(text));
        };
        let mut skipped = Vec::new();
        let mut is_changed = false;
        for entry in &self.entries {
            match entry {
                Entry::Property(path, value) => match value_at(&top, path) {
                    Some(existing) if is_equal(&existing, value) => {
                        remove_property(&top, path);
                        is_changed = true;
                    }
                    Some(_) => skipped.push(format!("`{}` was changed", path.join("."))),
                    None => {}
                },
                Entry::Elements {
                    path,
                    values,
                    command,
                    other_forms,
                } => {
                    let array = value_at(&top, path).and_then(|value| value.as_array());
                    for element in array.iter().flat_map(|array| elements_with(array, command)) {
                        match is_ours(&element, values, other_forms) {
                            true => {
                                element.remove();
                                is_changed = true;
                            }
                            false => skipped.push(format!("`{command}` was changed")),
                        }
                    }
                }
                Entry::Format(..) => {}
            }
        }
        if !is_changed {
            return Ok(Removal {
                skipped,
                ..Removal::unchanged(text)
            });
        }
        self.remove_made(&top, record);
        let rest = format!("{mark}{root}");
        let is_empty = root.to_string().split_whitespace().collect::<String>() == "{}";
        Ok(Removal {
            skipped,
            ..Removal::leaving(rest, is_empty, record)
        })
    }

    /// Removes empty objects and arrays around our values: those in the record, or all of them without a record. Also
    /// removes the properties that the format requires, if nothing else is left.
    fn remove_made(&self, top: &CstObject, record: Option<&FileRecord>) {
        let mut enclosing: Vec<&[&str]> = Vec::new();
        for entry in &self.entries {
            let path = match entry {
                Entry::Property(path, _) => &path[..path.len() - 1],
                Entry::Elements { path, .. } => path,
                Entry::Format(..) => &[],
            };
            enclosing.extend((1..=path.len()).map(|length| &path[..length]));
        }
        enclosing.sort_by_key(|path| std::cmp::Reverse(path.len()));
        for path in enclosing {
            let value = value_at(top, path);
            let is_empty = value.is_some_and(|value| value.children_exclude_trivia_and_tokens().is_empty());
            if is_empty && record.is_none_or(|record| record.made.contains(&path.join("."))) {
                remove_property(top, path);
            }
        }
        let formats = self.entries.iter().filter_map(|entry| match entry {
            Entry::Format(name, value) => Some((*name, value)),
            _ => None,
        });
        let formats: Vec<_> = formats
            .filter(|(name, value)| value_at(top, &[*name]).is_some_and(|existing| is_equal(&existing, value)))
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
        let is_lenient = self.syntax == Syntax::Comments;
        if !is_lenient && !text.trim().is_empty() {
            // The other parser keeps comments even where it does not allow them.
            serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
                let sentence = error.to_string();
                let clause = sentence.split(" at line ").next().unwrap_or_default();
                format!("line {}: {clause}", error.line())
            })?;
        }
        let options = ParseOptions {
            allow_comments: is_lenient,
            allow_trailing_commas: is_lenient,
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

/// The byte order mark with which some Windows editors begin a file, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    })
}

/// The object to which `path` leads, created if it is missing.
fn object_at(top: &CstObject, path: &[&str], made: &mut Vec<String>) -> Result<CstObject, String> {
    let mut object = top.clone();
    for (index, name) in path.iter().enumerate() {
        let joined_path = path[..=index].join(".");
        object = match object.get(name) {
            Some(property) => property
                .object_value()
                .ok_or_else(|| format!("`{joined_path}` is not an object"))?,
            None => {
                made.push(joined_path);
                object.append(name, json!({})).object_value_or_set()
            }
        };
    }
    Ok(object)
}

/// The array to which `path` leads, created if it is missing.
fn array_at(top: &CstObject, path: &[&str], made: &mut Vec<String>) -> Result<CstArray, String> {
    let (name, parents) = path.split_last().expect("a name");
    let object = object_at(top, parents, made)?;
    match object.get(name) {
        Some(property) => property
            .array_value()
            .ok_or_else(|| format!("`{}` is not an array", path.join("."))),
        None => {
            made.push(path.join("."));
            Ok(object.append(name, json!([])).array_value_or_set())
        }
    }
}

/// Puts the values on the way to `path` on separate lines.
fn expand(top: &CstObject, path: &[&str]) {
    top.ensure_multiline();
    for length in 1..=path.len() {
        let Some(value) = value_at(top, &path[..length]) else {
            return;
        };
        if let Some(object) = value.as_object() {
            object.ensure_multiline();
        } else if let Some(array) = value.as_array() {
            array.ensure_multiline();
        }
    }
}

fn value_at(top: &CstObject, path: &[&str]) -> Option<CstNode> {
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
        _ => value_at(top, parents).and_then(|value| value.as_object()),
    };
    if let Some(property) = object.and_then(|object| object.get(name)) {
        property.remove();
    }
}

fn is_equal(existing: &CstNode, value: &CstInputValue) -> bool {
    existing
        .to_serde_value()
        .is_some_and(|existing| existing == to_serde_value(value))
}

/// The elements of `array` that run `command`.
fn elements_with(array: &CstArray, command: &str) -> Vec<CstNode> {
    let mut elements = array.elements();
    elements.retain(|element| {
        element
            .to_serde_value()
            .is_some_and(|element| contains_command(&element, command))
    });
    elements
}

/// Whether `element` is ours, in any form.
fn is_ours(element: &CstNode, values: &[CstInputValue], other_forms: &[CstInputValue]) -> bool {
    values.iter().chain(other_forms).any(|value| is_equal(element, value))
}

/// Whether a string in `value` contains `command`.
fn contains_command(value: &Value, command: &str) -> bool {
    match value {
        Value::String(text) => text.contains(command),
        Value::Array(values) => values.iter().any(|value| contains_command(value, command)),
        Value::Object(values) => values.values().any(|value| contains_command(value, command)),
        _ => false,
    }
}

fn to_serde_value(value: &CstInputValue) -> Value {
    match value {
        CstInputValue::Null => Value::Null,
        CstInputValue::Bool(value) => (*value).into(),
        CstInputValue::Number(number) => serde_json::from_str(number).unwrap_or_default(),
        CstInputValue::String(text) => text.as_str().into(),
        CstInputValue::Array(values) => values.iter().map(to_serde_value).collect(),
        CstInputValue::Object(values) => values
            .iter()
            .map(|(name, value)| (name.clone(), to_serde_value(value)))
            .collect(),
    }
}
