//! Random programs of scripts on every kind of connection: every answer compared, and the whole state at the end.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;

use coord_domain::RepoId;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::normal::{state, without_times};
use crate::watched::Outcomes;
use crate::world::World;

/// How many programs are tried, and how long they are.
pub struct Extent {
    pub programs: u32,
    pub most_steps: usize,
}

/// Runs programs of `steps`, each after `beginning` in a separate repository. Returns the outcomes of the scripts;
/// `None` if a connection cannot be had here.
pub fn programs_end_alike<S: Debug>(
    Extent { programs, most_steps }: Extent,
    steps: impl Strategy<Value = S>,
    beginning: &[S],
    outcome: impl AsyncFn(&World, &S) -> String,
) -> Option<Outcomes> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let (redis, upstash) = (World::on_redis()?, runtime.block_on(World::on_upstash())?);
    let worlds = RefCell::new([World::on_embedded(), redis, upstash]);
    let config = Config {
        cases: programs,
        source_file: Some(file!()),
        max_shrink_iters: 300,
        ..Config::default()
    };
    let tried = Cell::new(0);
    let result = TestRunner::new(config).run(&prop::collection::vec(steps, 1..most_steps), |program| {
        let mut worlds = worlds.borrow_mut();
        tried.set(tried.get() + 1);
        for world in worlds.iter_mut() {
            world.repo = RepoId::parse(&format!("https://example.com/tests/program{}", tried.get())).unwrap();
        }
        runtime.block_on(run(&worlds, beginning.iter().chain(&program), &outcome))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    // Each event was as its type has it.
    let [embedded, redis, upstash] = worlds
        .into_inner()
        .map(|world| runtime.block_on(world.run(async |_| ())));
    assert_eq!(embedded, redis);
    assert_eq!(embedded, upstash);
    Some(embedded)
}

async fn run<'s, S: Debug + 's>(
    worlds: &[World; 3],
    program: impl Iterator<Item = &'s S>,
    outcome: &impl AsyncFn(&World, &S) -> String,
) -> Result<(), TestCaseError> {
    for step in program {
        let mut outcomes = Vec::new();
        for world in worlds {
            outcomes.push(without_times(&outcome(world, step).await));
        }
        prop_assert_eq!(&outcomes[0], &outcomes[1], "embedded, redis: {:?}", step);
        prop_assert_eq!(&outcomes[0], &outcomes[2], "embedded, REST: {:?}", step);
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
}
