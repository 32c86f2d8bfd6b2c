//! An expired lock is free at that instant, by the store's clock, and announced once, by whichever script meets it first.

use std::time::Duration;

use coord_domain::LockEntry;
use coord_domain::LockMode::{Reading, Writing};
use coord_sources::Reachable;
use coord_state as state;
use coord_state::locks::{ClaimOutcome, ReleaseOutcome};
use coord_state::sweep::sweep;

use crate::stores::neighbors::store_graph;
use crate::world::worker::holders;
use crate::world::{NEXT, World};

impl World {
    /// The store's clock, Unix milliseconds.
    async fn now_ms(&self) -> i64 {
        let time = self.command(["TIME"]).await;
        let part = |index: usize| time.as_array().unwrap()[index].as_int().unwrap();
        part(0) * 1000 + part(1) / 1000
    }

    /// Stores the only entry under `path` with another end.
    async fn ends(&self, path: &str, expiry: i64, expiry_ms: Option<i64>) {
        let mut entry = self.stored(path).await.remove(0);
        (entry.expiry, entry.expiry_ms) = (expiry, expiry_ms);
        let json = serde_json::to_string(&[entry]).unwrap();
        self.command(["HSET", &state::locks::keys::locks(&self.repo), path, &json])
            .await;
    }
}

// rule: locks#ttl
async fn a_lock_lives_as_long_as_it_was_claimed_for_and_is_free_after_it_with_no_sweep(world: World) {
    let ann = world.agent("ann");
    let before = world.now_ms().await;
    let lock = ann.clone().for_seconds(1).writes(&["a.ts"]).await.own.remove(0);
    let after = world.now_ms().await;
    let end = lock.expiry_ms.unwrap();
    assert!(
        (before + 1000..=after + 1000).contains(&end),
        "{before} {lock:?} {after}"
    );
    assert_eq!((lock.expiry, lock.free_from()), (end / 1000, (end + 999) / 1000));
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        let requested_at = world.now_ms().await;
        let outcome = world.agent("bob").claim(Writing, &["a.ts"]).await;
        match outcome {
            // Never before its time, by the store's own clock, and never later.
            ClaimOutcome::Claimed(_) => break assert!(world.now_ms().await > end),
            ClaimOutcome::Conflict(survey) => assert!(requested_at <= end, "{requested_at} {survey:?}"),
            other => panic!("{other:?}"),
        }
        assert!(std::time::Instant::now() < deadline, "it never expires");
        // time: between two claims around the end of a lock.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let events = world.events_since(1).await;
    let (refusals, last) = events.split_at(events.len() - 2);
    assert_eq!(last, ["lock_expired ann a.ts", "lock_granted bob a.ts"]);
    assert!(
        refusals.iter().all(|event| event == "lock_refused bob a.ts"),
        "{events:?}"
    );
    assert_eq!(world.stored("a.ts").await[0].user_id, "bob");
}

async fn a_lock_ends_by_the_millisecond_and_one_from_before_by_the_second(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts"]).await;
    let now = world.now_ms().await;
    world.ends("a.ts", now / 1000 + 1, Some(now - 1)).await;
    bob.writes(&["a.ts"]).await;
    world.ends("a.ts", now / 1000 + 1, Some(now + 60_000)).await;
    ann.is_refused(Reading, &["a.ts"]).await;
    // As it was written before there were milliseconds.
    world.ends("a.ts", now / 1000 + 60, None).await;
    ann.is_refused(Reading, &["a.ts"]).await;
    let renewed = bob.clone().for_seconds(5).writes(&["a.ts"]).await;
    assert!(renewed.own[0].expiry_ms.is_some());
    world.ends("a.ts", now / 1000 - 1, None).await;
    ann.writes(&["a.ts"]).await;
    world.assert_index_is_exact().await;
}

async fn every_script_that_meets_an_expired_lock_announces_it_and_no_second_one_does(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    store_graph(&world, &[("neighbor.ts", &["a.ts"])]).await;
    for script in [
        "check",
        "check of a neighbor",
        "claim",
        "refused claim",
        "release",
        "refused release",
        "sweep",
    ] {
        let message = format!("Met by {script}");
        ann.clone().with_message(&message).writes(&["a.ts"]).await;
        bob.writes(&["kept.ts"]).await;
        world.expire_locks(&["a.ts"]).await;
        let before = world.events().await.len();
        match script {
            "check" => assert_eq!(bob.finds(Writing, &["a.ts"]).await, [""; 0]),
            "check of a neighbor" => assert_eq!(bob.finds(Writing, &["neighbor.ts"]).await, [""; 0]),
            "claim" => {
                bob.reads(&["a.ts"]).await;
                bob.abandons(&["a.ts"]).await;
            }
            "refused claim" => {
                let cid = world.agent("cid");
                cid.is_refused(Reading, &["a.ts", "kept.ts"]).await;
                cid.abandons(&["a.ts"]).await;
            }
            "release" => drop(ann.abandons(&["a.ts"]).await),
            "refused release" => {
                let outcome = bob.release(None, Reachable::Unknown, &["a.ts", "kept.ts"]).await;
                assert!(matches!(outcome, ReleaseOutcome::NoNewHead { .. }), "{outcome:?}");
            }
            _ => assert_eq!(sweep(&*world.store, &world.repo, 500).await.unwrap().expired, 1),
        }
        assert_eq!(world.events_since(before).await[0], "lock_expired ann a.ts", "{script}");
        let event = &world.events().await[before].1;
        assert_eq!(event["message"], message, "that of the claim, not of the request");
        let expiry_count = async || {
            let events = world.events_since(before).await;
            events.iter().filter(|event| event.starts_with("lock_expired")).count()
        };
        assert_eq!(expiry_count().await, 1, "{script}");
        assert_eq!(world.stored("a.ts").await, [], "{script}");
        sweep(&*world.store, &world.repo, 500).await.unwrap();
        bob.checks(Writing, &["a.ts"]).await;
        assert_eq!(expiry_count().await, 1, "{script}");
        world.assert_index_is_exact().await;
    }
}

async fn among_readers_only_the_expired_one_goes(world: World) {
    world.agent("ann").reads(&["a.ts"]).await;
    world.agent("bob").reads(&["a.ts"]).await;
    world.agent("cid").on_branch("other").writes(&["a.ts"]).await;
    world.expire_locks_of("ann", &["a.ts"]).await;
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    let left = world.stored("a.ts").await;
    assert_eq!(swept.expired, 1);
    assert_eq!(holders(&left), ["bob", "cid"]);
    assert_eq!(swept.next_expiry, left.iter().map(LockEntry::free_from).min());
    assert_eq!(world.events_since(3).await, ["lock_expired ann a.ts"]);
    world.assert_index_is_exact().await;
}

async fn a_claim_expires_as_one_event_and_two_claims_as_two(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.with_message("Something else entirely").writes(&["c.ts"]).await;
    world.agent("bob").reads(&["d.ts"]).await;
    world.expire_locks(&["a.ts", "b.ts", "c.ts", "d.ts"]).await;
    sweep(&*world.store, &world.repo, 500).await.unwrap();
    let mut files: Vec<Vec<String>> = world.events().await[3..]
        .iter()
        .map(|(_, event)| {
            assert_eq!(event["type"], "lock_expired");
            let mut files: Vec<String> = serde_json::from_value(event["files"].clone()).unwrap();
            files.sort();
            files
        })
        .collect();
    files.sort();
    assert_eq!(files, [vec!["a.ts", "b.ts"], vec!["c.ts"], vec!["d.ts"]]);
}

async fn an_expired_lock_of_ones_own_is_no_longer_ones_own(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    assert_eq!(ann.checks(Writing, &["a.ts"]).await.own, []);
    ann.clone().at(NEXT).while_branch_is_at(NEXT).writes(&["a.ts"]).await;
    assert_eq!(world.stored("a.ts").await[0].agent_head, NEXT, "a grant, measured anew");
    assert_eq!(
        world.events_since(1).await,
        ["lock_expired ann a.ts", "lock_granted ann a.ts"]
    );
    let expiries = state::locks::keys::expiries(&world.repo);
    assert_eq!(world.number(["ZCARD", &expiries]).await, 1);
}

on_every_store!(
    a_lock_lives_as_long_as_it_was_claimed_for_and_is_free_after_it_with_no_sweep,
    a_lock_ends_by_the_millisecond_and_one_from_before_by_the_second,
    every_script_that_meets_an_expired_lock_announces_it_and_no_second_one_does,
    among_readers_only_the_expired_one_goes,
    a_claim_expires_as_one_event_and_two_claims_as_two,
    an_expired_lock_of_ones_own_is_no_longer_ones_own,
);
