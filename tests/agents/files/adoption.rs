//! Lines of other programs at the beginning of `agent_trace.jsonl`.

use coord_intents::ledger::Adoption;

use super::{FOREIGN, begin, file, json, read, run_coord, world, write};

const TRACE: &str = "agent_trace.jsonl";

/// How many lines of `ledger` adopt others.
fn adoptions(ledger: &str) -> usize {
    let adopted = ledger.lines().filter_map(|line| Adoption::read(line.as_bytes()));
    adopted.count()
}

// rule: ledger#adoption
#[test]
fn lines_of_other_programs_are_adopted_once_and_stay_byte_for_byte() {
    let world = world();
    begin(&world, "a", "src/**");
    write(&world, TRACE, FOREIGN);
    let would = json(&world, &["sync", "--check", "--json"], 3);
    assert_eq!(would["adopted"], 2, "{would}");
    assert_eq!(read(&world, TRACE), FOREIGN);

    let synced = json(&world, &["sync", "--json"], 0);
    assert_eq!(
        (&synced["adopted"], &synced["problems"]),
        (&2.into(), &serde_json::json!([]))
    );
    let ledger = read(&world, TRACE);
    assert!(ledger.starts_with(FOREIGN), "{ledger}");
    assert_eq!(adoptions(&ledger), 1, "{ledger}");
    let verdict = json(
        &world,
        &["ledger", "verify", ".orchestration/agent_trace.jsonl", "--json"],
        0,
    );
    assert_eq!(
        (&verdict["foreign"]["is_adopted"], &verdict["notes"]),
        (&true.into(), &serde_json::json!([]))
    );

    assert_eq!(json(&world, &["sync", "--json"], 0)["adopted"], 0);
    assert_eq!(read(&world, TRACE), ledger);
    // Another clone has the same lines, and none of the sealed ones.
    write(&world, TRACE, FOREIGN);
    json(&world, &["sync", "--json"], 0);
    assert_eq!(read(&world, TRACE), ledger);
}

// rule: files#trace
#[test]
fn an_edit_of_adopted_lines_is_named_and_nothing_is_appended_to_them() {
    let world = world();
    write(&world, TRACE, FOREIGN);
    run_coord(&world, &["sync"], 0);
    let edited = read(&world, TRACE).replacen("Wrote a", "Wrote b", 1);
    std::fs::write(file(&world, TRACE), &edited).unwrap();
    begin(&world, "a", "src/**");
    let (verdict, _) = run_coord(
        &world,
        &["ledger", "verify", ".orchestration/agent_trace.jsonl", "--offline"],
        3,
    );
    assert!(
        verdict.contains("DAMAGED: EDITED at line 1") && verdict.contains("not those that line 3 adopts"),
        "{verdict}"
    );
    let (synced, _) = run_coord(&world, &["sync"], 3);
    assert!(synced.contains("agent_trace.jsonl: EDITED at line 1"), "{synced}");
    assert_eq!(read(&world, TRACE), edited);
}

#[test]
fn lines_of_another_copy_are_adopted_beside_the_first_ones() {
    let world = world();
    write(&world, TRACE, FOREIGN);
    run_coord(&world, &["sync"], 0);
    let other = "{\"actor\":\"z\"}\n";
    write(&world, TRACE, other);
    let synced = json(&world, &["sync", "--json"], 0);
    assert_eq!(synced["adopted"], 1, "{synced}");
    let ledger = read(&world, TRACE);
    assert!(ledger.starts_with(other), "{ledger}");
    assert_eq!(adoptions(&ledger), 2, "{ledger}");
    run_coord(&world, &["ledger", "verify", ".orchestration/agent_trace.jsonl"], 0);
    // Without a line that adopts them they stand there, and that is said.
    write(&world, TRACE, other);
    let (verdict, _) = run_coord(
        &world,
        &["ledger", "verify", ".orchestration/agent_trace.jsonl", "--offline"],
        0,
    );
    assert!(verdict.contains("UNADOPTED at line 1"), "{verdict}");
}
