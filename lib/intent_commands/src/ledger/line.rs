//! Renders a line of the ledger as a sentence.

use coord_agent::terminal::output::{BAD, CAUTION, FAINT, GOOD, short, styled};
use coord_agent::terminal::times::clock;
use coord_intents::ledger::{Record, Timestamp};
use coord_protocol::plain_text::{quote_line, visible_line};

/// A sentence for a terminal, with quoted words of agents. A line that cannot be parsed is quoted as a whole.
pub(super) fn sentence(line: &str, now: i64) -> String {
    match Record::read(line.as_bytes()) {
        Ok(record) => record_sentence(&record, now),
        Err(_) => quote_line(line),
    }
}

fn record_sentence(record: &Record, now: i64) -> String {
    let timestamp = record.timestamp.parse::<Timestamp>().ok();
    let time = timestamp.and_then(|time| chrono::DateTime::parse_from_rfc3339(&time.to_string()).ok());
    let time = time.map_or_else(|| record.timestamp.clone(), |time| clock(time.timestamp(), now));
    let tool = match record.tool_name.as_str() {
        "" => String::new(),
        name => quote_line(name),
    };
    let status = match record.status.as_str() {
        "SUCCESS" => styled(GOOD, "SUCCESS"),
        "DENIED" => styled(CAUTION, "DENIED"),
        other => styled(BAD, &visible_line(other)),
    };
    let mut words = vec![
        styled(FAINT, &time),
        visible_line(&record.agent_id).into_owned(),
        visible_line(&record.action_type).into_owned(),
        tool,
        visible_line(&record.target_files.join(", ")).into_owned(),
        status,
    ];
    words.retain(|word| !word.is_empty());
    let mut text = words.join(" ");
    let details = [&record.error_message, &record.reasoning, &record.output_summary];
    if let Some(detail) = details.into_iter().find(|detail| !detail.is_empty()) {
        text.push_str(": ");
        text.push_str(&quote_line(detail));
    }
    let hash = record.hash.strip_prefix("sha256:").map(short);
    let intent = record.intent_id.as_deref().map(|id| visible_line(id).into_owned());
    let tags = [hash.map(|hash| format!("sha256 {hash}")), intent];
    let tags: Vec<String> = tags.into_iter().flatten().collect();
    if !tags.is_empty() {
        text.push_str(&styled(FAINT, &format!(" [{}]", tags.join(", "))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_line_names_the_actor_the_kind_the_file_and_the_result() {
        let vector = include_str!("../../../intents/tests/ledger/vector.jsonl");
        let lines: Vec<String> = vector
            .lines()
            .map(|line| anstream::adapter::strip_str(&sentence(line, 0)).to_string())
            .collect();
        assert!(
            lines[1].ends_with(
                "ada/claude-1 TOOL_EXECUTION \u{201c}Write\u{201d} src/db.ts SUCCESS: \u{201c}Wrote src/db.ts\u{201d} \
                 [sha256 5ca890b, 018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10]"
            ),
            "{}",
            lines[1]
        );
        assert!(lines[2].contains("DENIED: \u{201c}Scope Violation: "), "{}", lines[2]);
        assert_eq!(sentence("no JSON", 0), "\u{201c}no JSON\u{201d}");
    }
}
