//! The cost of each call: the commands that Redis counts, and that Upstash bills, including those inside of scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use coord_domain::LockMode::{Reading, Writing};
use coord_domain::work::Verdict;
use coord_server::sweep::sweep_due;
use coord_settings::Rates;
use coord_state::admission::AdmissionTerms;
use coord_state::expiry::take_due;
use coord_state::locks::keys::queue;
use coord_store::redis::RedisStore;
use coord_store::{Request, Store};

use crate::stores::admission::{check_once, entry_of};
use crate::stores::neighbors::{store_graph, store_imports};
use crate::world::worker::judged_file;
use crate::world::{HEAD, NEXT, NO_FILES, World, aged, answered, files, separate_redis, sha};

/// A world on a separate server: the counts are those of a whole server.
pub(super) struct Counted {
    pub world: World,
    /// Not the connection that is counted, so that asking costs the other nothing.
    asks: RedisStore,
}

impl Counted {
    pub fn start() -> Option<Counted> {
        let url = separate_redis()?;
        Some(Counted {
            world: World::over(Arc::new(RedisStore::connect(&url).unwrap()), None),
            asks: RedisStore::connect(&url).unwrap(),
        })
    }

    /// The commands since the last call: name and count, and how many in all.
    pub async fn commands(&self) -> (usize, String) {
        let batch = vec![
            Request::command(["INFO", "commandstats"]),
            Request::command(["CONFIG", "RESETSTAT"]),
        ];
        let replies = self.asks.run(batch).await.unwrap();
        let mut counts = BTreeMap::new();
        for line in replies[0].as_str().unwrap().lines() {
            if let Some((name, rest)) = line
                .strip_prefix("cmdstat_")
                .and_then(|line| line.split_once(":calls="))
            {
                let count: usize = rest.split(',').next().unwrap().parse().unwrap();
                if !name.starts_with("info") && !name.starts_with("config") {
                    counts.insert(name.to_owned(), count);
                }
            }
        }
        let text: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        (counts.values().sum(), text.join(", "))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_minute_in_which_nothing_expired_is_four_commands() {
    let Some(counted) = Counted::start() else { return };
    let Counted { world, .. } = &counted;
    sweep_due(&*world.store, &coord_extensions::registered()).await.unwrap();
    world.agent("ann").writes(&["a.ts"]).await;
    counted.commands().await;
    let report = sweep_due(&*world.store, &coord_extensions::registered()).await.unwrap();
    assert!(report.is_complete && report.repositories == 0);
    assert_eq!(
        counted.commands().await,
        (4, "fcall 1, set 1, time 1, zrangebyscore 1".to_owned())
    );
    assert_eq!(take_due(&*world.store, 100).await.unwrap(), []);
    assert_eq!(counted.commands().await.0, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_and_a_claim_cost_what_they_cost() {
    let Some(counted) = Counted::start() else { return };
    let Counted { world, .. } = &counted;
    store_graph(world, &[("a.ts", &["b.ts"]), ("b.ts", &["c.ts"])]).await;
    world.records_head(HEAD, &[]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    // Every script once, so that the server knows it.
    ann.checks(Writing, &["a.ts"]).await;
    ann.writes(&["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    counted.commands().await;

    let mut costs = Vec::new();
    let mut note = async |label: &str| {
        let (total, each) = counted.commands().await;
        costs.push(format!("{label}: {total} ({each})"));
    };
    ann.checks(Writing, &["a.ts"]).await;
    note("check, nothing held").await;
    ann.clone().without_source().checks(Writing, &["a.ts"]).await;
    note("check without a source, nothing held").await;
    ann.writes(&["a.ts"]).await;
    note("first claim").await;
    ann.writes(&["a.ts"]).await;
    note("renewal").await;
    bob.is_refused(Writing, &["b.ts"]).await;
    note("claim refused for a neighbor").await;
    // Its ticket would cost the calls below a few commands.
    world.command(["DEL", &queue(&world.repo)]).await;
    counted.commands().await;
    bob.checks(Writing, &["b.ts", "c.ts", "d.ts"]).await;
    note("check of three files, a neighbor held").await;
    ann.checks(Writing, &["a.ts"]).await;
    note("check of all that is held").await;
    bob.clone().at(NEXT).claim(Writing, &["c.ts"]).await;
    note("claim refused as stale").await;
    let judged_files = [judged_file("a.ts", Verdict::Pushed)];
    answered(ann.release_as_judged(Some(HEAD), &judged_files, false, &["a.ts"]).await);
    note("release refused").await;
    answered(ann.release_as_judged(Some(NEXT), &judged_files, false, &["a.ts"]).await);
    note("release").await;
    let many = files("many", 512);
    ann.reads(&many).await;
    note("claim of 512 files").await;
    bob.checks(Writing, &many).await;
    note("check of 512 files").await;
    ann.releases_read(&many).await;
    note("release of 512 files").await;
    ann.reads(&many).await;
    counted.commands().await;
    ann.abandons(&NO_FILES).await;
    note("release of everything, which is 512 files").await;
    let entry = AdmissionTerms {
        head: aged(10, None),
        known_commits: &[sha(HEAD)],
        ..entry_of(world, &bob.holder, Rates::default())
    };
    counted.commands().await;
    answered(check_once(world, &entry, &["a.ts"]).await.unwrap());
    note("check with a cached head and limits").await;
    insta::assert_snapshot!(costs.join("\n"));
}

/// The locks are read once, so many texts per command, whatever the number of hubs and of locks next to each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_hubs_and_much_that_is_held_cost_a_few_commands() {
    let Some(counted) = Counted::start() else { return };
    let Counted { world, .. } = &counted;
    let (hubs, importers) = (files("hub", 64), files("importer", 600));
    store_imports(world, &importers, &hubs).await;
    for (number, some) in importers.chunks(300).enumerate() {
        world.agent(&format!("p{number}")).reads(some).await;
    }
    let ann = world.agent("ann");
    for count in [1, 8, 64] {
        ann.checks(Writing, &hubs[..count]).await;
        counted.commands().await;
        let survey = ann.checks(Writing, &hubs[..count]).await;
        assert_eq!(survey.findings.len() as u64 + survey.omitted, 600);
        let (commands, each) = counted.commands().await;
        assert!(commands < 24, "{count} hubs: {each}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cost_does_not_grow_with_the_graph() {
    let Some(counted) = Counted::start() else { return };
    let Counted { world, .. } = &counted;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    let mut costs = Vec::new();
    for size in [1, 20_000] {
        store_imports(world, &files("importers", size), &["hub.ts"]).await;
        bob.reads(&["elsewhere.ts"]).await;
        ann.checks(Reading, &["hub.ts"]).await;
        counted.commands().await;
        ann.checks(Reading, &["hub.ts"]).await;
        costs.push(counted.commands().await);
    }
    assert_eq!(costs[1].0 - costs[0].0, 1, "the adjacency of what is held: {costs:?}");
}
