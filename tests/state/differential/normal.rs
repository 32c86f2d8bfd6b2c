//! Answers and states without what differs from one run to another.

use coord_store::{Request, Value};
use serde_json::Value as Json;

use crate::world::World;

/// `text` without what the clock says: times of ten digits and more with the number of a stream's entry, and timestamps.
pub fn without_times(text: &str) -> String {
    const TIMESTAMP: &str = "{\"timestamp\":\"";
    let mut text = text.to_owned();
    if text.starts_with(TIMESTAMP) {
        let end = text[TIMESTAMP.len()..].find('"').expect("its end");
        text.replace_range(TIMESTAMP.len()..TIMESTAMP.len() + end, "T");
    }
    let (mut shown, mut rest) = (String::new(), text.as_str());
    while let Some(begin) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, number) = rest.split_at(begin);
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        shown.push_str(before);
        rest = &number[digits..];
        if digits < 10 {
            shown.push_str(&number[..digits]);
            continue;
        }
        shown.push('T');
        if let Some(entry) = rest.strip_prefix('-') {
            rest = entry.trim_start_matches(|letter: char| letter.is_ascii_digit());
        }
    }
    shown + rest
}

/// Objects of JSON have no order; lines of the ledger are bytes.
fn canonical(text: &str) -> String {
    fn sorted(value: Json) -> String {
        match value {
            Json::Object(members) => {
                let mut members: Vec<String> = members
                    .into_iter()
                    .map(|(name, value)| format!("{name:?}:{}", sorted(value)))
                    .collect();
                members.sort();
                format!("{{{}}}", members.join(","))
            }
            Json::Array(items) => format!("[{}]", items.into_iter().map(sorted).collect::<Vec<_>>().join(",")),
            plain => plain.to_string(),
        }
    }
    let parsed = if text.starts_with("{\"timestamp\"") {
        None
    } else {
        serde_json::from_str::<Json>(text).ok()
    };
    without_times(&parsed.map_or_else(|| text.to_owned(), sorted))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        value => value
            .as_str()
            .map_or_else(|| without_times(&format!("{value:?}")), canonical),
    }
}

/// Every key of the repository but the seal, whose hashes are of times.
pub async fn state(world: &World) -> Vec<String> {
    let ask = async |words: &[&str]| {
        let words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        world.store.run(vec![Request::Command(words)]).await.unwrap().remove(0)
    };
    let pattern = format!("*{{{}}}*", world.repo.as_str());
    let names = ask(&["KEYS", &pattern]).await;
    let mut names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    let mut state = Vec::new();
    for name in names.into_iter().filter(|name| !name.contains(":seal:")) {
        let kind = ask(&["TYPE", name]).await;
        let content = match kind.as_str().unwrap() {
            "string" => ask(&["GET", name]).await,
            "hash" => ask(&["HGETALL", name]).await,
            "zset" => ask(&["ZRANGE", name, "0", "-1", "WITHSCORES"]).await,
            "stream" => ask(&["XRANGE", name, "-", "+"]).await,
            other => panic!("a type that cannot be: {other}"),
        };
        let has_expiry = ask(&["TTL", name]).await != Value::Int(-1);
        let content = match (kind.as_str(), &content) {
            // Scores are times, too: the order of what was written at once is the clock's.
            (Some("hash" | "zset"), Value::Array(items)) => {
                let pairs = items.as_chunks::<2>().0.iter();
                let mut pairs: Vec<String> = pairs.map(|[name, value]| shown(name) + " " + &shown(value)).collect();
                pairs.sort();
                pairs.join("\n")
            }
            _ => shown(&content),
        };
        state.push(format!("{name} {has_expiry} {content}"));
    }
    state
}
