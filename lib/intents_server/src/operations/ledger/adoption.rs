//! Entries that adopt the lines of other programs. Such an entry has exactly one form.

use coord_intents::ledger::{Adoption, ContentHash};
use coord_protocol::{RecordEntry, RecordKind};
use serde_json::Value as Json;

/// The error for an entry of a different form.
const FORM: &str = " must have hash, tool_input of bytes and lines, the 64 digits of the hash as trace_id, and no \
                    other member, because its kind is adoption";

/// The lines that `entry` adopts. `hash` is its parsed hash.
///
/// # Errors
/// When the entry has a different form.
pub(super) fn parse_adoption(entry: &RecordEntry, hash: Option<ContentHash>) -> Result<Adoption, &'static str> {
    let (Some(ContentHash::Sha256(hash)), Some(input)) = (hash, &entry.tool_input) else {
        return Err(FORM);
    };
    let adoption = Adoption::parse(hash, &Json::Object(input.clone()).to_string()).ok_or(FORM)?;
    let expected = RecordEntry {
        tool_input: entry.tool_input.clone(),
        hash: entry.hash.clone(),
        ..RecordEntry::new(adoption.trace_id().to_string(), RecordKind::Adoption)
    };
    if *entry == expected { Ok(adoption) } else { Err(FORM) }
}

/// A line about `adoption`.
pub(super) fn summary(adoption: &Adoption) -> String {
    format!(
        "Lines of other programs that are adopted: {} ({} bytes)",
        adoption.lines, adoption.bytes
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_adoption_has_one_form_and_no_other() {
        let digits = "5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7";
        let whole = json!({ "trace_id": digits, "kind": "adoption", "hash": format!("sha256:{digits}"),
            "tool_input": { "bytes": 40, "lines": 2 } });
        let read = |change: Json| {
            let mut entry = whole.clone();
            let members = change.as_object().unwrap().clone();
            entry.as_object_mut().unwrap().extend(members);
            let entry: RecordEntry = serde_json::from_value(entry).unwrap();
            parse_adoption(&entry, entry.hash.as_deref().map(|hash| hash.parse().unwrap()))
        };
        let adopted = read(json!({})).unwrap();
        assert_eq!((adopted.bytes, adopted.lines), (40, 2));
        assert_eq!(
            summary(&adopted),
            "Lines of other programs that are adopted: 2 (40 bytes)"
        );
        for change in [
            json!({ "trace_id": "t" }),
            json!({ "hash": null }),
            json!({ "hash": "DELETED" }),
            json!({ "tool_input": null }),
            json!({ "tool_input": { "bytes": 40 } }),
            json!({ "tool_input": { "bytes": 40, "lines": 2, "more": 1 } }),
            json!({ "tool_input": { "bytes": 1, "lines": 2 } }),
            json!({ "tool_input": { "bytes": 40, "lines": 0 } }),
            json!({ "tool_input": { "bytes": 40.5, "lines": 2 } }),
            json!({ "tool_input": { "bytes": "40", "lines": 2 } }),
            json!({ "tool_name": "Write" }),
            json!({ "reasoning": "why" }),
            json!({ "file_path": "a.ts" }),
            json!({ "token": 1 }),
            json!({ "output_summary": "done" }),
            json!({ "error_message": "no" }),
            json!({ "mutation_class": "AST_REFACTOR" }),
        ] {
            assert_eq!(read(change.clone()), Err(FORM), "{change}");
        }
    }
}
