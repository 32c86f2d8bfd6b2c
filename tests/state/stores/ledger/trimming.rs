//! Old lines go at a waypoint, once they are sealed; the seal keeps where the rest begins.

use coord_intents::ledger::Verdict;
use coord_intents_server::ledger::read_lines;

use super::{MANY, file_of, python_verdict};
use crate::world::World;

async fn kept_lines(world: &World) -> i64 {
    let ledger = coord_intents_state::ledger::keys::ledger(&world.repo);
    world.number(["XLEN", &ledger]).await
}

// rule: ledger#trimming
async fn lines_beyond_the_limit_are_dropped_up_to_a_waypoint_and_the_rest_verifies(world: World) {
    world.appends(1, 1300).await;
    let seal = world.seals(1000).await;
    // Beyond 1,000 are 300; the next waypoint is the 512th line.
    assert_eq!((seal.base.point.seq, seal.sealed.point.seq), (512, 1300));
    assert_eq!(kept_lines(&world).await, 1300 - 512);
    let report = world.verdict().await;
    assert_eq!((report.damage, report.anchors_met), (None, 2), "base and seal");
    assert_eq!(report.notes[0].verdict, Verdict::Trimmed);
    let lines = world.sealed_lines().await;
    assert_eq!((lines[0].seq, lines.len()), (513, 1300 - 512));
    let anchors = [seal.base.point.to_string(), seal.sealed.point.to_string()];
    if let Some(verdict) = python_verdict(world.repo.as_str(), &file_of(&lines), &anchors) {
        assert_eq!(verdict, seal.sealed.point.to_string());
    }
    let events = world.events().await;
    // In two steps, because the lines were sealed in batches.
    let event = &events.last().unwrap().1;
    assert_eq!(
        *event,
        serde_json::json!({
            "type": "ledger_trimmed", "lines": 256, "base": seal.base.point.to_string(), "time": event["time"],
        })
    );
    // Waypoints before the base go with the lines.
    let fields = world
        .number(["HLEN", &coord_intents_state::ledger::keys::seal(&world.repo)])
        .await;
    assert_eq!(fields, 2 + 1300 / 256 - 2);
    // Within the limit nothing goes.
    assert_eq!(world.seals(1000).await, seal);
    world.appends(1301, 1).await;
    assert_eq!(world.seals(1000).await.base, seal.base);
    assert_eq!(world.events().await.len(), events.len());
}

async fn lines_that_are_not_sealed_never_go(world: World) {
    world.appends(1, 300).await;
    assert_eq!(world.seals(1).await.base.point.seq, 256);
    world.appends(301, 100).await;
    assert_eq!(kept_lines(&world).await, 144);
    assert_eq!(world.seals(1).await.base.point.seq, 256, "there is no later waypoint");
    assert_eq!(world.verdict().await.damage, None);
}

async fn one_sealing_drops_a_bounded_number_of_lines(world: World) {
    world.appends(1, 6000).await;
    assert_eq!(world.seals(MANY).await.base.point.seq, 0);
    world.appends(6001, 1).await;
    assert_eq!(world.seals(256).await.base.point.seq, 4096);
    world.appends(6002, 1).await;
    assert_eq!(world.seals(256).await.base.point.seq, 5888);
    assert_eq!(world.verdict().await.damage, None);
}

async fn a_page_whose_lines_were_dropped_meanwhile_is_none(world: World) {
    world.appends(1, 600).await;
    let before = world.seals(MANY).await;
    world.appends(601, 1).await;
    let after = world.seals(100).await;
    assert_eq!(after.base.point.seq, 512);
    let page = async |seal, from| read_lines(&*world.store, &world.repo, seal, from, 10).await.unwrap();
    assert_eq!(page(&before, 5).await, None);
    assert_eq!(
        page(&before, 520).await.unwrap()[0].seq,
        521,
        "its waypoint is still there"
    );
    assert_eq!(page(&after, 512).await.unwrap()[0].seq, 513);
}

on_every_store!(
    lines_beyond_the_limit_are_dropped_up_to_a_waypoint_and_the_rest_verifies,
    lines_that_are_not_sealed_never_go,
    one_sealing_drops_a_bounded_number_of_lines,
    a_page_whose_lines_were_dropped_meanwhile_is_none,
);
