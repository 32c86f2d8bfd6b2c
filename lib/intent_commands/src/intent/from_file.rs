//! Reads intents from a file: in the form of `active_intents.yaml`, a single intent, or either as JSON.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, ensure};
use coord_agent::file_content::open_named;
use coord_intents::files::{MAX_BYTES, Refusal, Registry};
use coord_intents::intent::Intent;

/// A placeholder for the id of an intent whose file has none.
const NO_ID: &str = "coord-no-id";

/// The intents of `file`; `-` is standard input. The id is empty if the file has none.
///
/// # Errors
/// When the file cannot be read or parsed, with line and column.
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<Intent>> {
    let name = file.display();
    let mut bytes = Vec::new();
    open_named(file)?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("{name} cannot be read"))?;
    let intents = parse(&bytes).with_context(|| name.to_string())?;
    ensure!(!intents.is_empty(), "{name} has no intent");
    Ok(intents)
}

fn parse(bytes: &[u8]) -> Result<Vec<Intent>, Refusal> {
    // JSON without its indentation is YAML.
    let json = serde_json::from_slice::<serde_json::Value>(bytes).ok();
    let text = match &json {
        Some(json) => json.to_string(),
        None => String::from_utf8_lossy(bytes).into_owned(),
    };
    let is_list = |line: &str| {
        ["intents", "active_intents"]
            .iter()
            .any(|key| line.starts_with(&format!("{key}:")))
    };
    let has_list = match &json {
        Some(json) => ["intents", "active_intents"].iter().any(|key| json.get(key).is_some()),
        None => text.lines().any(is_list),
    };
    if has_list {
        let bytes = if json.is_some() { text.as_bytes() } else { bytes };
        return parse_list(bytes);
    }
    parse_single(&text, json.is_some(), None).or_else(|refusal| {
        match parse_single(&text, json.is_some(), Some(NO_ID)) {
            Ok(mut intents) if intents.iter().any(|intent| intent.id == NO_ID) => {
                intents.iter_mut().for_each(|intent| intent.id.clear());
                Ok(intents)
            }
            _ => Err(refusal),
        }
    })
}

fn parse_list(bytes: &[u8]) -> Result<Vec<Intent>, Refusal> {
    Registry::parse(bytes).map(|registry| registry.intents().to_vec())
}

/// Parses a single intent, as the only one of a list. Adds `id` to it.
fn parse_single(text: &str, is_json: bool, id: Option<&str>) -> Result<Vec<Intent>, Refusal> {
    if is_json {
        let members = text.trim().strip_prefix('{').unwrap_or(text);
        let id = id.map(|id| format!("\"id\": \"{id}\", ")).unwrap_or_default();
        let list = format!("{{\"intents\": [{{{id}{members}]}}");
        return parse_list(list.as_bytes());
    }
    let mut list = "intents:\n  -\n".to_owned();
    list.extend(id.map(|id| format!("    id: {id}\n")));
    let added_lines = list.lines().count();
    for line in text.lines() {
        // An empty line stays empty, also in a text of several lines.
        let indentation = if line.trim().is_empty() { "" } else { "    " };
        list.push_str(&format!("{indentation}{line}\n"));
    }
    parse_list(list.as_bytes()).map_err(|refusal| Refusal {
        line: refusal.line.saturating_sub(added_lines).max(1),
        column: refusal.column.saturating_sub(4).max(1),
        ..refusal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids_and_names(text: &str) -> Vec<(String, String)> {
        let intents = parse(text.as_bytes()).unwrap_or_else(|refusal| panic!("{refusal}: {text}"));
        intents.into_iter().map(|intent| (intent.id, intent.name)).collect()
    }

    #[test]
    fn a_list_and_one_intent_are_read_as_yaml_and_as_json() {
        let one = |id: &str| vec![(id.to_owned(), "Pool".to_owned())];
        for (text, id) in [
            ("intents:\n  - id: a\n    name: Pool\n", "a"),
            ("# Mine\nactive_intents:\n- id: a\n  name: Pool\n", "a"),
            ("id: a\nname: Pool\n", "a"),
            ("# Mine\nname: Pool\nowned_scope:\n  - src/**\n", ""),
            ("name: Pool\ndescription: |\n  One\n\n  Two\nid: a\n", "a"),
            ("{\n\t\"id\": \"a\",\n\t\"name\": \"Pool\"\n}", "a"),
            (r#"{"name": "Pool"}"#, ""),
            (r#"{"intents": [{"id": "a", "name": "Pool"}]}"#, "a"),
        ] {
            assert_eq!(ids_and_names(text), one(id), "{text}");
        }
        let read = parse(b"name: Pool\ndescription: |\n  One\n\n  Two\n").unwrap();
        assert_eq!(read[0].description, "One\n\nTwo\n");
    }

    #[test]
    fn an_error_has_its_line_and_column_in_the_file() {
        let refusal = parse(b"id: a\nname: 7\n").unwrap_err();
        assert_eq!((refusal.line, refusal.column), (2, 7), "{refusal}");
        let refusal = parse(b"id: a b\nname: Pool\n").unwrap_err();
        assert_eq!((refusal.line, refusal.column), (1, 5), "{refusal}");
        assert!(parse(b"[1]").is_err() && parse(b"7").is_err() && parse(b"name: *x").is_err());
    }
}
