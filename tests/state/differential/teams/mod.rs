//! Random programs of the scripts of teams on every kind of connection: every answer compared, and the whole state at the end.

mod acts;
mod outcome;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use coord::domain::RepoId;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use self::acts::{beginning, step};
use self::outcome::outcome;
use super::normal::{state, without_times};
use crate::world::World;

#[test]
fn random_programs_of_teams_end_alike_on_every_connection() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let (Some(redis), Some(upstash)) = (World::on_redis(), runtime.block_on(World::on_upstash())) else {
        return;
    };
    let worlds = RefCell::new([World::on_embedded(), redis, upstash]);
    let programs = prop::collection::vec(step(), 1..70);
    let config = Config {
        cases: 24,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    let tried = Cell::new(0);
    let result = TestRunner::new(config).run(&programs, |program| {
        let mut worlds = worlds.borrow_mut();
        tried.set(tried.get() + 1);
        for world in worlds.iter_mut() {
            world.repo = RepoId::parse(&format!("https://example.com/tests/team{}", tried.get())).unwrap();
        }
        runtime.block_on(async {
            for world in worlds.iter() {
                world.mate("ann/one", "Alpha").creates("ann").await.unwrap();
            }
            for (who, act) in beginning().iter().chain(&program) {
                let mut outcomes = Vec::new();
                for world in worlds.iter() {
                    outcomes.push(without_times(&outcome(&world.mate(who, "alpha"), act).await));
                }
                prop_assert_eq!(&outcomes[0], &outcomes[1], "embedded, redis: {} {:?}", who, act);
                prop_assert_eq!(&outcomes[0], &outcomes[2], "embedded, REST: {} {:?}", who, act);
            }
            let embedded = state(&worlds[0]).await;
            for (other, name) in [(&worlds[1], "redis"), (&worlds[2], "REST")] {
                let state = state(other).await;
                prop_assert_eq!(embedded.len(), state.len(), "keys: embedded, {}", name);
                for (one, other) in embedded.iter().zip(&state) {
                    prop_assert_eq!(one, other, "embedded, {}", name);
                }
            }
            Ok(())
        })
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    // Each event was as its type has it; and the programs were about something.
    let mut outcomes = Vec::new();
    for world in worlds.into_inner() {
        outcomes.push(runtime.block_on(world.run(async |_| ())));
    }
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0], outcomes[2]);
    let met: BTreeSet<&str> = outcomes[0].iter().map(|(_, outcome)| outcome.as_str()).collect();
    for wanted in [
        "CLAIMED",
        "COMPLETED",
        "CREATED",
        "READ",
        "RELEASED",
        "SENT",
        "UPDATED",
        "REFUSED CIRCULAR",
        "REFUSED TASK_TAKEN",
    ] {
        assert!(met.contains(wanted), "no {wanted} in {met:?}");
    }
}
