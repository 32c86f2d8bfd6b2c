//! The seal moves only from where it was read: whoever seals, there is one chain.

use coord_intents::ledger::{Point, Sealer, Verdict};
use coord_intents_server::ledger::{read_lines, seal_lines};
use coord_intents_state::ledger::{ChainPosition, SealMove, has_unsealed_lines, move_seal};
use coord_server::sweep::sweep_due;

use super::{MANY, file_of, python_verdict};
use crate::world::World;

async fn lines_are_sealed_in_the_order_in_which_they_were_appended(world: World) {
    assert_eq!(world.seals(MANY).await.sealed, ChainPosition::start(&world.repo));
    world.appends(1, 600).await;
    let seal = world.seals(MANY).await;
    assert_eq!(seal.sealed.point.seq, 600);
    let lines = world.sealed_lines().await;
    let mut sealer = Sealer::after(Point::start(world.repo.as_str()));
    let mut expected = Vec::new();
    for number in 1..=600 {
        sealer.append(&mut expected, &format!("{{\"line\":{number}}}")).unwrap();
    }
    assert_eq!(file_of(&lines).as_bytes(), expected);
    assert_eq!(seal.sealed.point, sealer.point());
    let report = world.verdict().await;
    assert_eq!((report.damage, report.anchors_met), (None, 1));
    // Later entries are sealed on top of it.
    world.appends(601, 1).await;
    assert_eq!(world.seals(MANY).await.sealed.point.seq, 601);
    assert_eq!(world.verdict().await.damage, None);
    if let Some(verdict) = python_verdict(world.repo.as_str(), &file_of(&world.sealed_lines().await), &[]) {
        assert_eq!(verdict, world.seal().await.sealed.point.to_string());
    }
}

async fn a_seal_that_was_moved_concurrently_is_not_moved(world: World) {
    world.appends(1, 3).await;
    let before = world.seal().await;
    let after = world.seals(MANY).await;
    let forged = ChainPosition {
        point: Point::start("github.com/somebody/else"),
        ..after.sealed
    };
    for (from, expected) in [(&before, SealMove::Moved), (&after, SealMove::Sealed)] {
        let moved = move_seal(&*world.store, &world.repo, from, forged, &[], MANY).await;
        assert_eq!(moved.unwrap(), expected);
    }
}

async fn sealers_that_race_make_one_chain(world: World) {
    for round in 0..4 {
        world.appends(round * 300 + 1, 300).await;
        let sealers = (0..6).map(|_| world.seals(MANY));
        let appending = world.appends(1_000_000 + round, 1);
        futures::future::join(futures::future::join_all(sealers), appending).await;
    }
    let seal = world.seals(MANY).await;
    assert_eq!(seal.sealed.point.seq, 4 * 301);
    let report = world.verdict().await;
    assert_eq!((report.damage, report.lines), (None, 4 * 301));
}

/// A sealer that ends between any two of its calls leaves a seal from which the next goes on.
async fn lines_that_a_sealer_leaves_are_sealed_by_the_next(world: World) {
    world.appends(1, 10).await;
    let dropped = seal_lines(&*world.store, &world.repo, MANY);
    // It is dropped at its first wait.
    let _ = futures::poll!(Box::pin(dropped));
    world.appends(11, 10).await;
    assert_eq!(world.seals(MANY).await.sealed.point.seq, 20);
    assert_eq!(world.verdict().await.damage, None);
}

// A count of none is answered with no list by the store, once there is a line.
async fn no_lines_are_read_where_lines_follow_that_are_not_sealed(world: World) {
    let seal = world.seal().await;
    world.appends(1, 1).await;
    let read = read_lines(&*world.store, &world.repo, &seal, 0, 0).await.unwrap();
    assert_eq!(read, Some(Vec::new()));
}

async fn a_sweep_seals_what_was_left(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    world.appends(1, 5).await;
    world.expire_locks(&["a.ts"]).await;
    world.let_time_pass().await;
    sweep_due(&*world.store, &coord_extensions::registered()).await.unwrap();
    assert_eq!(world.seal().await.sealed.point.seq, 5);
    let unsealed = has_unsealed_lines(&world.repo);
    assert!(!unsealed.run(&*world.store).await.unwrap());
}

/// An attacker who can write to the store: the waypoints or the seal reveal each change.
async fn lines_that_are_changed_in_the_store_are_found(world: World) {
    world.appends(1, 700).await;
    world.seals(MANY).await;
    let ledger = coord_intents_state::ledger::keys::ledger(&world.repo);
    let id_of = async |index: usize| {
        let lines = coord_intents_state::ledger::newest_lines(&world.repo, MANY);
        let mut lines = lines.run(&*world.store).await.unwrap();
        lines.reverse();
        lines[index].id.to_string()
    };
    assert_eq!(world.verdict().await.damage, None);
    let seal = coord_intents_state::ledger::keys::seal(&world.repo);

    // A seal of other lines: the chain does not come to it.
    let stored = world.command(["HGET", &seal, "sealed"]).await;
    let stored = stored.as_str().unwrap().to_owned();
    let forged = format!("700:{} {}", Point::start("other").hash, id_of(699).await);
    world.command(["HSET", &seal, "sealed", &forged]).await;
    assert_eq!(world.verdict().await.damage.unwrap().verdict, Verdict::Forked);
    world.command(["HSET", &seal, "sealed", &stored]).await;
    // A waypoint of other lines.
    let waypoint = world.command(["HGET", &seal, "256"]).await;
    let waypoint = waypoint.as_str().unwrap().to_owned();
    let forged = format!("256:{} {}", Point::start("other").hash, id_of(255).await);
    world.command(["HSET", &seal, "256", &forged]).await;
    let damage = world.verdict().await.damage.unwrap();
    assert_eq!((damage.verdict, damage.seq), (Verdict::Edited, Some(256)));
    world.command(["HSET", &seal, "256", &waypoint]).await;
    assert_eq!(world.verdict().await.damage, None);
    // Lines that are gone from the end, and from the beginning.
    world.command(["XTRIM", &ledger, "MINID", &id_of(10).await]).await;
    let damage = world.verdict().await.damage.unwrap();
    assert_eq!(damage.verdict, Verdict::Missing, "{damage}");
    world.command(["DEL", &ledger]).await;
    let damage = world.verdict().await.damage.unwrap();
    assert_eq!(damage.verdict, Verdict::Truncated, "{damage}");
    // The whole ledger is written anew, and sealed: whoever has an anchor finds it.
    world.command(["DEL", &seal]).await;
    world.appends(1, 700).await;
    world.appends(1, 1).await;
    let again = world.seals(MANY).await;
    assert_eq!(world.verdict().await.damage, None);
    assert_ne!(again.sealed.to_string(), stored);
}

async fn text_that_no_script_appended_is_no_line(world: World) {
    let ledger = coord_intents_state::ledger::keys::ledger(&world.repo);
    world.appends(1, 2).await;
    world.command(["XADD", &ledger, "*", "other", "{\"a\":1}"]).await;
    world.command(["XADD", &ledger, "*", "line", "no object"]).await;
    world.command(["XADD", &ledger, "*", "line", "{\"a\":\n1}"]).await;
    world.appends(3, 1).await;
    world.command(["XADD", &ledger, "*", "line", "[]"]).await;
    let seal = world.seals(MANY).await;
    assert_eq!(seal.sealed.point.seq, 3);
    assert_eq!(world.verdict().await.damage, None);
    let unsealed = has_unsealed_lines(&world.repo);
    assert!(!unsealed.run(&*world.store).await.unwrap());
}

on_every_store!(
    lines_are_sealed_in_the_order_in_which_they_were_appended,
    a_seal_that_was_moved_concurrently_is_not_moved,
    sealers_that_race_make_one_chain,
    lines_that_a_sealer_leaves_are_sealed_by_the_next,
    no_lines_are_read_where_lines_follow_that_are_not_sealed,
    a_sweep_seals_what_was_left,
    lines_that_are_changed_in_the_store_are_found,
    text_that_no_script_appended_is_no_line,
);
