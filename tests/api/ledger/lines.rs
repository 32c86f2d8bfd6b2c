//! Lines are recorded once, and read with a chain that verifies.

use coord_intents::ledger::{
    Adoption, Anchor, Expectations, Point, Record, SignedCheckpoint, SigningKey, Source, verify,
};
use coord_intents_server::Intents;
use coord_intents_server::config::IntentConfig;
use coord_protocol::LedgerFilter;
use serde_json::{Value, json};

use super::{CHAIN, HASH, call, change, client, first_page, page, record, report_on, text_of};
use crate::api::{Api, REPO_URL};

async fn start_with(config: IntentConfig) -> Api {
    Api::start_with(|state| state.extensions = state.extensions.with(Intents::new(config))).await
}

#[tokio::test]
async fn recorded_lines_are_read_with_their_chain_and_verify() {
    let api = Api::start().await;
    let nothing = first_page(&api).await;
    assert_eq!((nothing.lines.len(), nothing.next), (0, None));
    assert_eq!(nothing.sealed, nothing.base);
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let session = json!({ "session": { "session_id": "s-7", "contributor": "a/model" }, "agent_id": "one" });
    let refused = record(&api, "ann", &[change("t1", "src/db.ts", HASH)], session).await;
    assert_eq!(refused["recorded"], json!(["FAILURE"]));
    let warning = refused["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("NO_LOCK: "), "{refused}");
    let entries = [change("t1", "src/db.ts", HASH), call("t2")];
    let done = record(&api, "ann", &entries, json!({})).await;
    assert_eq!(done["recorded"], json!(["SUCCESS", "SUCCESS"]));
    assert_eq!(done["orchestration"]["action"], "PROCEED");
    let again = record(&api, "ann", &entries, json!({})).await;
    assert_eq!(again["recorded"], json!(["REPEATED", "REPEATED"]));
    let all = first_page(&api).await;
    let lines = all.lines.iter().map(|line| Record::read(line.as_bytes()).unwrap());
    let lines: Vec<Record> = lines.collect();
    let short: Vec<_> = lines
        .iter()
        .map(|line| (line.agent_id.as_str(), line.status.as_str(), line.trace_id.as_str()))
        .collect();
    assert_eq!(
        short,
        [
            ("ann/one", "FAILURE", "t1"),
            ("ann", "SUCCESS", "t1"),
            ("ann", "SUCCESS", "t2")
        ]
    );
    let (session, contributor) = (lines[0].session_id.as_str(), lines[0].contributor.as_str());
    assert_eq!((session, contributor), ("s-7", "a/model"));
    assert!(lines[0].error_message.starts_with("No lock"), "{:?}", lines[0]);
    let expected = Expectations {
        anchors: vec![Anchor {
            point: all.sealed.parse().unwrap(),
            source: Source::Seal,
        }],
        ..Expectations::chain_of(CHAIN)
    };
    let report = verify(text_of(&all).as_bytes(), &expected).unwrap();
    assert_eq!((report.damage, report.lines, report.anchors_met), (None, 3, 1));
}

#[tokio::test]
async fn lines_of_other_programs_are_adopted_by_a_line_in_the_form_of_the_ledger() {
    let api = Api::start().await;
    let foreign = "{\"actor\":\"x\"}\n{\"actor\":\"y\"}\n";
    let adoption = Adoption::of(foreign.as_bytes()).unwrap();
    let entry = json!({ "trace_id": adoption.trace_id(), "kind": "adoption", "hash": format!("sha256:{}", adoption.hash),
        "tool_input": { "lines": 2, "bytes": foreign.len() } });
    for result in ["SUCCESS", "REPEATED"] {
        let done = record(&api, "ann", &[call("t1"), entry.clone()], json!({})).await;
        assert_eq!(done["recorded"], json!([result, result]));
    }
    let all = first_page(&api).await;
    assert_eq!(Adoption::read(all.lines[1].as_bytes()), Some(adoption));
    let report = report_on(&format!("{foreign}{}", text_of(&all)));
    assert_eq!((report.damage, report.foreign.is_adopted), (None, true));
}

#[tokio::test]
async fn pages_follow_each_other_and_can_be_of_an_intent_or_a_file() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts", "src/page.ts"]).await;
    for first in (0..1000).step_by(25) {
        let entry = |number: usize| match number % 100 {
            7 => change(&format!("t{number}"), "src/db.ts", HASH),
            8 => change(&format!("t{number}"), "src/page.ts", HASH),
            _ => call(&format!("t{number}")),
        };
        let entries: Vec<Value> = (first..first + 25).map(entry).collect();
        record(&api, "ann", &entries, json!({})).await;
    }
    let mut all = first_page(&api).await;
    assert_eq!((all.lines.len(), all.next), (100, Some(100)));
    while let Some(next) = all.next {
        let filter = LedgerFilter {
            after: Some(next),
            limit: Some(137),
            ..LedgerFilter::default()
        };
        let mut more = page(&api, filter).await;
        all.lines.append(&mut more.lines);
        all.next = more.next;
    }
    assert_eq!(all.lines.len(), 1000);
    let report = report_on(&text_of(&all));
    assert_eq!((report.damage, report.end.to_string()), (None, all.sealed.clone()));
    let of_db: Vec<String> = all
        .lines
        .iter()
        .filter(|line| line.contains("src/db.ts"))
        .cloned()
        .collect();
    assert_eq!(of_db.len(), 10);
    let of_file = |file: &str, after: Option<u64>, last: Option<usize>| LedgerFilter {
        after,
        last,
        file: Some(file.to_owned()),
        ..LedgerFilter::default()
    };
    let newest = LedgerFilter {
        last: Some(3),
        ..LedgerFilter::default()
    };
    let of_intent = LedgerFilter {
        intent: Some("none".to_owned()),
        ..LedgerFilter::default()
    };
    for (case, filter, expected) in [
        ("newest", newest, &all.lines[997..]),
        ("of a file", of_file("src/db.ts", None, None), &of_db[..]),
        ("newest of a file", of_file("src/db.ts", None, Some(2)), &of_db[8..]),
        ("rest of a file", of_file("src/db.ts", Some(507), None), &of_db[5..]),
        ("unchanged file", of_file("README.md", None, None), &[]),
        ("of an intent", of_intent, &[]),
    ] {
        assert_eq!(page(&api, filter).await.lines, expected, "{case}");
    }
    assert_eq!(page(&api, of_file("src/db.ts", None, None)).await.next, None);
    let behind = LedgerFilter {
        after: Some(5000),
        ..LedgerFilter::default()
    };
    let behind = page(&api, behind).await;
    assert_eq!((behind.lines.len(), behind.next), (0, None));
}

/// As many lines as a page may have, after one of them.
fn longest_page(after: Option<u64>) -> LedgerFilter {
    LedgerFilter {
        after,
        limit: Some(500),
        ..LedgerFilter::default()
    }
}

#[tokio::test]
async fn a_page_of_long_lines_ends_early() {
    let api = Api::start().await;
    let text = "x".repeat(9000);
    for number in 0..18 {
        let long =
            |index: usize| json!({ "trace_id": format!("t{number}.{index}"), "kind": "call", "output_summary": text });
        let entries: Vec<_> = (0..20).map(long).collect();
        record(&api, "ann", &entries, json!({})).await;
    }
    let first = page(&api, longest_page(None)).await;
    let next = first.next.unwrap();
    assert_eq!(first.lines.len() as u64, next);
    assert!(text_of(&first).len() < 2_200_000);
    let rest = page(&api, longest_page(Some(next))).await;
    assert_eq!(first.lines.len() + rest.lines.len(), 360);
}

// rule: ledger#checkpoint
#[tokio::test]
async fn a_checkpoint_is_of_all_lines_and_signed_with_the_operators_key() {
    let api = Api::start().await;
    record(&api, "ann", &[call("t1"), call("t2")], json!({})).await;
    let text = client(&api).ledger_checkpoint(REPO_URL).await.unwrap();
    let unsigned = SignedCheckpoint::read(&text).unwrap();
    assert!(!unsigned.is_signed());
    let checkpoint = &unsigned.checkpoint;
    assert_eq!(checkpoint.point.to_string(), first_page(&api).await.sealed);
    assert_eq!((checkpoint.repository.as_str(), checkpoint.point.seq), (CHAIN, 2));
    let key = "PRIVATE+KEY+coord.example+3f447896+AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
    let key = SigningKey::parse(key).unwrap();
    let public = key.verifying_key();
    let signing = start_with(IntentConfig {
        ledger_key: Some(key),
        ..IntentConfig::default()
    })
    .await;
    record(&signing, "ann", &[call("t1")], json!({})).await;
    let answer = signing.gets("ann", "ledger/checkpoint", "").await;
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    let text = client(&signing).ledger_checkpoint(REPO_URL).await.unwrap();
    let signed = SignedCheckpoint::read(&text).unwrap();
    assert_eq!(signed.verify(&public).unwrap().point.seq, 1);
}

#[tokio::test]
async fn old_lines_go_and_the_rest_verifies_from_the_base() {
    let api = start_with(IntentConfig {
        ledger_max_lines: 300,
        ..IntentConfig::default()
    })
    .await;
    for number in 0..20 {
        let entries: Vec<_> = (0..32).map(|index| call(&format!("t{number}.{index}"))).collect();
        record(&api, "ann", &entries, json!({})).await;
    }
    let kept = page(&api, longest_page(None)).await;
    let base: Point = kept.base.parse().unwrap();
    assert_eq!((base.seq, kept.lines.len()), (512, 128));
    let expected = Expectations {
        base: Some(base),
        ..Expectations::chain_of(CHAIN)
    };
    let report = verify(text_of(&kept).as_bytes(), &expected).unwrap();
    assert_eq!((report.damage, report.end.to_string()), (None, kept.sealed));
    let activity = api.shows("ann", "activity", "&limit=100").await;
    assert!(activity.to_string().contains("ledger_trimmed"));
}
