//! The order of members in results for clients. Some agents pass the structured content to their model unchanged, so
//! the command comes first.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// The first member of each object that has it.
const FIRST: &str = "orchestration";

/// `message` with the orchestration command before the other members of its object. Does not change text that is not
/// JSON.
pub fn in_order(message: &[u8]) -> Vec<u8> {
    let ordered = serde_json::from_slice(message).and_then(|value: Value| serde_json::to_vec(&OrderedJson(&value)));
    ordered.unwrap_or_else(|_| message.to_owned())
}

struct OrderedJson<'a>(&'a Value);

impl Serialize for OrderedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let first = members.get_key_value(FIRST);
                let others = members.iter().filter(|(name, _)| *name != FIRST);
                serializer.collect_map(
                    first
                        .into_iter()
                        .chain(others)
                        .map(|(name, value)| (name, OrderedJson(value))),
                )
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(OrderedJson)),
            other => other.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_comes_first_in_each_object_and_nothing_is_lost() {
        for (message, ordered) in [
            (
                r#"{"id":1,"result":{"a":1,"held":[{"b":2,"orchestration":{"z":1,"action":"WAIT"}}],"orchestration":null}}"#,
                r#"{"id":1,"result":{"orchestration":null,"a":1,"held":[{"orchestration":{"action":"WAIT","z":1},"b":2}]}}"#,
            ),
            (r#"[1.5,"ä\n",-3,true]"#, r#"[1.5,"ä\n",-3,true]"#),
            ("no JSON", "no JSON"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(in_order(message.as_bytes())).unwrap(), ordered);
        }
    }
}
