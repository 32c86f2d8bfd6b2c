//! Each act of a holder is recorded once, with the outcome that the store knows.

use coord_domain::LockMode;
use coord_intents::ledger::{ActionType, ResultStatus};
use coord_intents_state::intents::Session;
use coord_intents_state::ledger::{Record, RecordedEvent, RecordedKind, keys};
use coord_settings::{Rate, Rates};
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, SizeLimit};
use serde_json::json;

use super::{EMPTY, HASH, change, event, in_short};
use crate::world::{World, denial_of};

pub(super) fn call(trace_id: &str) -> RecordedEvent {
    let status = ResultStatus::Success;
    event(trace_id, RecordedKind::Other(status), ActionType::ToolExecution, status)
}

fn transition(trace_id: &str, kind: RecordedKind) -> RecordedEvent {
    event(trace_id, kind, ActionType::StateTransition, ResultStatus::Success)
}

fn prompt(trace_id: &str) -> RecordedEvent {
    transition(trace_id, RecordedKind::Prompt)
}

pub fn end(trace_id: &str) -> RecordedEvent {
    transition(trace_id, RecordedKind::End)
}

// rule: ledger#outcome
async fn a_change_is_a_success_only_under_the_callers_live_lock_for_writing(world: World) {
    let (ann, bob) = (world.agent("ann/one"), world.agent("bob"));
    ann.writes(&["a.ts", "old.ts"]).await;
    ann.reads(&["r.ts"]).await;
    bob.writes(&["b.ts"]).await;
    ann.clone().on_branch("other").writes(&["o.ts"]).await;
    world.agent("ann/two").writes(&["two.ts"]).await;
    world.expire_locks(&["old.ts"]).await;
    let token = world.stored("a.ts").await[0].token;
    let events = [
        change("t1", "a.ts", HASH, None),
        change("t2", "a.ts", HASH, Some(token)),
        change("t3", "a.ts", HASH, Some(token - 1)),
        change("t4", "b.ts", HASH, None),
        change("t5", "r.ts", HASH, None),
        change("t6", "old.ts", HASH, None),
        change("t7", "o.ts", HASH, None),
        change("t8", "two.ts", HASH, None),
        change("t9", "free.ts", HASH, None),
    ];
    let expected = [&["SUCCESS"; 2][..], &["FAILURE"; 7]].concat();
    assert_eq!(ann.records(&events).await, expected);
    let lines = world.lines().await;
    let statuses: Vec<&str> = lines.iter().map(|line| line.result.status.as_str()).collect();
    assert_eq!(statuses, expected);
    assert_eq!(lines[2].result.output_summary, "other token");
    assert_eq!((&*lines[0].agent_id, &lines[0].intent_id), ("ann/one", &None));
    assert_eq!(lines[0].trace_id.as_str(), "t1");
    for path in ["b.ts", "r.ts", "old.ts", "o.ts", "two.ts", "free.ts"] {
        assert_eq!(world.owners(path).await, json!(null), "{path}");
    }
    // The lock that had expired is announced, as by every script that meets one.
    let events = world.events_since(0).await;
    assert!(events.contains(&"lock_expired ann old.ts".to_owned()));
    world.assert_held_is_exact().await;
    // A change that the caller reports as failed has no content.
    let mut failed = change("t10", "a.ts", EMPTY, None);
    if let RecordedKind::Mutation(mutation) = &mut failed.kind {
        mutation.has_failed = true;
    }
    assert_eq!(ann.records(&[failed]).await, ["FAILURE"]);
    assert_eq!(world.owners("a.ts").await[0]["hash"], HASH);
}

async fn an_event_that_is_sent_twice_is_recorded_once_and_only_for_its_holder(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts"]).await;
    let events = [change("t1", "a.ts", HASH, None), call("t2"), call("t2")];
    assert_eq!(ann.records(&events).await, ["SUCCESS", "SUCCESS", "REPEATED"]);
    assert_eq!(ann.records(&events).await, ["REPEATED"; 3]);
    assert!(!ann.record(None, false, &events).await.has_lines);
    // A trace id of another holder does not suppress one's own, and another agent is another holder.
    assert_eq!(bob.records(&[call("t2")]).await, ["SUCCESS"]);
    assert_eq!(world.agent("ann/t2").records(&[call("t2")]).await, ["SUCCESS"]);
    assert_eq!(world.lines().await.len(), 4);
    // After a day it is forgotten.
    let traces = keys::traces(&world.repo);
    assert!((1..=86400).contains(&world.number(["TTL", &traces]).await));
    world.command(["ZADD", &traces, "1000000000", "bob  t2"]).await;
    assert_eq!(bob.records(&[call("t2")]).await, ["SUCCESS"]);
    // Trace ids older than a day are dropped with the next events.
    world.command(["ZADD", &traces, "1000000000", "bob  old"]).await;
    bob.records(&[call("t3")]).await;
    assert!(world.command(["ZSCORE", &traces, "bob  old"]).await.as_str().is_none());
}

async fn the_traces_of_a_repository_are_bounded(world: World) {
    let traces = keys::traces(&world.repo);
    let now = world.now().await.to_string();
    let fill = "for number = 1, 6700 do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2] .. number) end";
    for prefix in ["bob  a", "bob  b", "bob  c"] {
        world.script(fill, &[&traces], &[&now, prefix]).await;
    }
    let before = world.number(["ZCARD", &traces]).await;
    world.agent("ann").records(&[call("t")]).await;
    assert_eq!(world.number(["ZCARD", &traces]).await, before + 1 - 64);
}

// rule: ledger#outcome
async fn the_intent_of_a_line_is_that_of_the_lock_then_the_cited_then_the_selected(world: World) {
    let ann = world.agent("ann");
    for id in ["locked", "cited", "selected"] {
        world.has_intent(id, "IN_PROGRESS", None).await;
    }
    ann.writes(&["a.ts", "b.ts"]).await;
    let locks = state::locks::keys::locks(&world.repo);
    let mut entries = json!(world.stored("a.ts").await);
    entries[0]["intent_id"] = "locked".into();
    world.command(["HSET", &locks, "a.ts", &entries.to_string()]).await;
    let session = json!({ "state": "ACTION", "intent": "selected", "version": 1 });
    world.set_session(&ann.holder, &session.to_string()).await;
    let events = |number: u32| {
        [
            change(&format!("a{number}"), "a.ts", HASH, None),
            change(&format!("b{number}"), "b.ts", HASH, None),
            call(&format!("c{number}")),
        ]
    };
    ann.record(None, false, &events(1)).await;
    ann.record(Some("cited"), false, &events(2)).await;
    let unknown = ann.record(Some("unknown"), false, &events(3)).await;
    assert!(unknown.is_unknown_intent);
    let lines = world.lines().await.into_iter();
    let intents: Vec<String> = lines.map(|line| line.intent_id.unwrap_or_default()).collect();
    let expected = [
        ["locked", "selected", "selected"],
        ["locked", "cited", "cited"],
        ["locked", "selected", "selected"],
    ];
    assert_eq!(intents, expected.concat());
    // Their holder counts as active; turns and tokens are not changed by that.
    let usage = coord_intents_state::intents::keys::intent_use(&world.repo);
    let assert_used = async |id: &str, expected: &str| {
        let used = world.command(["HGET", &usage, id]).await;
        assert!(used.as_str().unwrap().starts_with(expected), "{id}: {used:?}");
    };
    for id in ["locked", "cited", "selected"] {
        assert_used(id, "0 0 17").await;
    }
    world.command(["HSET", &usage, "cited", "3 70 5"]).await;
    ann.record(Some("cited"), false, &[call("d")]).await;
    assert_used("cited", "3 70 17").await;
}

async fn a_prompt_leads_to_reasoning_and_the_end_of_a_session_to_request(world: World) {
    let ann = world.agent("ann");
    world.has_intent("one", "IN_PROGRESS", None).await;
    let events = [prompt("t1"), prompt("t2"), call("t3")];
    assert_eq!(ann.records(&events).await, ["SUCCESS"; 3]);
    assert_eq!(world.session(&ann.holder).await, json!({ "state": "REASONING" }));
    let selected = json!({ "state": "ACTION", "intent": "one", "version": 1, "call": "x", "repeats": 2 });
    world.set_session(&ann.holder, &selected.to_string()).await;
    // A selection outlives prompts, unless each has to select anew.
    ann.record(None, false, &[prompt("t4")]).await;
    assert_eq!(world.session(&ann.holder).await, selected);
    ann.record(None, true, &[prompt("t5")]).await;
    let reset = json!({ "state": "REASONING", "last": "one", "call": "x", "repeats": 2 });
    assert_eq!(world.session(&ann.holder).await, reset);
    world.set_session(&ann.holder, &selected.to_string()).await;
    ann.record(None, false, &[end("t6"), end("t7"), call("t8")]).await;
    let ended = world.session(&ann.holder).await;
    assert_eq!(
        (&ended["state"], &ended["last"], &ended["intent"]),
        (&json!("REQUEST"), &json!("one"), &json!(null))
    );
    let key = coord_intents_state::intents::keys::sessions(&world.repo, &ann.holder);
    assert!((86_000..=86_400).contains(&world.number(["TTL", &key]).await));
    assert_eq!(
        world.lines_in_short().await,
        [
            "REQUEST STATE_TRANSITION SUCCESS - ",
            "REASONING TOOL_EXECUTION SUCCESS - ",
            "ACTION STATE_TRANSITION SUCCESS one ",
            "ACTION STATE_TRANSITION SUCCESS one ",
            "REQUEST TOOL_EXECUTION SUCCESS - ",
        ]
    );
    let lines = world.lines().await.into_iter();
    let reasons: Vec<String> = lines.filter_map(|line| line.payload.reasoning).collect();
    assert_eq!(
        reasons,
        [
            "REQUEST -> REASONING: a prompt",
            "ACTION -> REASONING: a prompt",
            "ACTION -> REQUEST: the session of the agent has ended"
        ]
    );
    // Each agent has a separate handshake.
    assert_eq!(world.session(&world.agent("ann/two").holder).await, json!(null));
}

async fn of_a_person_the_handshakes_of_256_agents_are_kept(world: World) {
    let key = coord_intents_state::intents::keys::sessions(&world.repo, &world.agent("ann").holder);
    let now = world.now().await * 1000;
    for number in 0..256 {
        let agent = world.agent(&format!("ann/{number}"));
        // The agent 7 was silent for longest.
        let time = now - if number == 7 { 5000 } else { 1000 };
        let session = r#"{"state":"REASONING"}"#;
        world.set_session_at(&agent.holder, time, session).await;
    }
    world.agent("bob/one").records(&[prompt("t")]).await;
    assert_eq!(world.number(["HLEN", &key]).await, 256, "each person has its own");
    for number in 256..260 {
        world.agent(&format!("ann/{number}")).records(&[prompt("t")]).await;
    }
    assert_eq!(world.number(["HLEN", &key]).await, 256);
    assert_eq!(world.session(&world.agent("ann/7").holder).await, json!(null));
    let newest = world.agent("ann/259");
    assert_eq!(world.session(&newest.holder).await, json!({ "state": "REASONING" }));
}

async fn a_handshake_is_forgotten_after_a_day_of_silence(world: World) {
    let (ann, other) = (world.agent("ann"), world.agent("ann/two"));
    let old = world.now().await * 1000 - 86_400_000;
    let selected = r#"{"state":"ACTION","intent":"one","version":1}"#;
    world.set_session_at(&ann.holder, old, selected).await;
    world.set_session_at(&other.holder, old + 10_000, selected).await;
    assert_eq!(ann.registry().await.session, Session::default());
    assert_eq!(other.registry().await.session.intent.as_deref(), Some("one"));
    ann.records(&[prompt("t1")]).await;
    assert_eq!(world.session(&ann.holder).await, json!({ "state": "REASONING" }));
}

async fn sent_entries_are_recorded_with_the_sent_status(world: World) {
    let ann = world.agent("ann");
    let events = [
        ("t0", ActionType::ToolExecution, ResultStatus::Denied),
        ("t1", ActionType::ContextLoad, ResultStatus::Success),
        ("t2", ActionType::ToolExecution, ResultStatus::Failure),
    ]
    .map(|(id, action, status)| event(id, RecordedKind::Other(status), action, status));
    assert_eq!(ann.records(&events).await, ["DENIED", "SUCCESS", "FAILURE"]);
    assert_eq!(
        world.lines_in_short().await,
        [
            "REQUEST TOOL_EXECUTION DENIED - ",
            "REQUEST CONTEXT_LOAD SUCCESS - ",
            "REQUEST TOOL_EXECUTION FAILURE - "
        ]
    );
    let empty = ann.record(None, false, &[]).await;
    assert!(!empty.has_lines && empty.outcomes.is_empty());
}

async fn a_denied_caller_records_nothing(world: World) {
    let ann = world.agent("ann");
    let rate = Rate {
        interval_ms: 3_600_000,
        burst: 1,
    };
    let terms = AdmissionTerms {
        rates: Rates {
            holder: rate,
            ..Rates::NONE
        },
        ..AdmissionTerms::of(&world.repo, &world.branch, &ann.holder, Some(&ann.head), &[])
    };
    let events = [prompt("t1"), call("t2")];
    let request = Record {
        intent: None,
        is_reset_by_prompts: false,
        events: &events,
    };
    let run = async || {
        coord_intents_state::ledger::record(&*world.store, &terms, &request)
            .await
            .unwrap()
    };
    assert!(matches!(run().await, Admitted::Outcome(_)));
    assert!(matches!(denial_of(run().await), Denial::Limited { .. }));
    assert_eq!(world.lines().await.len(), 2);
    // A claim does not take from what can be recorded, nor the other way round.
    let other = world.agent("bob");
    other.checks(LockMode::Writing, &["a.ts"]).await;
}

async fn files_with_too_many_locks_are_too_much_and_nothing_is_recorded(world: World) {
    let ann = world.agent("ann");
    let locks = state::locks::keys::locks(&world.repo);
    let entry = |number: usize| {
        json!({
            "key": "k", "file_path": "a.ts", "branch": format!("b{number}"), "user_id": "bob", "user_name": "bob",
            "status": "READING", "agent_head": "a", "message": "m", "timestamp": 1, "expiry": 9_000_000_000_u64, "token": 1,
        })
    };
    let entries: Vec<_> = (0..4_097).map(entry).collect();
    let entries = json!(entries).to_string();
    world.command(["HSET", &locks, "a.ts", &entries]).await;
    let events = [call("t0"), change("t1", "a.ts", HASH, None)];
    let denied = ann.try_record(None, false, &events).await;
    assert_eq!(denial_of(denied), Denial::TooMuch(SizeLimit::Locks));
    assert!(world.lines().await.is_empty());
}

/// Of two at once, one records, and the other finds that it is there.
async fn the_same_event_from_two_processes_is_one_line(world: World) {
    let ann = world.agent("ann");
    let events: Vec<_> = (0..32).map(|number| call(&format!("t{number}"))).collect();
    let both = futures::future::join_all((0..8).map(|_| ann.record(None, false, &events))).await;
    let recorded = both.iter().flat_map(in_short).filter(|word| *word == "SUCCESS").count();
    assert_eq!((recorded, world.lines().await.len()), (32, 32));
}

on_every_store!(
    a_change_is_a_success_only_under_the_callers_live_lock_for_writing,
    an_event_that_is_sent_twice_is_recorded_once_and_only_for_its_holder,
    the_traces_of_a_repository_are_bounded,
    the_intent_of_a_line_is_that_of_the_lock_then_the_cited_then_the_selected,
    a_prompt_leads_to_reasoning_and_the_end_of_a_session_to_request,
    of_a_person_the_handshakes_of_256_agents_are_kept,
    a_handshake_is_forgotten_after_a_day_of_silence,
    sent_entries_are_recorded_with_the_sent_status,
    a_denied_caller_records_nothing,
    files_with_too_many_locks_are_too_much_and_nothing_is_recorded,
    the_same_event_from_two_processes_is_one_line,
);
