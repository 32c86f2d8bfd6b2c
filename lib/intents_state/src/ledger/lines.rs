//! Reads of the lines as scripts have appended them.

use coord_domain::{EventId, RepoId};
use coord_state::read::Read;
use coord_store::{Request, StoreError, Value};

use super::keys;

/// A line without its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedLine {
    /// Its id in the stream.
    pub id: EventId,
    /// Its text; empty if the entry of the stream is not a line. No script appends such an entry.
    pub text: String,
}

/// Reads at most `most` lines of `repo` that come after `after`, the oldest first.
pub fn lines_after(repo: &RepoId, after: EventId, most: usize) -> Read<Vec<AppendedLine>> {
    let (ledger, first, most) = (keys::ledger(repo), after.next().to_string(), most.to_string());
    let request = Request::command(["XRANGE", &ledger, &first, "+", "COUNT", &most]);
    Read::new([request], |[entries]| decode(&entries))
}

/// Reads the newest `most` lines of `repo`, the latest first.
pub fn newest_lines(repo: &RepoId, most: usize) -> Read<Vec<AppendedLine>> {
    let (ledger, most) = (keys::ledger(repo), most.to_string());
    let request = Request::command(["XREVRANGE", &ledger, "+", "-", "COUNT", &most]);
    Read::new([request], |[entries]| decode(&entries))
}

fn malformed() -> StoreError {
    StoreError::Malformed("the ledger of a repository".to_owned())
}

fn decode(entries: &Value) -> Result<Vec<AppendedLine>, StoreError> {
    let entries = entries.as_array().ok_or_else(malformed)?;
    let lines = entries.iter().map(|entry| {
        let [id, fields] = entry.as_array()? else {
            return None;
        };
        let text = match fields.as_array()? {
            [name, text] if name.as_str() == Some("line") => text.as_str().unwrap_or_default(),
            _ => "",
        };
        Some(AppendedLine {
            id: EventId::parse(id.as_str()?).ok()?,
            text: text.to_owned(),
        })
    });
    lines.map(|line| line.ok_or_else(malformed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undecodable_line_keeps_its_place_and_an_invalid_stream_is_an_error() {
        let entry = |id: &str, fields: &[&str]| {
            let fields = fields.iter().map(|text| Value::bulk(*text)).collect();
            Value::Array(vec![Value::bulk(id), Value::Array(fields)])
        };
        let stream = Value::Array(vec![
            entry("1-0", &["line", "{}"]),
            entry("1-1", &["other", "{}"]),
            entry("1-2", &["line", "{}", "more", "{}"]),
        ]);
        let texts: Vec<String> = decode(&stream).unwrap().into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["{}", "", ""]);
        for wrong in [
            Value::Nil,
            Value::Array(vec![Value::bulk("1-0")]),
            Value::Array(vec![entry("one", &[])]),
        ] {
            assert!(decode(&wrong).is_err(), "{wrong:?}");
        }
    }
}
