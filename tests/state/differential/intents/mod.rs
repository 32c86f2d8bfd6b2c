//! Random programs of the scripts of intents, claims and the ledger, on every kind of connection: every answer compared, and the
//! whole state at the end.

mod acts;
mod outcome;

use std::cell::{Cell, RefCell};

use coord::domain::RepoId;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use self::acts::{PERSON, beginning, step};

use self::outcome::outcome;
use super::normal::{state, without_times};
use crate::world::World;

#[test]
fn random_programs_of_intents_claims_and_the_ledger_end_alike_on_every_connection() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let (Some(redis), Some(upstash)) = (World::on_redis(), runtime.block_on(World::on_upstash())) else {
        return;
    };
    let worlds = RefCell::new([World::on_embedded(), redis, upstash]);
    let programs = prop::collection::vec(step(), 1..60);
    let config = Config {
        cases: 12,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    let tried = Cell::new(0);
    let result = TestRunner::new(config).run(&programs, |program| {
        let mut worlds = worlds.borrow_mut();
        tried.set(tried.get() + 1);
        for world in worlds.iter_mut() {
            world.repo = RepoId::parse(&format!("https://example.com/tests/program{}", tried.get())).unwrap();
        }
        runtime.block_on(async {
            for (who, branch, act) in beginning().iter().chain(&program) {
                let mut outcomes = Vec::new();
                for world in worlds.iter() {
                    let who = if act.is_a_persons() { PERSON } else { who };
                    let agent = world.agent(who).on_branch(branch);
                    outcomes.push(without_times(&outcome(agent, act).await));
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
    // Each event was as its type has it.
    for world in worlds.into_inner() {
        runtime.block_on(world.run(async |_| ()));
    }
}
