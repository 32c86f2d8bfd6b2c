//! JSON in manifests. The parser tolerates comments, trailing commas and a byte order mark. It keeps the order of keys,
//! because conditions in `exports` and patterns in `paths` depend on it.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. Numbers and booleans never matter to resolution, except `true`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses `text`. `None` if it is not JSON even without comments and trailing commas, or nests more than 128 deep.
    pub(crate) fn parse(text: &str) -> Option<Json> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        serde_json::from_str(text)
            .or_else(|_| serde_json::from_slice(&without_comments(text)))
            .ok()
    }

    /// The last value of `key`, as in JSON.parse.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields
                .iter()
                .rev()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The number of values in it, itself included.
    pub(crate) fn value_count(&self) -> usize {
        match self {
            Json::List(items) => 1 + items.iter().map(Json::value_count).sum::<usize>(),
            Json::Object(fields) => 1 + fields.iter().map(|(_, value)| value.value_count()).sum::<usize>(),
            Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) => 1,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Json]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn fields(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The strings of a list; other values are left out. `None` when it is not a list.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        let items = self.list()?;
        Some(items.iter().filter_map(|item| item.text().map(str::to_owned)).collect())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = access.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

/// The text with spaces in place of comments, and without a comma before a closing bracket.
fn without_comments(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut last_comma = None;
    // Whether a value precedes: only then is a comma a trailing one.
    let mut follows_value = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(bytes, at);
                out.extend_from_slice(&bytes[at..end]);
                at = end;
                last_comma = None;
                follows_value = true;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let body = at + 2;
                at = memchr::memmem::find(&bytes[body..], b"*/").map_or(bytes.len(), |length| body + length + 2);
                out.push(b' ');
                continue;
            }
            b',' => {
                last_comma = follows_value.then_some(out.len());
                follows_value = false;
            }
            b']' | b'}' => {
                if let Some(comma) = last_comma.take() {
                    out[comma] = b' ';
                }
                follows_value = true;
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => {
                last_comma = None;
                follows_value = !matches!(byte, b'[' | b'{' | b':');
            }
        }
        out.push(byte);
        at += 1;
    }
    out
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_forgiven() {
        let text = "\u{feff}{ // one\n \"a\": [1, 2, /* , */ ], \"b\": \"// no , }\", /* x */ }";
        let json = Json::parse(text).unwrap();
        assert_eq!(json.get("a").unwrap().list().unwrap().len(), 2);
        assert_eq!(json.get("b").unwrap().text(), Some("// no , }"));
    }

    #[test]
    fn the_order_of_keys_is_kept() {
        let json = Json::parse(r#"{"z": null, "a": true, "m": {}}"#).unwrap();
        let names: Vec<&str> = json.fields().unwrap().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["z", "a", "m"]);
    }

    #[test]
    fn invalid_or_too_deep_json_is_nothing() {
        for text in ["", "{", "\"", "\"\\", "/*", "{\"a\"}", "[,]", "nul"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
        assert_eq!(Json::parse(&"[".repeat(1_000_000)), None);
        assert_eq!(Json::parse(&format!("{}{}", "[".repeat(5000), "]".repeat(5000))), None);
    }
}
