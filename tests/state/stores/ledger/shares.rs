//! A login has a share of the ledger: it pushes nobody's lines out.

use coord_intents_state::ledger::RecordedEvent;
use coord_state::admission::{Admitted, Denial, LimitSubject};
use coord_store::Request;

use super::record::call;
use crate::world::{World, denial_of};

/// Some lines of one request.
fn calls(name: &str, count: usize) -> Vec<RecordedEvent> {
    (0..count).map(|index| call(&format!("{name}.{index}"))).collect()
}

async fn a_login_that_used_its_share_is_limited_and_others_are_not(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    bob.records(&calls("b", 1)).await;
    world.seals(600).await;
    let mut recorded = 0;
    let denial = loop {
        // Other agents of the login have the same share.
        let agent = world.agent(&format!("ann/{recorded}"));
        match agent.try_record(None, false, &calls(&format!("a{recorded}"), 30)).await {
            Admitted::Outcome(_) => recorded += 30,
            denied @ Admitted::Denied(_) => break denial_of(denied),
        }
    };
    // Half of 600, the lines that are kept.
    assert_eq!(recorded, 300);
    let Denial::Limited {
        retry_after_seconds,
        whose: LimitSubject::Ledger,
    } = denial
    else {
        panic!("{denial:?}");
    };
    // 30 lines, of which 300 come back in a day.
    assert!((8_500..=8_640).contains(&retry_after_seconds), "{retry_after_seconds}");
    assert_eq!(world.lines().await.len(), 301, "a refused request has recorded nothing");
    denial_of(ann.try_record(None, false, &calls("one", 1)).await);
    bob.records(&calls("c", 30)).await;
}

async fn a_login_that_is_alone_has_no_share_and_trims_its_own_lines(world: World) {
    let ann = world.agent("ann");
    ann.records(&calls("first", 1)).await;
    world.seals(300).await;
    for number in 0..20 {
        ann.records(&calls(&format!("a{number}"), 30)).await;
    }
    // Its own go as soon as there are too many.
    assert_eq!(world.seals(300).await.base.point.seq, 512);
    assert_eq!(world.verdict().await.damage, None);
}

async fn young_lines_of_several_logins_stay_and_old_ones_go(world: World) {
    let key = coord_intents_state::ledger::keys::ledger(&world.repo);
    let old =
        (1..=256).map(|number| Request::command(["XADD", &key, &format!("1000-{number}"), "line", "{\"old\":1}"]));
    world.store.run(old.collect()).await.unwrap();
    world.agent("ann").records(&calls("a", 1)).await;
    world.agent("bob").records(&calls("b", 1)).await;
    world.appends(1, 700).await;
    assert_eq!(world.seals(300).await.base.point.seq, 256, "these were a day old");
    world.appends(701, 400).await;
    assert_eq!(world.seals(300).await.base.point.seq, 256, "the others are not");
    // The most that a ledger may have.
    world.appends(1101, 500).await;
    let seal = world.seals(300).await;
    assert!(seal.base.point.seq > 256 && seal.sealed.point.seq - seal.base.point.seq <= 1200 + 256);
    assert_eq!(world.verdict().await.damage, None);
}

on_every_store!(
    a_login_that_used_its_share_is_limited_and_others_are_not,
    a_login_that_is_alone_has_no_share_and_trims_its_own_lines,
    young_lines_of_several_logins_stay_and_old_ones_go,
);
