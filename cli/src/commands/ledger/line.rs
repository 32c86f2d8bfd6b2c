//! A line of the ledger as a sentence.

use coord_intents::ledger::{Record, Timestamp};

use crate::terminal::output::{BAD, CAUTION, FAINT, GOOD, short, styled};
use crate::terminal::times::clock;

/// `line` for a terminal; one that cannot be read is shown as it is.
pub(super) fn sentence(line: &str, now: i64) -> String {
    match Record::read(line.as_bytes()) {
        Ok(record) => told(&record, now),
        Err(_) => line.to_owned(),
    }
}

fn told(record: &Record, now: i64) -> String {
    let time = record.timestamp.parse::<Timestamp>().ok().and_then(seconds);
    let time = time.map_or_else(|| record.timestamp.clone(), |time| clock(time, now));
    let status = match record.status.as_str() {
        "SUCCESS" => styled(GOOD, "SUCCESS"),
        "DENIED" => styled(CAUTION, "DENIED"),
        other => styled(BAD, other),
    };
    let mut words = vec![
        styled(FAINT, &time),
        record.agent_id.clone(),
        record.action_type.clone(),
        record.tool_name.clone(),
        record.target_files.join(", "),
        status,
    ];
    words.retain(|word| !word.is_empty());
    let mut text = words.join(" ");
    let about = [&record.error_message, &record.reasoning, &record.output_summary];
    if let Some(about) = about.into_iter().find(|about| !about.is_empty()) {
        text.push_str(": ");
        text.push_str(&about.replace(char::is_control, " "));
    }
    let hash = record.hash.strip_prefix("sha256:").map(short);
    let ends = [hash.map(|hash| format!("sha256 {hash}")), record.intent_id.clone()];
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    if !ends.is_empty() {
        text.push_str(&styled(FAINT, &format!(" [{}]", ends.join(", "))));
    }
    text
}

fn seconds(time: Timestamp) -> Option<i64> {
    let time = chrono::DateTime::parse_from_rfc3339(&time.to_string()).ok()?;
    Some(time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_did_what_to_which_file_and_how_it_ended() {
        let vector = include_str!("../../../../lib/intents/tests/ledger/vector.jsonl");
        let told: Vec<String> = vector
            .lines()
            .map(|line| anstream::adapter::strip_str(&sentence(line, 0)).to_string())
            .collect();
        assert!(
            told[1].ends_with(
                "ada/claude-1 TOOL_EXECUTION Write src/db.ts SUCCESS: Wrote src/db.ts \
                 [sha256 5ca890b, 018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10]"
            ),
            "{}",
            told[1]
        );
        assert!(told[2].contains("DENIED: Scope Violation: "), "{}", told[2]);
        assert_eq!(sentence("no JSON", 0), "no JSON");
    }
}
