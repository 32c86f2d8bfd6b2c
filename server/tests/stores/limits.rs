//! How often may be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use coord::store::scripts::{Entered, Entry, Limited, Rate, Rates, Stop, Who};

use crate::ages::aged;
use crate::entry::{CREDENTIAL, entry_of, shown, try_entry};
use crate::world::{HEAD, World, answered, stopped};

/// One each ten seconds on the long run, and so many at once.
fn rate(burst: u32) -> Rate {
    Rate {
        interval_ms: 10_000,
        burst,
    }
}

/// The outcomes of `count` questions, by kind.
async fn outcomes(world: &World, entry: &Entry<'_>, count: usize) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for _ in 0..count {
        let outcome = match try_entry(world, entry).await {
            Entered::In(_) => "in".to_owned(),
            Entered::Stopped(Stop::Limited {
                retry_after_seconds,
                whose,
            }) => {
                assert!((1..=10).contains(&retry_after_seconds), "{retry_after_seconds}");
                format!("{whose:?}")
            }
            Entered::Stopped(stop) => format!("{stop:?}"),
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
        let entry = entry_of(&world, Who::Known(holder), rates);
        assert_eq!(outcomes(&world, &entry, 5).await, counts([("in", 3), ("Holder", 2)]));
    }
    let unlimited = entry_of(&world, Who::Known(&ann), Rates::NONE);
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
    let entry = entry_of(&world, Who::Known(&ann), rates);
    answered(try_entry(&world, &entry).await);
    let stop = stopped(try_entry(&world, &entry).await);
    let whose = Limited::Holder;
    assert_eq!(
        stop,
        Stop::Limited {
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
        let entry = entry_of(&world, Who::Known(&holder), rates);
        let_in += usize::from(matches!(try_entry(&world, &entry).await, Entered::In(_)));
    }
    assert_eq!(let_in, 4);
    // Another repository has its own.
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let holder = other.agent("g").holder;
    answered(try_entry(&other, &entry_of(&other, Who::Known(&holder), rates)).await);
}

async fn a_refused_question_is_not_counted(world: World) {
    world.records_head(HEAD, &[]).await;
    let rates = Rates {
        holder: rate(2),
        repository: rate(1),
        ..Rates::NONE
    };
    let ann = world.agent("ann").holder;
    let entry = entry_of(&world, Who::Known(&ann), rates);
    assert_eq!(
        outcomes(&world, &entry, 4).await,
        counts([("in", 1), ("Repository", 3)])
    );
    let own = Rates {
        repository: Rate::NONE,
        ..rates
    };
    let entry = entry_of(&world, Who::Known(&ann), own);
    assert_eq!(outcomes(&world, &entry, 2).await, counts([("in", 1), ("Holder", 1)]));
}

async fn new_credentials_and_new_branches_share_a_limit(world: World) {
    let rates = Rates {
        new: rate(3),
        ..Rates::NONE
    };
    for number in 0..2 {
        let credential = format!("{number:064}");
        let entry = entry_of(&world, shown(&credential, false), rates);
        assert_eq!(stopped(try_entry(&world, &entry).await), Stop::Unverified);
    }
    let ann = world.agent("ann").holder;
    let branches = ["new/1", "new/2"].map(crate::world::branch);
    let aged = |branch| Entry {
        branch,
        head: aged(10, None),
        ..entry_of(&world, Who::Known(&ann), rates)
    };
    let stop = stopped(try_entry(&world, &aged(&branches[0])).await);
    assert!(
        matches!(
            stop,
            Stop::RefreshHead {
                commit: None,
                etag: None
            }
        ),
        "{stop:?}"
    );
    let stop = stopped(try_entry(&world, &aged(&branches[1])).await);
    assert!(
        matches!(
            stop,
            Stop::Limited {
                whose: Limited::New,
                ..
            }
        ),
        "{stop:?}"
    );
    let entry = entry_of(&world, shown(CREDENTIAL, false), rates);
    let stop = stopped(try_entry(&world, &entry).await);
    assert!(
        matches!(
            stop,
            Stop::Limited {
                whose: Limited::New,
                ..
            }
        ),
        "{stop:?}"
    );
}

on_every_store!(
    a_holder_who_asks_too_often_waits_and_others_do_not,
    a_limit_is_worked_off,
    all_holders_of_a_repository_share_a_limit,
    a_refused_question_is_not_counted,
    new_credentials_and_new_branches_share_a_limit,
);
