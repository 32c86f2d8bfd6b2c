//! How often may be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use coord::domain::{FilePath, LockMode, LockReason, NeighborPolicy};
use coord::store::keys;
use coord::store::scripts::{self, AdmissionTerms, Admitted, Denial, HeadTerms, Limited, Rate, Rates, Release, Wanted};

use crate::stores::admission::{entry_of, try_entry};
use crate::world::aged;
use crate::world::{HEAD, NEXT, World, answered, denial_of, sha};

/// One each ten seconds on the long run, and so many at once.
fn rate(burst: u32) -> Rate {
    Rate {
        interval_ms: 10_000,
        burst,
    }
}

/// The outcomes of `count` questions, by kind.
async fn outcomes(world: &World, entry: &AdmissionTerms<'_>, count: usize) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for _ in 0..count {
        let outcome = match try_entry(world, entry).await {
            Admitted::Answer(_) => "in".to_owned(),
            Admitted::Denied(Denial::Limited {
                retry_after_seconds,
                whose,
            }) => {
                assert!((1..=10).contains(&retry_after_seconds), "{retry_after_seconds}");
                format!("{whose:?}")
            }
            Admitted::Denied(stop) => format!("{stop:?}"),
        };
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    outcomes
}

fn counts<const N: usize>(pairs: [(&str, usize); N]) -> BTreeMap<String, usize> {
    pairs
        .into_iter()
        .map(|(kind, count)| (kind.to_owned(), count))
        .collect()
}

async fn a_holder_who_asks_too_often_waits_and_others_do_not(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(3),
        ..Rates::NONE
    };
    let (ann, second, bob) = (
        world.agent("ann").holder,
        world.agent("ann/two").holder,
        world.agent("bob").holder,
    );
    for holder in [&ann, &second, &bob] {
        let entry = entry_of(&world, holder, rates);
        assert_eq!(outcomes(&world, &entry, 5).await, counts([("in", 3), ("Holder", 2)]));
    }
    let unlimited = entry_of(&world, &ann, Rates::NONE);
    assert_eq!(outcomes(&world, &unlimited, 5).await, counts([("in", 5)]));
}

async fn a_limit_is_worked_off(world: World) {
    world.records_head(HEAD, &[]).await;
    let ann = world.agent("ann").holder;
    let rates = Rates {
        holder: Rate {
            interval_ms: 400,
            burst: 1,
        },
        ..Rates::NONE
    };
    let entry = entry_of(&world, &ann, rates);
    answered(try_entry(&world, &entry).await);
    let stop = denial_of(try_entry(&world, &entry).await);
    let whose = Limited::Holder;
    assert_eq!(
        stop,
        Denial::Limited {
            retry_after_seconds: 1,
            whose
        }
    );
    tokio::time::sleep(Duration::from_millis(450)).await;
    answered(try_entry(&world, &entry).await);
}

async fn all_holders_of_a_repository_share_a_limit(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(100),
        repository: rate(4),
        ..Rates::NONE
    };
    let mut let_in = 0;
    for name in ["a", "b", "c", "d", "e", "f"] {
        let holder = world.agent(name).holder;
        let entry = entry_of(&world, &holder, rates);
        let_in += usize::from(matches!(try_entry(&world, &entry).await, Admitted::Answer(_)));
    }
    assert_eq!(let_in, 4);
    // Another repository has its own.
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let holder = other.agent("g").holder;
    answered(try_entry(&other, &entry_of(&other, &holder, rates)).await);
}

async fn a_refused_question_is_not_counted(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(2),
        repository: rate(1),
        ..Rates::NONE
    };
    let ann = world.agent("ann").holder;
    let entry = entry_of(&world, &ann, rates);
    assert_eq!(
        outcomes(&world, &entry, 4).await,
        counts([("in", 1), ("Repository", 3)])
    );
    let own = Rates {
        repository: Rate::NONE,
        ..rates
    };
    let entry = entry_of(&world, &ann, own);
    assert_eq!(outcomes(&world, &entry, 2).await, counts([("in", 1), ("Holder", 1)]));
}

/// What came of a request: whether it was let in, or whose limit was met.
fn came<T: std::fmt::Debug>(admitted: &Admitted<T>) -> String {
    match admitted {
        Admitted::Denied(Denial::Limited { whose, .. }) => format!("{whose:?}"),
        Admitted::Answer(_) => "in".to_owned(),
        Admitted::Denied(stop) => panic!("{stop:?}"),
    }
}

impl World {
    /// A claim of one agent, with limits.
    async fn claims_within(&self, name: &str, rates: Rates, paths: &[&str]) -> String {
        let (holder, head) = (self.agent(name).holder, sha(HEAD));
        let known = [head.clone()];
        let entry = AdmissionTerms {
            head: HeadTerms::Told(&head),
            known_commits: &known,
            ..entry_of(self, &holder, rates)
        };
        let paths: Vec<FilePath> = paths.iter().map(|path| FilePath::parse(path).unwrap()).collect();
        let wanted = Wanted {
            claim: LockMode::Writing,
            policy: NeighborPolicy::Block,
            agent_head: &head,
            message: &LockReason::parse("Rewriting the parser").unwrap(),
            ttl_seconds: 300,
            paths: &paths,
        };
        came(&scripts::claim(&*self.store, &entry, &wanted).await.unwrap())
    }

    async fn releases_within(&self, name: &str, rates: Rates, path: &str) -> String {
        let (holder, head) = (self.agent(name).holder, sha(HEAD));
        let entry = AdmissionTerms {
            head: HeadTerms::Told(&head),
            ..entry_of(self, &holder, rates)
        };
        let release = Release {
            new_head: None,
            agent_head: &head,
            is_abandoned: true,
            message: &LockReason::parse("Throwing it away").unwrap(),
            paths: &[FilePath::parse(path).unwrap()],
            can_ask: false,
            judged: &[],
        };
        came(&scripts::release(&*self.store, &entry, &release).await.unwrap())
    }

    async fn checks_within(&self, name: &str, rates: Rates, paths: usize) -> String {
        let holder = self.agent(name).holder;
        let entry = entry_of(self, &holder, rates);
        let paths: Vec<FilePath> = (0..paths)
            .map(|number| FilePath::parse(&format!("{number}.ts")).unwrap())
            .collect();
        let checked = scripts::check_status(&*self.store, &entry, &paths, LockMode::Writing, NeighborPolicy::Block);
        came(&checked.await.unwrap())
    }
}

async fn all_agents_of_a_person_share_a_limit_however_many_they_are(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(2),
        person: rate(5),
        repository: rate(100),
        ..Rates::NONE
    };
    let mut seen = BTreeMap::new();
    for number in 0..40 {
        let came = world.checks_within(&format!("ann/{number}"), rates, 1).await;
        *seen.entry(came).or_insert(0) += 1;
    }
    assert_eq!(seen, counts([("in", 5), ("Person", 35)]));
    assert_eq!(world.checks_within("bob", rates, 1).await, "in");
    // What is remembered of agents is bounded.
    let plenty = Rates {
        holder: rate(2),
        person: rate(1_000),
        ..Rates::NONE
    };
    for number in 0..40 {
        world.checks_within(&format!("cem/{number}"), plenty, 1).await;
    }
    assert_eq!(world.checks_within("cem/39", plenty, 1).await, "in");
    assert_eq!(world.checks_within("cem/39", plenty, 1).await, "Holder");
    let key = keys::limit(&world.repo, &coord::store::script::sha1_hex("cem"));
    let stored = world.command(["GET", &key]).await;
    assert_eq!(stored.as_str().unwrap().split(',').count(), 17, "{stored:?}");
}

async fn claims_go_before_reads(world: World) {
    world.records_head(HEAD, &[]).await;
    for rates in [
        Rates {
            repository: rate(4),
            ..Rates::NONE
        },
        Rates {
            person: rate(4),
            ..Rates::NONE
        },
        Rates {
            holder: rate(4),
            ..Rates::NONE
        },
    ] {
        let world = World::over(world.store.clone(), None);
        world.records_head(HEAD, &[]).await;
        for _ in 0..4 {
            assert_eq!(world.checks_within("ann", rates, 1).await, "in");
        }
        assert_ne!(world.checks_within("ann", rates, 1).await, "in");
        assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
        assert_eq!(world.claims_within("ann", rates, &["b.ts"]).await, "in");
        assert_ne!(world.claims_within("ann", rates, &["c.ts"]).await, "in");
        assert_ne!(world.checks_within("ann", rates, 1).await, "in");
    }
}

async fn a_claim_passes_as_a_renewal_only_where_all_of_it_is_held(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        repository: rate(4),
        ..Rates::NONE
    };
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    while world.claims_within("bob", rates, &["a.ts"]).await == "in" {}
    assert_eq!(world.claims_within("ann", rates, &["d.ts"]).await, "Repository");
    assert_eq!(world.claims_within("ann", rates, &["a.ts", "d.ts"]).await, "Repository");
    assert_eq!(world.claims_within("ann/two", rates, &["a.ts"]).await, "Repository");
    assert!(world.stored("d.ts").await.is_empty());
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    world.lapse(&["a.ts"]).await;
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "Repository");
}

async fn a_lock_is_renewed_and_given_back_while_others_use_up_all_they_can(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(4),
        person: rate(4),
        repository: rate(9),
        ..Rates::NONE
    };
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    for name in ["bob", "cem", "dan", "ann/two"] {
        while world.checks_within(name, rates, 1).await == "in" {}
        while world.claims_within(name, rates, &["b.ts", "c.ts"]).await == "in" {}
    }
    assert_ne!(world.claims_within("ann", rates, &["d.ts"]).await, "in");
    assert_eq!(world.claims_within("ann", rates, &["a.ts"]).await, "in");
    assert_eq!(world.releases_within("ann", rates, "a.ts").await, "in");
}

async fn what_a_request_costs_follows_from_its_paths(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        repository: rate(20),
        ..Rates::NONE
    };
    // 16 for 512 files, 1 for up to 32.
    assert_eq!(world.checks_within("ann", rates, 512).await, "in");
    assert_eq!(world.checks_within("ann", rates, 512).await, "Repository");
    for _ in 0..4 {
        assert_eq!(world.checks_within("ann", rates, 32).await, "in");
    }
    assert_eq!(world.checks_within("ann", rates, 1).await, "Repository");
    // However small the limit, the largest request is let in at some time.
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let small = Rates {
        repository: rate(2),
        ..Rates::NONE
    };
    assert_eq!(other.checks_within("ann", small, 512).await, "in");
}

async fn questions_to_the_source_are_limited_for_each_person(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        source: rate(3),
        ..Rates::NONE
    };
    let ask = async |name: &str, rates: Rates| {
        let holder = world.agent(name).holder;
        let known = [sha(NEXT)];
        let entry = AdmissionTerms {
            head: aged(10, None),
            known_commits: &known,
            ..entry_of(&world, &holder, rates)
        };
        let paths = [FilePath::parse("a.ts").unwrap()];
        let checked = scripts::check_status(&*world.store, &entry, &paths, LockMode::Writing, NeighborPolicy::Block);
        match denial_of(checked.await.unwrap()) {
            Denial::AskSource { .. } => "asks".to_owned(),
            Denial::Limited { whose, .. } => format!("{whose:?}"),
            stop => panic!("{stop:?}"),
        }
    };
    for agent in ["ann", "ann/two", "ann/three"] {
        assert_eq!(ask(agent, rates).await, "asks");
    }
    assert_eq!(ask("ann/four", rates).await, "Source");
    assert_eq!(ask("bob", rates).await, "asks");
    // A request that has been counted still pays for what it asks.
    assert_eq!(ask("ann", Rates::default().of_questions()).await, "asks");
    assert_eq!(ask("ann", rates.of_questions()).await, "Source");
}

async fn unknown_branches_are_limited_for_each_person(world: World) {
    let rates = Rates {
        new: rate(2),
        ..Rates::NONE
    };
    let (ann, bob) = (world.agent("ann").holder, world.agent("bob").holder);
    let branches = ["new/1", "new/2", "new/3"].map(crate::world::branch);
    let ask = async |holder, branch| {
        let entry = AdmissionTerms {
            branch,
            head: aged(10, None),
            ..entry_of(&world, holder, rates)
        };
        denial_of(try_entry(&world, &entry).await)
    };
    for branch in &branches[..2] {
        assert!(matches!(
            ask(&ann, branch).await,
            Denial::RefreshHead { commit: None, .. }
        ));
    }
    let limited = ask(&ann, &branches[2]).await;
    assert!(
        matches!(
            limited,
            Denial::Limited {
                whose: Limited::New,
                ..
            }
        ),
        "{limited:?}"
    );
    assert!(matches!(
        ask(&bob, &branches[2]).await,
        Denial::RefreshHead { commit: None, .. }
    ));
}

async fn a_clock_that_was_set_back_keeps_nobody_out(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(3),
        person: rate(3),
        repository: rate(3),
        source: rate(3),
        new: rate(3),
    };
    assert_eq!(world.checks_within("ann", rates, 1).await, "in");
    let at = (world.now().await + 7_200) * 1_000;
    let person = keys::limit(&world.repo, &coord::store::script::sha1_hex("ann"));
    let text = format!("{at} {at} {at} {at},= {at} {at}");
    world.command(["SET", &person, &text, "EX", "9000"]).await;
    let all = keys::limit(&world.repo, "all");
    world.command(["SET", &all, &format!("{at} {at}"), "EX", "9000"]).await;
    for _ in 0..3 {
        assert_eq!(world.checks_within("ann", rates, 1).await, "in");
    }
    assert_ne!(world.checks_within("ann", rates, 1).await, "in");
    // Nor is a head believed to be young, or to be asked for by another, for as long as that.
    let head = keys::head(&world.repo, &world.branch);
    let seconds = (at / 1_000).to_string();
    world
        .command(["HSET", &head, "checked_at", &seconds, "refresh_at", &seconds])
        .await;
    let ann = world.agent("ann").holder;
    let entry = AdmissionTerms {
        head: aged(10, None),
        ..entry_of(&world, &ann, Rates::NONE)
    };
    let stop = denial_of(try_entry(&world, &entry).await);
    assert!(matches!(stop, Denial::RefreshHead { commit: Some(_), .. }), "{stop:?}");
}

on_every_store!(
    a_holder_who_asks_too_often_waits_and_others_do_not,
    a_limit_is_worked_off,
    all_holders_of_a_repository_share_a_limit,
    a_refused_question_is_not_counted,
    all_agents_of_a_person_share_a_limit_however_many_they_are,
    claims_go_before_reads,
    a_claim_passes_as_a_renewal_only_where_all_of_it_is_held,
    a_lock_is_renewed_and_given_back_while_others_use_up_all_they_can,
    what_a_request_costs_follows_from_its_paths,
    questions_to_the_source_are_limited_for_each_person,
    unknown_branches_are_limited_for_each_person,
    a_clock_that_was_set_back_keeps_nobody_out,
);
