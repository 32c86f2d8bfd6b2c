//! Lines: their bytes, how they are written, and how they are read.

use coord_intents::ledger::{
    ActionType, Adoption, ContentHash, Entry, Event, InvalidEntry, LINE_BYTES, LineTooLong, Payload, Point, Record,
    Sealer, State, Timestamp, ToolInput, TraceId, seal, split,
};
use proptest::prelude::*;

use crate::sample::{FOREIGN, REPOSITORY, VECTOR, adoption, event, unsealed};

// rule: ledger#chain-hash
// rule: ledger#chain
#[test]
fn the_vector_is_read_and_sealed_byte_for_byte() {
    let mut sealer = Sealer::after(Point::start(REPOSITORY));
    let mut sealed = Vec::new();
    for line in VECTOR.lines() {
        let entry = Entry::parse(line.as_bytes()).unwrap();
        sealer.append(&mut sealed, &entry.text()).unwrap();
        let chain = split(line.as_bytes()).unwrap();
        let (one, hash) = seal(&chain.prev, chain.seq, &entry.text()).unwrap();
        assert_eq!((one.as_str(), hash), (line, chain.hash));
    }
    assert_eq!(String::from_utf8(sealed).unwrap(), VECTOR);
    assert_eq!(
        sealer.point().to_string(),
        "3:43768ac6081e13da4cf31dc3b650d5377ac8e85e329299b131a00c1d75720e45"
    );
}

/// Each line of the vector is written again from its content.
// rule: ledger#vector
#[test]
fn the_vector_is_written_byte_for_byte() {
    for line in VECTOR.lines() {
        let entry = Entry::parse(line.as_bytes()).unwrap();
        let event = Event {
            action_type: entry.action_type,
            payload: entry.payload,
            result: entry.result,
            metadata: entry.metadata,
            trace_id: entry.trace_id,
        };
        let (login, agent) = entry.agent_id.split_once('/').unwrap();
        let prepared = event.prepare(Some(agent)).unwrap();
        let written = prepared
            .join(entry.timestamp, login, entry.intent_id.as_deref(), entry.state)
            .unwrap();
        assert_eq!(written.as_str().strip_suffix('}'), line.split(",\"chain\":").next());
    }
}

#[test]
fn a_line_without_its_optional_members_has_those_of_the_seed() {
    let bare = Event {
        action_type: ActionType::ContextLoad,
        payload: Payload::default(),
        ..event(1)
    };
    let line = bare
        .prepare(None)
        .unwrap()
        .join(Timestamp::from_millis(0), "ada", None, State::Request)
        .unwrap();
    assert_eq!(
        line.as_str(),
        r#"{"timestamp":"1970-01-01T00:00:00.000Z","agent_id":"ada","intent_id":null,"state":"REQUEST","action_type":"CONTEXT_LOAD","payload":{},"result":{"status":"SUCCESS","output_summary":"Wrote \"src/ü1.ts\""},"metadata":{"session_id":"s-7","contributor":"anthropic/claude-opus-4-5"},"trace_id":"018f6a1d-0000-7000-8000-000000000001"}"#
    );
    assert_eq!(Entry::parse(line.as_str().as_bytes()).unwrap().text(), line.as_str());
}

// rule: ledger#members
#[test]
fn other_bytes_than_coords_are_no_entry() {
    let line = VECTOR.lines().nth(1).unwrap();
    assert!(Entry::parse(line.as_bytes()).is_ok());
    for (from, to) in [
        ("\"state\":\"ACTION\"", "\"state\": \"ACTION\""),
        ("\"state\":\"ACTION\"", "\"state\":\"IDLE\""),
        ("\"state\":\"ACTION\"", "\"state\":\"ACTION\",\"more\":1"),
        ("TOOL_EXECUTION", "SCOPE_WARNING"),
        ("\"status\":\"SUCCESS\"", "\"status\":\"WARNING\""),
        (
            "\"output_summary\":\"Wrote src/db.ts\"",
            "\"output_summary\":\"Wrote src\\/db.ts\"",
        ),
        ("sha256:5ca890bf", "sha256:5CA890BF"),
        ("\"tool_name\":\"Write\",", "\"tool_name\":null,"),
        ("018f6a1d-0000-7000-8000-000000000002", "a:b"),
        ("2026-11-22T09:01:12.345Z", "2026-11-22T09:01:12Z"),
        ("\"intent_id\":\"018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10\",", ""),
    ] {
        let other = line.replacen(from, to, 1);
        assert_ne!(other, line, "{from}");
        assert!(Entry::parse(other.as_bytes()).is_err(), "{to}");
    }
    assert!(matches!(Entry::parse(&[b' '; LINE_BYTES]), Err(InvalidEntry::TooLong)));
}

// rule: ledger#line-size
#[test]
fn an_event_that_is_too_large_is_recorded_in_less() {
    let mut large = event(1);
    let input = serde_json::json!({ "files": vec!["x".repeat(150); 100] });
    large.payload.tool_input = Some(ToolInput::record(&input));
    let whole = large.payload.tool_input.as_ref().unwrap().as_str().len();
    large.payload.reasoning = Some("because ".repeat(300));
    let line = unsealed(large.clone(), 1);
    assert!(
        line.contains(&format!("\"bytes\":{whole}")) && line.contains(&"because ".repeat(300)),
        "{line}"
    );
    large.result.output_summary = "ü\n".repeat(5000);
    large.result.error_message = Some("Scope Violation".to_owned());
    let line = unsealed(large, 1);
    assert!(
        line.len() < LINE_BYTES && line.contains("because") && line.contains("Scope Violation"),
        "{line}"
    );
    assert!(Entry::parse(line.as_bytes()).is_ok());
    let mut path = event(1);
    path.payload.target_files = vec!["\u{1}".repeat(4096)];
    assert_eq!(path.prepare(None), Err(LineTooLong));
    let prepared = event(1).prepare(None).unwrap();
    let refused = prepared.join(Timestamp::from_millis(0), &"x".repeat(9000), None, State::Request);
    assert_eq!(refused, Err(LineTooLong));
}

// rule: ledger#redaction
#[test]
fn credentials_in_texts_are_blanked() {
    let mut event = event(1);
    event.payload.reasoning = Some("use ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned());
    event.result.output_summary = "Wrote DB_PASSWORD=hunter2".to_owned();
    event.result.error_message = Some("https://ada:hunter2@example.com".to_owned());
    let line = unsealed(event, 1);
    assert!(!line.contains("ghp_") && !line.contains("hunter2"), "{line}");
}

#[test]
fn ids_of_events_escape_nothing() {
    for text in ["", "a b", "a\"b", "a{b}", "a:b", "ü", &"x".repeat(65)] {
        assert!(TraceId::parse(text).is_err(), "{text}");
    }
    assert!(TraceId::parse(&"x".repeat(64)).is_ok());
}

// rule: ledger#foreign-members
#[test]
fn lines_of_the_origin_are_read_for_display() {
    let first = FOREIGN.lines().next().unwrap();
    let record = Record::read(first.as_bytes()).unwrap();
    let expected = Record {
        is_foreign: true,
        timestamp: "2026-02-18T10:00:00.000Z".to_owned(),
        agent_id: "agent".to_owned(),
        output_summary: "Wrote a file".to_owned(),
        target_files: vec!["src/app.ts".to_owned()],
        lines: Some((1, -1)),
        hash: "e3b0c44298fc1c149afbf4c8996fb924".to_owned(),
        trace_id: "t-1".to_owned(),
        ..Record::default()
    };
    assert_eq!(record, expected);
    let full = br#"{"mutation_class":"AST_REFACTOR","related":["REQ-1","REQ-2"],"intent_id":"INT-001","contributor":{"entity_type":"AI","model_identifier":"m-1"},"ranges":[{"file":"a.ts","content_hash":"c1","start_line":3,"end_line":9},{"file":"b.ts","content_hash":"c2"}],"state":"ACTION","action_type":"MUTATION_CONFLICT","result":{"status":"WARNING","content_hash":"c3"},"metadata":{"session_id":"current"}}"#;
    let record = Record::read(full).unwrap();
    let expected = Record {
        is_foreign: true,
        intent_id: Some("INT-001".to_owned()),
        related: vec!["REQ-1".to_owned(), "REQ-2".to_owned()],
        state: "ACTION".to_owned(),
        action_type: "MUTATION_CONFLICT".to_owned(),
        target_files: vec!["a.ts".to_owned(), "b.ts".to_owned()],
        lines: Some((3, 9)),
        hash: "c1".to_owned(),
        status: "WARNING".to_owned(),
        session_id: "current".to_owned(),
        contributor: "m-1".to_owned(),
        mutation_class: "AST_REFACTOR".to_owned(),
        ..Record::default()
    };
    assert_eq!(record, expected);
    let hash_of_result = Record::read(br#"{"result":{"content_hash":"c3"}}"#).unwrap();
    assert_eq!(hash_of_result.hash, "c3");
    for wrong in [&b"[]"[..], b"", b"{", b"null", b"\xff"] {
        assert!(Record::read(wrong).is_err());
    }
}

#[test]
fn lines_of_coord_are_read_for_display() {
    let record = Record::read(VECTOR.lines().nth(2).unwrap().as_bytes()).unwrap();
    assert!(!record.is_foreign);
    assert_eq!(record.seq, Some(3));
    assert_eq!(record.target_files, ["src/pages/größe.ts"]);
    assert_eq!(
        (record.status.as_str(), record.agent_id.as_str()),
        ("DENIED", "ada/claude-1")
    );
    assert!(record.error_message.starts_with("Scope Violation: 018f6a1c"));
}

#[test]
fn an_adoption_is_read_as_it_was_written() {
    let adopted = Adoption::of(FOREIGN.as_bytes()).unwrap();
    assert_eq!((adopted.bytes, adopted.lines), (FOREIGN.len() as u64, 2));
    assert_eq!(Adoption::of(FOREIGN.trim_end().as_bytes()).unwrap().lines, 2);
    let line = unsealed(adoption(FOREIGN), 1);
    assert_eq!(Adoption::read(line.as_bytes()), Some(adopted));
    let ending = format!("\"lines\":2}},\"hash\":\"{}\"}}", ContentHash::Sha256(adopted.hash));
    assert!(
        line.contains(&ending),
        "the form that the Python verifier looks for: {line}"
    );
    assert_eq!(
        Adoption::read(line.replace("STATE_TRANSITION", "TOOL_EXECUTION").as_bytes()),
        None
    );
    assert_eq!(Adoption::read(unsealed(event(1), 1).as_bytes()), None);
}

proptest! {
    /// Both ways of writing a line give the same bytes, whatever is in it.
    #[test]
    fn a_joined_line_is_the_entry_that_is_read(
        login in "\\PC{1,20}", agent in proptest::option::of("(?s).{1,20}"), text in "(?s).{0,300}",
        path in "(?s).{1,200}", intent in proptest::option::of("[A-Za-z0-9][A-Za-z0-9._-]{0,63}"), millis in any::<u64>(),
    ) {
        let mut event = event(1);
        event.payload.target_files = vec![path.clone()];
        event.payload.reasoning = Some(text.clone());
        event.payload.tool_input = Some(ToolInput::record(&serde_json::json!({ path.clone(): text })));
        let prepared = event.prepare(agent.as_deref()).unwrap();
        let time = Timestamp::from_millis(millis);
        let line = prepared.join(time, &login, intent.as_deref(), State::Reasoning).unwrap();
        let entry = Entry::parse(line.as_str().as_bytes()).unwrap();
        prop_assert_eq!(entry.text(), line.as_str());
        let agent = agent.map(|agent| format!("/{agent}")).unwrap_or_default();
        prop_assert_eq!(entry.agent_id, format!("{login}{agent}"));
        prop_assert_eq!((entry.timestamp, entry.intent_id, entry.payload.target_files), (time, intent, vec![path]));
        let start = Point::start(REPOSITORY);
        let (sealed, hash) = seal(&start.hash, 1, line.as_str()).unwrap();
        prop_assert!(sealed.len() < LINE_BYTES);
        let chain = split(sealed.as_bytes()).unwrap();
        prop_assert_eq!((chain.hash, chain.expected_hash(), chain.prev), (hash, hash, start.hash));
    }
}
