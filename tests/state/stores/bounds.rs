//! Everything that grows has a bound, and what is counted for it is exact.

use coord_domain::LockMode::{Reading, Writing};
use coord_sources::Reachable;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, FullPart, SizeLimit};
use coord_state::sweep::sweep;
use coord_store::Value;
use serde_json::json;

use crate::stores::admission::abandon_once;
use crate::stores::neighbors::store_imports;
use crate::world::{NEXT, NO_FILES, World, denial_of, files};

impl World {
    /// Lets every lock on `paths` expire, of which some may be free.
    async fn expire_what_is_locked(&self, paths: &[impl AsRef<str>]) {
        for path in paths.iter().map(AsRef::as_ref) {
            if !self.stored(path).await.is_empty() {
                self.expire_locks(&[path]).await;
            }
        }
    }
}

/// Any order of claims, renewals, releases, refusals and expiries, by two agents each of three people, on two branches.
async fn the_counts_of_held_locks_match_the_entries(world: World) {
    let mut random = fastrand::Rng::with_seed(7);
    let people = ["ann", "ann/two", "bob", "bob/two", "cid", "cid/two"];
    let names = files("f", 12);
    for step in 0..250 {
        let branch = if random.u8(0..4) == 0 { "other" } else { "main" };
        // A longer message, or name, may make a lock count for more.
        let message = "why ".repeat(random.usize(1..120));
        let agent = world
            .agent(people[random.usize(0..people.len())])
            .on_branch(branch)
            .with_message(&message);
        let some: Vec<&String> = names.iter().filter(|_| random.u8(0..4) == 0).collect();
        if some.is_empty() {
            continue;
        }
        match random.u8(0..8) {
            0..=2 => drop(agent.try_claim(Reading, &some).await),
            3 | 4 => drop(agent.try_claim(Writing, &some).await),
            5 => drop(agent.release(Some(NEXT), Reachable::Yes, &some).await),
            6 => drop(agent.release_or_abandon(None, Reachable::Unknown, true, &some).await),
            _ => {
                world.expire_what_is_locked(&some).await;
                if random.bool() {
                    sweep(&*world.store, &world.repo, 3).await.unwrap();
                } else {
                    agent.checks(Writing, &names[..6]).await;
                }
            }
        }
        if step % 10 == 9 {
            world.assert_counts_are_exact().await;
        }
    }
    world.expire_what_is_locked(&names).await;
    sweep(&*world.store, &world.repo, 100).await.unwrap();
    assert!(world.held().await.is_empty(), "{:?}", world.held().await);
}

async fn a_file_has_at_most_256_locks(world: World) {
    for number in 0..256 {
        world.agent(&format!("p{number}")).reads(&["a.ts"]).await;
    }
    let ann = world.agent("ann");
    let stop = denial_of(ann.try_claim(Reading, &["free.ts", "a.ts"]).await);
    assert_eq!(stop, Denial::Full(FullPart::File("a.ts".to_owned())));
    assert!(world.stored("free.ts").await.is_empty());
    assert_eq!(world.last_event().await["reason"], "FULL");
    // A holder of one of these locks keeps it, and locks on another branch count as well.
    world.agent("p7").reads(&["a.ts"]).await;
    let elsewhere = ann.clone().on_branch("other").try_claim(Reading, &["a.ts"]).await;
    assert_eq!(denial_of(elsewhere), stop);
    world.agent("p7").abandons(&["a.ts"]).await;
    ann.reads(&["a.ts"]).await;
    world.assert_held_is_exact().await;
}

async fn a_person_with_all_agents_holds_at_most_2000_files(world: World) {
    let names = files("of/ann", 2000);
    for (number, some) in names.chunks(500).enumerate() {
        world.agent(&format!("ann/{number}")).writes(some).await;
    }
    assert_eq!(world.held().await["@ann"], 2000);
    let ann = world.agent("ann/more");
    for agent in [ann.clone(), ann.clone().on_branch("other")] {
        let stop = denial_of(agent.try_claim(Reading, &["a.ts"]).await);
        assert_eq!(stop, Denial::Full(FullPart::Person), "{:?}", agent.branch);
    }
    assert_eq!(world.held().await["@ann"], 2000);
    world.agent("bob").writes(&["a.ts"]).await;
    world.agent("ann/0").writes(&names[..500]).await;
    world.agent("ann/0").abandons(&names[..1]).await;
    ann.reads(&["b.ts"]).await;
    world.assert_held_is_exact().await;
}

/// Two thousand bytes of message are three times as much as a short one.
async fn held_locks_are_bounded_in_bytes_too(world: World) {
    let ann = world.agent("ann").with_message(&"\u{1f600}".repeat(500));
    ann.writes(&files("some", 512)).await;
    assert_eq!(world.held().await["@ann"], 3 * 512);
    let more = files("more", 512);
    let stop = denial_of(ann.try_claim(Writing, &more).await);
    assert_eq!(stop, Denial::Full(FullPart::Person));
    world.agent("ann").writes(&more[..400]).await;
    world.assert_held_is_exact().await;
}

async fn a_repository_has_at_most_10000_locks(world: World) {
    for number in 0..5 {
        for some in files(&number.to_string(), 2000).chunks(500) {
            world.agent(&format!("p{number}")).writes(some).await;
        }
    }
    let ann = world.agent("ann");
    let stop = denial_of(ann.try_claim(Writing, &["a.ts"]).await);
    assert_eq!(stop, Denial::Full(FullPart::Repository));
    assert_eq!(world.locked_file_count().await, 10_000);
    world.agent("p3").abandons(&["3/17.ts"]).await;
    ann.writes(&["a.ts"]).await;
}

async fn a_request_looks_at_4096_locks_on_its_files(world: World) {
    let names = files("read", 512);
    for reader in 0..9 {
        let some = if reader == 8 { &names[..1] } else { &names[..] };
        world.agent(&format!("p{reader}")).reads(some).await;
    }
    let ann = world.agent("ann");
    for stop in [
        denial_of(ann.try_check(Reading, &names).await),
        denial_of(ann.try_claim(Reading, &names).await),
        denial_of(ann.try_claim(Writing, &names).await),
    ] {
        assert_eq!(stop, Denial::TooMuch(SizeLimit::Locks));
    }
    for half in names.chunks(256) {
        ann.reads(half).await;
    }
    // All that the caller holds is as many.
    let stop = denial_of(ann.try_release(None, None, true, &NO_FILES).await);
    assert_eq!(stop, Denial::TooMuch(SizeLimit::Locks));
    assert_eq!(ann.abandons(&names[..256]).await.released.len(), 256);
    assert_eq!(ann.abandons(&NO_FILES).await.released.len(), 256);
    world.assert_held_is_exact().await;
}

/// 512 files with 200 neighbors each would be 102,400 lines.
async fn a_request_looks_at_100000_neighbors(world: World) {
    let names = files("many", 512);
    store_imports(&world, &names, &files("neighbors", 200)).await;
    let ann = world.agent("ann");
    // Where nothing else is held, nobody looks.
    ann.writes(&names).await;
    world.agent("bob").writes(&files("unrelated", 250)).await;
    let stop = denial_of(ann.try_check(Writing, &names).await);
    assert_eq!(stop, Denial::TooMuch(SizeLimit::Neighbors));
    for half in names.chunks(256) {
        assert!(matches!(ann.try_check(Writing, half).await, Admitted::Outcome(_)));
    }
    // A release is never refused for it.
    assert_eq!(ann.abandons(&names).await.released.len(), 512);
}

async fn a_release_counts_importers_on_50000_lines_and_reports_that_there_are_more(world: World) {
    let names = files("many", 512);
    store_imports(&world, &files("importers", 200), &names).await;
    let ann = world.agent("ann");
    ann.reads(&names).await;
    for (part, has_more) in [(&names[..200], false), (&names[200..], true)] {
        let done = ann.releases_read(part).await;
        assert_eq!((done.released.len(), done.importer_count), (part.len(), 200));
        assert_eq!(done.has_more_importers, has_more);
    }
}

/// A check works for the file with the most neighbors, from either side. Blocking locks are reported first, and the rest is
/// counted.
async fn a_hub_alone_is_never_too_much(world: World) {
    let importers = files("importers", 3000);
    store_imports(&world, &importers, &["hub.ts"]).await;
    for (number, some) in importers[..2000].chunks(500).enumerate() {
        world.agent(&format!("p{number}")).reads(some).await;
    }
    world.agent("bob").writes(&importers[2990..]).await;
    let survey = world.agent("ann").is_refused(Writing, &["hub.ts"]).await;
    assert_eq!((survey.findings.len(), survey.omitted), (256, 2010 - 256));
    let (blocking, others) = survey.findings.split_at(10);
    assert!(
        blocking
            .iter()
            .all(|finding| finding.blocks && finding.entry.user_id == "bob")
    );
    assert!(others.iter().all(|finding| !finding.blocks));
    let survey = world.agent("ann").checks(Reading, &["hub.ts"]).await;
    assert_eq!((survey.findings.len(), survey.omitted), (256, 2010 - 256));
}

/// 512 files, each written by an agent with a long message: a megabyte of locks.
async fn an_answer_names_locks_of_512_kib_and_counts_the_rest(world: World) {
    let names = files("long", 512);
    let bob = world.agent("bob").with_message(&"\u{1f600}".repeat(500));
    bob.writes(&names).await;
    let survey = world.agent("ann").is_refused(Writing, &names).await;
    let bytes: usize = survey
        .findings
        .iter()
        .map(|finding| serde_json::to_string(&finding.entry).unwrap().len())
        .sum();
    assert!((500 * 1024..512 * 1024).contains(&bytes), "{bytes}");
    assert_eq!(survey.findings.len() as u64 + survey.omitted, 512);
    assert!(survey.findings[0].blocks);
}

/// Each lock is a separate claim: as many events, were they not bounded.
async fn locks_that_expire_at_once_cause_a_bounded_number_of_events(world: World) {
    let names = files("read", 300);
    for reader in ["ann", "bob"] {
        for some in names.chunks(1) {
            world.agent(reader).reads(some).await;
        }
    }
    world.expire_locks(&names).await;
    let before = world.events().await.len();
    world.agent("cid").checks(Writing, &names).await;
    assert_eq!(world.events().await.len() - before, 513);
    let last = world.last_event().await;
    assert_eq!(json!([last["type"], last["file_count"]]), json!(["lock_expired", 88]));
    assert!(world.held().await.is_empty());
}

async fn a_sweep_does_some_and_leaves_the_rest_to_the_next(world: World) {
    let names = files("read", 100);
    for reader in 0..8 {
        world.agent(&format!("p{reader}")).reads(&names).await;
    }
    world.expire_locks(&names).await;
    let mut expired = Vec::new();
    while expired.last() != Some(&0) {
        expired.push(sweep(&*world.store, &world.repo, 500).await.unwrap().expired);
    }
    assert_eq!(expired, [504, 296, 0]);
}

async fn a_sweep_drops_events_of_last_week(world: World) {
    let log = state::events::keys::status_log(&world.repo);
    let now = world.now().await;
    for days in [30, 8, 6] {
        let id = format!("{}-1", (now - days * 86_400) * 1000);
        world.command(["XADD", &log, &id, "event", "{\"type\":\"old\"}"]).await;
    }
    world.agent("ann").writes(&["a.ts"]).await;
    sweep(&*world.store, &world.repo, 10).await.unwrap();
    assert_eq!(world.events().await.len(), 2);
    assert!((600_000..=604_800).contains(&world.number(["TTL", &log]).await));
}

/// Redis then refuses whatever needs room, and has it again after a sweep.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_its_log_has_filled_heals_with_a_sweep() {
    let Some(world) = World::on_separate_redis() else {
        return;
    };
    let (ann, log) = (world.agent("ann"), state::events::keys::status_log(&world.repo));
    ann.writes(&["a.ts"]).await;
    world.command(["DEL", &log]).await;
    let last_week = (world.now().await - 8 * 86_400) * 1000;
    let large = format!("{{\"type\":\"old\",\"files\":[\"{}\"]}}", "x".repeat(256 * 1024));
    for number in 1..40 {
        let id = format!("{last_week}-{number}");
        world.command(["XADD", &log, &id, "event", &large]).await;
    }
    let memory = world.command(["INFO", "memory"]).await;
    let mut lines = memory.as_str().unwrap().lines();
    let used = lines.find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    let most = (used.trim().parse::<u64>().unwrap() - 1_000_000).to_string();
    world.command(["CONFIG", "SET", "maxmemory", &most]).await;

    let refused = world.command(["SET", "anything", "1"]).await;
    assert!(
        matches!(&refused, Value::Error(error) if error.starts_with("OOM")),
        "{refused:?}"
    );
    let known = [ann.head.clone()];
    let entry = AdmissionTerms::of(&world.repo, &world.branch, &ann.holder, Some(&ann.head), &known);
    let refused = abandon_once(&world, &entry, &ann.head, &["a.ts"]).await;
    assert!(refused.is_err(), "{refused:?}");
    // Nothing was changed by halves.
    assert_eq!(world.stored("a.ts").await.len(), 1);
    world.assert_counts_are_exact().await;

    sweep(&*world.store, &world.repo, 100).await.unwrap();
    ann.abandons(&["a.ts"]).await;
    world.agent("bob").writes(&["a.ts"]).await;
    world.assert_held_is_exact().await;
}

on_every_store!(
    the_counts_of_held_locks_match_the_entries,
    a_file_has_at_most_256_locks,
    a_person_with_all_agents_holds_at_most_2000_files,
    held_locks_are_bounded_in_bytes_too,
    a_repository_has_at_most_10000_locks,
    a_request_looks_at_4096_locks_on_its_files,
    a_request_looks_at_100000_neighbors,
    a_release_counts_importers_on_50000_lines_and_reports_that_there_are_more,
    a_hub_alone_is_never_too_much,
    an_answer_names_locks_of_512_kib_and_counts_the_rest,
    locks_that_expire_at_once_cause_a_bounded_number_of_events,
    a_sweep_does_some_and_leaves_the_rest_to_the_next,
    a_sweep_drops_events_of_last_week,
);
