//! Many clients at once over HTTP, and whether their answers can be true.

mod arena;
mod duel;
mod fight;
mod harness;
mod intents;
mod linear;
mod queueing;
mod storm;
mod teams;
mod violations;

use std::sync::Arc;

use coord_store::Store;
use coord_test_support::real_redis::RealRedis;
use harness::{connect, contests, embedded};

/// Over Upstash's REST protocol, before a redis-server.
async fn upstash(redis: &RealRedis) -> Arc<dyn Store> {
    Arc::new(coord_test_support::upstash::client(connect(redis)).await)
}

contests! {
    nothing_that_many_clients_do_at_once_breaks_a_rule: crate::contention::storm::storm, [2], [1];
    every_file_has_an_order_of_its_requests_that_explains_their_answers: crate::contention::duel::duel, [2], [1];
    one_of_64_clients_gets_the_three_files_in_every_round: crate::contention::fight::fight, [1], [1];
    everybody_gets_its_turn: crate::contention::queueing::queueing, [1], [1];
    nothing_that_many_clients_do_with_intents_breaks_a_rule: crate::contention::intents::contest, 1..=2, 3..=4;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_agents_do_in_a_team_breaks_a_rule_on_the_embedded_store() {
    let mut tallies = Vec::new();
    for seed in 1..=2 {
        let (_folder, connections) = embedded();
        tallies.push(teams::contest(connections, seed).await);
    }
    teams::assert_eventful(&tallies);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_agents_do_in_a_team_breaks_a_rule_on_redis() {
    let mut tallies = Vec::new();
    for seed in 3..=4 {
        let Some(redis) = RealRedis::start(&[]) else { return };
        tallies.push(teams::contest([connect(&redis), connect(&redis)], seed).await);
    }
    teams::assert_eventful(&tallies);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_agents_do_in_a_team_breaks_a_rule_over_rest() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let stores = [upstash(&redis).await, upstash(&redis).await];
    teams::assert_eventful(&[teams::contest(stores, 5).await]);
}
