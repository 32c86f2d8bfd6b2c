//! Many clients at once over HTTP, and whether what they were told can be true.

mod arena;
mod duel;
mod fight;
mod intents;
mod linear;
mod queueing;
mod storm;
mod teams;
mod violations;

use std::sync::Arc;

use coord_embedded::EmbeddedStore;
use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_test_support::real_redis::RealRedis;

fn connect(redis: &RealRedis) -> Arc<dyn Store> {
    coord_extensions::register_state();
    Arc::new(RedisStore::connect(&redis.url()).expect("a URL"))
}

/// A store on disk; the folder goes when it is dropped.
fn embedded() -> (tempfile::TempDir, Arc<dyn Store>) {
    coord_extensions::register_state();
    let folder = tempfile::tempdir().expect("a folder");
    let store = EmbeddedStore::open(&folder.path().join("store.redb")).expect("a new store");
    (folder, Arc::new(store))
}

/// Over Upstash's REST protocol, before a redis-server.
async fn upstash(redis: &RealRedis) -> Arc<dyn Store> {
    Arc::new(coord_test_support::upstash::client(connect(redis)).await)
}

/// The storm was about something.
fn assert_eventful(tally: &coord_test_support::history::judge::Tally) {
    eprintln!("{tally:?}");
    for (what, count) in [
        ("grants", tally.grants),
        ("renewals", tally.renewals),
        ("releases", tally.releases),
        ("expiries", tally.expiries),
        ("conflicts", tally.conflicts),
        ("locks that were lost", tally.lost),
        ("releases without a push", tally.not_pushed),
        ("checks", tally.checks),
        ("killed clients", tally.unanswered),
        (
            "killed clients whose request was carried out",
            tally.unanswered_but_done,
        ),
    ] {
        assert!(count > 0, "no {what} in {tally:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_clients_do_at_once_on_the_embedded_store_breaks_a_rule() {
    let (_folder, store) = embedded();
    let tally = storm::storm([Arc::clone(&store), store], 2).await;
    assert_eventful(&tally);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_clients_do_at_once_on_redis_breaks_a_rule() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let tally = storm::storm([connect(&redis), connect(&redis)], 1).await;
    assert_eventful(&tally);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_file_has_an_order_of_its_requests_that_explains_their_answers_on_the_embedded_store() {
    let (_folder, store) = embedded();
    duel::duel(store, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_file_has_an_order_of_its_requests_that_explains_their_answers_on_redis() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    duel::duel(connect(&redis), 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_64_clients_gets_the_three_files_in_every_round_on_the_embedded_store() {
    let (_folder, store) = embedded();
    fight::fight(store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_64_clients_gets_the_three_files_in_every_round_on_redis() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    fight::fight(connect(&redis)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_gets_its_turn_on_the_embedded_store() {
    let (_folder, store) = embedded();
    queueing::queueing(store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_gets_its_turn_on_redis() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    queueing::queueing(connect(&redis)).await;
}

fn assert_eventful_for_intents(tally: &intents::Tally) {
    eprintln!("{tally:?}");
    for (what, count) in [
        ("intents that began", tally.begun),
        ("intents that ended", tally.ended),
        ("intents that were blocked", tally.blocked),
        ("overlaps that were allowed", tally.allowed),
        ("grants", tally.grants),
        ("refusals", tally.refused),
        ("killed clients", tally.unanswered),
        ("files that were taken over", tally.taken_over),
        ("files that were given up", tally.given_up),
    ] {
        assert!(count > 0, "no {what} in {tally:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_clients_do_with_intents_breaks_a_rule_on_the_embedded_store() {
    for seed in 1..=2 {
        let (_folder, store) = embedded();
        assert_eventful_for_intents(&intents::contest([Arc::clone(&store), store], seed).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_clients_do_with_intents_breaks_a_rule_on_redis() {
    for seed in 3..=4 {
        let Some(redis) = RealRedis::start(&[]) else { return };
        assert_eventful_for_intents(&intents::contest([connect(&redis), connect(&redis)], seed).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_many_agents_do_in_a_team_breaks_a_rule_on_the_embedded_store() {
    let mut tallies = Vec::new();
    for seed in 1..=2 {
        let (_folder, store) = embedded();
        tallies.push(teams::contest([Arc::clone(&store), store], seed).await);
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
