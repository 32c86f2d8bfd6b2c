//! The recorded contents of a file: the newest, and up to sixteen before.

use serde_json::json;

use super::{EMPTY, HASH, change};
use crate::world::World;

fn hash(number: usize) -> String {
    format!("sha256:{number:064}")
}

async fn the_newest_content_and_those_before_it_are_kept(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "empty.ts", "gone.ts"]).await;
    let events = [
        change("t1", "empty.ts", EMPTY, None),
        change("t2", "gone.ts", HASH, None),
        change("t3", "gone.ts", "DELETED", None),
    ];
    assert_eq!(ann.records(&events).await, ["SUCCESS"; 3]);
    assert_eq!(
        world.owners("empty.ts").await,
        json!([{ "intent": "", "branch": "main", "hash": EMPTY }])
    );
    let gone = json!([{ "intent": "", "branch": "main", "hash": "DELETED", "earlier": [HASH] }]);
    assert_eq!(world.owners("gone.ts").await, gone);
    for number in 0..20 {
        let event = change(&format!("a{number}"), "a.ts", &hash(number), None);
        ann.records(&[event]).await;
    }
    let earlier: Vec<String> = (3..19).rev().map(hash).collect();
    let expected = json!([{ "intent": "", "branch": "main", "hash": hash(19), "earlier": earlier }]);
    assert_eq!(world.owners("a.ts").await, expected);
    // A content that comes again is not an earlier one, and the same content changes nothing.
    ann.records(&[
        change("b1", "a.ts", &hash(10), None),
        change("b2", "a.ts", &hash(10), None),
    ])
    .await;
    let owners = world.owners("a.ts").await;
    let earlier: Vec<&str> = owners[0]["earlier"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|hash| hash.as_str())
        .collect();
    assert_eq!(
        (owners[0]["hash"].as_str().unwrap(), earlier[0], earlier.len()),
        (&*hash(10), &*hash(19), 16)
    );
    assert!(!earlier.contains(&&*hash(10)));
}

async fn a_row_belongs_to_an_intent_and_its_branches_and_passes_to_the_next(world: World) {
    let ann = world.agent("ann");
    world.has_intent("every", "IN_PROGRESS", None).await;
    world.has_intent("next", "IN_PROGRESS", None).await;
    world.has_intent("of-dev", "IN_PROGRESS", Some("dev")).await;
    ann.writes(&["a.ts"]).await;
    let dev = ann.clone().on_branch("dev");
    dev.writes(&["a.ts"]).await;
    ann.record(Some("every"), false, &[change("t1", "a.ts", &hash(1), None)])
        .await;
    dev.record(Some("of-dev"), false, &[change("t2", "a.ts", &hash(2), None)])
        .await;
    ann.record(Some("every"), false, &[change("t3", "a.ts", &hash(3), None)])
        .await;
    let expected = json!([
        { "intent": "of-dev", "branch": "dev", "hash": hash(2) },
        { "intent": "every", "hash": hash(3), "earlier": [hash(1)] },
    ]);
    assert_eq!(world.owners("a.ts").await, expected);
    // Once it has ended, the next intent goes on with the row; what has no intent has a row of its branch.
    world.has_intent("every", "COMPLETED", None).await;
    ann.record(Some("next"), false, &[change("t4", "a.ts", &hash(4), None)])
        .await;
    ann.record(None, false, &[change("t5", "a.ts", &hash(5), None)]).await;
    let expected = json!([
        { "intent": "of-dev", "branch": "dev", "hash": hash(2) },
        { "intent": "next", "hash": hash(4), "earlier": [hash(3), hash(1)] },
        { "intent": "", "branch": "main", "hash": hash(5) },
    ]);
    assert_eq!(world.owners("a.ts").await, expected);
}

async fn a_file_has_at_most_eight_rows_and_those_of_active_intents_stay(world: World) {
    let ann = world.agent("ann");
    let owners = coord_intents_state::intents::keys::owners(&world.repo);
    world.has_intent("active", "BLOCKED", Some("b0")).await;
    let row = |number: usize| {
        let intent = if number == 0 { "active" } else { "ended" };
        json!({ "intent": intent, "branch": format!("b{number}") })
    };
    let rows: Vec<_> = (0..8).map(row).collect();
    world.command(["HSET", &owners, "a.ts", &json!(rows).to_string()]).await;
    ann.writes(&["a.ts"]).await;
    ann.records(&[change("t1", "a.ts", HASH, None)]).await;
    let rows = world.owners("a.ts").await;
    let branches: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["branch"].as_str())
        .collect();
    assert_eq!(branches, ["b0", "b2", "b3", "b4", "b5", "b6", "b7", "main"]);
}

async fn a_repository_has_at_most_twenty_thousand_files_with_rows(world: World) {
    let ann = world.agent("ann");
    let owners = coord_intents_state::intents::keys::owners(&world.repo);
    world.has_intent("a", "IN_PROGRESS", None).await;
    world.stores_rows(19_999, r#"[{"intent":"a"}]"#).await;
    ann.writes(&["one.ts", "two.ts"]).await;
    let events = |number: u32| {
        [
            change(&format!("a{number}"), "one.ts", HASH, None),
            change(&format!("b{number}"), "two.ts", HASH, None),
        ]
    };
    let before = world.lines().await.len();
    assert_eq!(ann.record(None, false, &events(1)).await.without_room, 2);
    assert_eq!(world.number(["HLEN", &owners]).await, 19_999);
    // The lines are still there.
    assert_eq!(world.lines().await.len(), before + 2);
    // Files that no active intent owns make room.
    world.has_intent("a", "ABANDONED", None).await;
    assert_eq!(ann.record(None, false, &events(2)).await.without_room, 0);
    let rows = world.number(["HLEN", &owners]).await;
    assert!((17_000..19_000).contains(&rows), "{rows}");
}

on_every_store!(
    the_newest_content_and_those_before_it_are_kept,
    a_row_belongs_to_an_intent_and_its_branches_and_passes_to_the_next,
    a_file_has_at_most_eight_rows_and_those_of_active_intents_stay,
    a_repository_has_at_most_twenty_thousand_files_with_rows,
);
