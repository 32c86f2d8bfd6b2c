//! How often may be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use coord_settings::{Rate, Rates};
use coord_state as state;
use coord_state::admission::{
    AdmissionTerms, Admitted, AncestryQuestion, Denial, HeadQuestion, LimitSubject, Lookup, Question, count_lookups,
};

use crate::stores::admission::{check_once, entry_of, try_entry};
use crate::world::{HEAD, NEXT, World, aged, answered, branch, denial_of, question_of, sha};

/// One each ten seconds on the long run, and so many at once.
pub(super) fn rate(burst: u32) -> Rate {
    Rate {
        interval_ms: 10_000,
        burst,
    }
}

/// So many requests of a holder at once, whatever the others send.
pub(super) fn of_holder(burst: u32) -> Rates {
    Rates {
        holder: rate(burst),
        ..Rates::NONE
    }
}

pub(super) fn of_person(burst: u32) -> Rates {
    Rates {
        person: rate(burst),
        ..Rates::NONE
    }
}

pub(super) fn of_repository(burst: u32) -> Rates {
    Rates {
        repository: rate(burst),
        ..Rates::NONE
    }
}

/// The outcomes of `count` questions, by kind.
async fn outcomes(world: &World, entry: &AdmissionTerms<'_>, count: usize) -> BTreeMap<String, usize> {
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
    pairs.map(|(kind, count)| (kind.to_owned(), count)).into()
}

async fn a_holder_over_its_rate_waits_and_others_do_not(world: World) {
    world.records_head(HEAD, &[]).await;
    let [ann, second, bob] = ["ann", "ann/two", "bob"].map(|name| world.agent(name).holder);
    for holder in [&ann, &second, &bob] {
        let entry = entry_of(&world, holder, of_holder(3));
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
    let limited = Denial::Limited {
        retry_after_seconds: 1,
        whose: LimitSubject::Holder,
    };
    assert_eq!(denial_of(try_entry(&world, &entry).await), limited);
    // time: the limit has room again.
    tokio::time::sleep(Duration::from_millis(450)).await;
    answered(try_entry(&world, &entry).await);
}

async fn all_holders_of_a_repository_share_a_limit(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(100),
        ..of_repository(4)
    };
    let mut admitted = 0;
    for name in ["a", "b", "c", "d", "e", "f"] {
        let holder = world.agent(name).holder;
        let entry = entry_of(&world, &holder, rates);
        admitted += usize::from(matches!(try_entry(&world, &entry).await, Admitted::Outcome(_)));
    }
    assert_eq!(admitted, 4);
    // Another repository has its own.
    let other = world.beside();
    other.records_head(HEAD, &[]).await;
    let holder = other.agent("g").holder;
    answered(try_entry(&other, &entry_of(&other, &holder, rates)).await);
}

async fn a_refused_question_is_not_counted(world: World) {
    world.records_head(HEAD, &[]).await;
    let ann = world.agent("ann").holder;
    let rates = Rates {
        holder: rate(2),
        ..of_repository(1)
    };
    let entry = entry_of(&world, &ann, rates);
    assert_eq!(
        outcomes(&world, &entry, 4).await,
        counts([("in", 1), ("Repository", 3)])
    );
    let entry = entry_of(&world, &ann, of_holder(2));
    assert_eq!(outcomes(&world, &entry, 2).await, counts([("in", 1), ("Holder", 1)]));
}

async fn questions_to_the_source_are_limited_for_each_person(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        commit_lookups: rate(3),
        ..Rates::NONE
    };
    let ask = async |name: &str, rates: Rates| {
        let holder = world.agent(name).holder;
        let entry = AdmissionTerms {
            head: aged(10, None),
            known_commits: &[sha(NEXT)],
            ..entry_of(&world, &holder, rates)
        };
        match denial_of(check_once(&world, &entry, &["a.ts"]).await.unwrap()) {
            Denial::Question(Question::Ancestry(AncestryQuestion::Commits { .. })) => "asks".to_owned(),
            Denial::Limited { whose, .. } => format!("{whose:?}"),
            stop => panic!("{stop:?}"),
        }
    };
    for agent in ["ann", "ann/two", "ann/three"] {
        assert_eq!(ask(agent, rates).await, "asks");
    }
    assert_eq!(ask("ann/four", rates).await, "CommitLookups");
    assert_eq!(ask("bob", rates).await, "asks");
    // A request that has been counted still pays for what it asks.
    assert_eq!(ask("ann", Rates::default().of_counted()).await, "asks");
    assert_eq!(ask("ann", rates.of_counted()).await, "CommitLookups");
}

async fn further_questions_are_counted_all_of_them_or_none(world: World) {
    let rates = Rates {
        commit_lookups: rate(5),
        branch_lookups: rate(1),
        ..Rates::NONE
    };
    let [ann, second, bob] = ["ann", "ann/two", "bob"].map(|name| world.agent(name).holder);
    for (holder, lookup, amount, outcome) in [
        // Optional requests leave some of the budget to necessary ones.
        (&ann, Lookup::Commits, (1, 3), "counted"),
        (&second, Lookup::Commits, (1, 4), "1"),
        (&ann, Lookup::Commits, (2, 0), "counted"),
        (&second, Lookup::Commits, (4, 0), "2"),
        (&second, Lookup::Commits, (2, 0), "counted"),
        (&ann, Lookup::Commits, (1, 0), "1"),
        (&ann, Lookup::Branch, (1, 0), "counted"),
        (&ann, Lookup::Branch, (1, 0), "1"),
        // More than the burst needs all of it.
        (&bob, Lookup::Commits, (99, 0), "counted"),
        (&bob, Lookup::Commits, (1, 0), "1"),
    ] {
        let case = format!("{:?} {amount:?}", holder.agent_id);
        let terms = entry_of(&world, holder, rates);
        let counted = match count_lookups(&*world.store, &terms, lookup, amount).await.unwrap() {
            Admitted::Outcome(()) => "counted".to_owned(),
            Admitted::Denied(Denial::Limited {
                retry_after_seconds, ..
            }) => retry_after_seconds.div_ceil(10).to_string(),
            Admitted::Denied(denial) => panic!("{case}: {denial:?}"),
        };
        assert_eq!(counted, outcome, "{case}");
    }
}

async fn unknown_branches_are_limited_for_each_person(world: World) {
    let rates = Rates {
        branch_lookups: rate(2),
        ..Rates::NONE
    };
    for (name, branch_name, is_limited) in [
        ("ann", "new/1", false),
        ("ann", "new/2", false),
        ("ann", "new/3", true),
        ("bob", "new/3", false),
    ] {
        let holder = world.agent(name).holder;
        let entry = AdmissionTerms {
            branch: &branch(branch_name),
            head: aged(10, None),
            ..entry_of(&world, &holder, rates)
        };
        let denial = denial_of(try_entry(&world, &entry).await);
        let is_expected = match &denial {
            Denial::Question(Question::Head(HeadQuestion::Refresh { commit: None, .. })) => !is_limited,
            Denial::Limited { whose, .. } => is_limited && *whose == LimitSubject::BranchLookups,
            _ => false,
        };
        assert!(is_expected, "{name} {branch_name}: {denial:?}");
    }
}

async fn a_clock_that_was_set_back_blocks_no_caller(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        is_counted: false,
        holder: rate(3),
        person: rate(3),
        repository: rate(3),
        commit_lookups: rate(3),
        branch_lookups: rate(3),
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
    let (head, seconds) = (world.head_key(), (at / 1_000).to_string());
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
