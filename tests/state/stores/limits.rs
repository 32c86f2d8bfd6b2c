//! How often may be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use coord_domain::{FilePath, LockMode, NeighborPolicy};
use coord_settings::{Rate, Rates};
use coord_state as state;
use coord_state::admission::{
    AdmissionTerms, Admitted, AncestryQuestion, Denial, HeadQuestion, LimitSubject, Lookup, Question, count_lookups,
};

use crate::stores::admission::{entry_of, try_entry};
use crate::world::{HEAD, NEXT, World, aged, answered, denial_of, question_of, sha};

/// One each ten seconds on the long run, and so many at once.
pub(super) fn rate(burst: u32) -> Rate {
    Rate {
        interval_ms: 10_000,
        burst,
    }
}

/// The outcomes of `count` questions, by kind.
pub(super) async fn outcomes(world: &World, entry: &AdmissionTerms<'_>, count: usize) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for _ in 0..count {
        let outcome = match try_entry(world, entry).await {
            Admitted::Outcome(_) => "in".to_owned(),
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

pub(super) fn counts<const N: usize>(pairs: [(&str, usize); N]) -> BTreeMap<String, usize> {
    pairs
        .into_iter()
        .map(|(kind, count)| (kind.to_owned(), count))
        .collect()
}

async fn a_holder_over_its_rate_waits_and_others_do_not(world: World) {
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
    let whose = LimitSubject::Holder;
    assert_eq!(
        stop,
        Denial::Limited {
            retry_after_seconds: 1,
            whose
        }
    );
    // time: the limit has room again.
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
        let_in += usize::from(matches!(try_entry(&world, &entry).await, Admitted::Outcome(_)));
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
        let policy = state::locks::PolicyTerms::of(NeighborPolicy::Block);
        let checked = state::locks::check_status(
            &*world.store,
            &entry,
            &paths,
            LockMode::Writing,
            &policy,
            &state::locks::GateTerms::NONE,
        );
        match denial_of(checked.await.unwrap()) {
            Denial::Question(Question::Ancestry(AncestryQuestion::Commits { .. })) => "asks".to_owned(),
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
    assert_eq!(ask("ann", Rates::default().of_counted()).await, "asks");
    assert_eq!(ask("ann", rates.of_counted()).await, "Source");
}

async fn further_questions_are_counted_all_of_them_or_none(world: World) {
    let rates = Rates {
        source: rate(5),
        new: rate(1),
        ..Rates::NONE
    };
    let (ann, second, bob) = (
        world.agent("ann").holder,
        world.agent("ann/two").holder,
        world.agent("bob").holder,
    );
    let count_sparing = async |holder, lookup, amount| {
        let terms = entry_of(&world, holder, rates);
        match count_lookups(&*world.store, &terms, lookup, amount).await.unwrap() {
            Admitted::Outcome(()) => "counted".to_owned(),
            Admitted::Denied(Denial::Limited {
                retry_after_seconds, ..
            }) => format!("{}", retry_after_seconds.div_ceil(10)),
            Admitted::Denied(denial) => format!("{denial:?}"),
        }
    };
    let count = async |holder, lookup, amount| count_sparing(holder, lookup, (amount, 0)).await;
    // Optional requests leave some of the budget to necessary ones.
    assert_eq!(count_sparing(&ann, Lookup::Commits, (1, 3)).await, "counted");
    assert_eq!(count_sparing(&second, Lookup::Commits, (1, 4)).await, "1");
    assert_eq!(count(&ann, Lookup::Commits, 2).await, "counted");
    assert_eq!(count(&second, Lookup::Commits, 4).await, "2");
    assert_eq!(count(&second, Lookup::Commits, 2).await, "counted");
    assert_eq!(count(&ann, Lookup::Commits, 1).await, "1");
    assert_eq!(count(&ann, Lookup::Branch, 1).await, "counted");
    assert_eq!(count(&ann, Lookup::Branch, 1).await, "1");
    // More than the burst needs all of it.
    assert_eq!(count(&bob, Lookup::Commits, 99).await, "counted");
    assert_eq!(count(&bob, Lookup::Commits, 1).await, "1");
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
            Denial::Question(Question::Head(HeadQuestion::Refresh { commit: None, .. }))
        ));
    }
    let limited = ask(&ann, &branches[2]).await;
    assert!(
        matches!(
            limited,
            Denial::Limited {
                whose: LimitSubject::New,
                ..
            }
        ),
        "{limited:?}"
    );
    assert!(matches!(
        ask(&bob, &branches[2]).await,
        Denial::Question(Question::Head(HeadQuestion::Refresh { commit: None, .. }))
    ));
}

async fn a_clock_that_was_set_back_blocks_no_caller(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        is_counted: false,
        holder: rate(3),
        person: rate(3),
        repository: rate(3),
        source: rate(3),
        new: rate(3),
    };
    assert_eq!(world.checks_within("ann", rates, 1).await, "in");
    let at = (world.now().await + 7_200) * 1_000;
    let person = state::admission::keys::limit(&world.repo, &coord_store::script::sha1_hex("ann"));
    let text = format!("{at} {at} {at} {at},= {at} {at}");
    world.command(["SET", &person, &text, "EX", "9000"]).await;
    let all = state::admission::keys::limit(&world.repo, "all");
    world.command(["SET", &all, &format!("{at} {at}"), "EX", "9000"]).await;
    for _ in 0..3 {
        assert_eq!(world.checks_within("ann", rates, 1).await, "in");
    }
    assert_ne!(world.checks_within("ann", rates, 1).await, "in");
    // Nor is a head believed to be young, or to be asked for by another, for as long as that.
    let head = state::heads::keys::head(&world.repo, &world.branch);
    let seconds = (at / 1_000).to_string();
    world
        .command(["HSET", &head, "checked_at", &seconds, "refresh_at", &seconds])
        .await;
    let ann = world.agent("ann").holder;
    let entry = AdmissionTerms {
        head: aged(10, None),
        ..entry_of(&world, &ann, Rates::NONE)
    };
    let question = question_of(try_entry(&world, &entry).await);
    assert!(
        matches!(question, Question::Head(HeadQuestion::Refresh { commit: Some(_), .. })),
        "{question:?}"
    );
}

on_every_store!(
    a_holder_over_its_rate_waits_and_others_do_not,
    a_limit_is_worked_off,
    all_holders_of_a_repository_share_a_limit,
    a_refused_question_is_not_counted,
    questions_to_the_source_are_limited_for_each_person,
    further_questions_are_counted_all_of_them_or_none,
    unknown_branches_are_limited_for_each_person,
    a_clock_that_was_set_back_blocks_no_caller,
);
