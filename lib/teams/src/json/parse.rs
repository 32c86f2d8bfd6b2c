use std::collections::HashSet;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::value::{Json, Object};
use crate::bounds::DEPTH;

/// Parses a file of at most `max_bytes`. The error is a sentence for people.
pub fn parse(bytes: &[u8], max_bytes: usize) -> Result<Json, String> {
    if bytes.len() > max_bytes {
        return Err(format!(
            "the file has {} bytes; at most {max_bytes} are read",
            bytes.len()
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"))?;
    // This checks the grammar of the whole file, without recursion. Errors have line and column.
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    parse_value(raw, 0)
}

fn parse_value(raw: &RawValue, depth: usize) -> Result<Json, String> {
    let text = raw.get();
    match text.as_bytes()[0] {
        b'{' | b'[' if depth == DEPTH => Err(format!("more than {DEPTH} levels of arrays and objects")),
        b'{' => {
            let Members(members) = parse_level(text)?;
            let mut names = HashSet::with_capacity(members.len());
            if let Some((name, _)) = members.iter().find(|(name, _)| !names.insert(name.as_str())) {
                return Err(format!("duplicate member {}", crate::refusal::quote(name)));
            }
            let members = members
                .iter()
                .map(|(name, raw)| Ok((name.clone(), parse_value(raw, depth + 1)?)))
                .collect::<Result<Object, String>>()?;
            Ok(Json::Object(members))
        }
        b'[' => {
            let items: Vec<&RawValue> = parse_level(text)?;
            let items: Result<_, _> = items.into_iter().map(|raw| parse_value(raw, depth + 1)).collect();
            Ok(Json::Array(items?))
        }
        b'"' => Ok(Json::Text(parse_level(text)?)),
        b't' => Ok(Json::Bool(true)),
        b'f' => Ok(Json::Bool(false)),
        b'n' => Ok(Json::Null),
        _ => Ok(Json::Number(text.into())),
    }
}

/// Parses one level. The only possible error is half of a surrogate pair, because the grammar was checked before.
fn parse_level<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

struct Members<'de>(Vec<(String, &'de RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderedMembers;
        impl<'de> Visitor<'de> for OrderedMembers {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(OrderedMembers)
    }
}
