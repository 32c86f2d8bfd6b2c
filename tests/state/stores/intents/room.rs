//! How many intents there may be, and which make room for others.

use coord_intents::intent::{MAX_INTENTS, Status};
use coord_intents::ledger::State;
use coord_intents_state::intents::{Criteria, SelectOutcome, WriteOutcome, keys};

use super::owners;
use crate::world::World;

// rule: intents#limits
async fn a_repository_has_no_more_than_a_thousand_intents(world: World) {
    let ann = world.agent("ann");
    ann.writes_intent("a").await;
    let key = keys::intents(&world.repo);
    for number in 1..MAX_INTENTS {
        world.command(["HSET", &key, &format!("x{number}"), "{}"]).await;
    }
    assert_eq!(ann.writes_new("b").await, WriteOutcome::Full);
}

async fn the_oldest_ended_intents_make_room_for_new_ones(world: World) {
    let ann = world.agent("ann");
    ann.has("active", Status::InProgress).await;
    for number in 1..MAX_INTENTS {
        let id = format!("i{number}");
        world.agent(&format!("p{}", number / 200)).writes_intent(&id).await;
        if number == 2 {
            ann.allows("active", "i2").await;
        }
        if number % 2 == 0 {
            ann.moves(&id, Status::Abandoned, false, Criteria::Unmet).await;
        }
    }
    world.stores_rows(1, r#"[{"intent":"i2","hash":"DELETED"}]"#).await;
    // They have just ended.
    assert_eq!(ann.writes_new("new").await, WriteOutcome::Full);
    // As if a day had passed since all but the last of them ended.
    let key = keys::intents(&world.repo);
    for number in (2..MAX_INTENTS - 1).step_by(2) {
        let edit = |record: &mut serde_json::Value| {
            record["updated_ms"] = (record["updated_ms"].as_i64().unwrap() - 86_400_001).into();
        };
        world.edit_json(&key, &format!("i{number}"), edit).await;
    }
    let written = WriteOutcome::Written(State::Action);
    assert_eq!(ann.writes_new("new").await, written);
    let registry = ann.registry().await;
    assert_eq!(registry.records.len(), MAX_INTENTS - 99);
    for gone in (2..=200).step_by(2) {
        assert!(!registry.records.contains_key(&format!("i{gone}")), "{gone}");
    }
    assert!(registry.records["active"].may_overlap.is_empty());
    assert!(registry.records.contains_key("i202"));
    let newest = registry.records.values().map(|record| record.order).max();
    assert_eq!(newest, Some(registry.records["new"].order));
    let owned = owners(&world).await;
    let owner = &owned["f0"][0];
    assert_eq!((owner.intent.as_str(), owner.hash.as_deref()), ("", Some("DELETED")));
    // An id that is free again has nothing of the one before.
    assert_eq!(ann.writes_new("i2").await, written);
}

// rule: intents#limits
async fn no_more_than_two_hundred_are_active(world: World) {
    let ann = world.agent("ann");
    for number in 0..200 {
        let writer = world.agent(&format!("p{}", number / 50));
        writer.has(&format!("i{number}"), Status::InProgress).await;
    }
    ann.writes_intent("more").await;
    assert_eq!(ann.selects("more").await, SelectOutcome::Full);
    // A blocked one is active.
    ann.moves("i7", Status::Blocked, false, Criteria::Unmet).await;
    assert_eq!(ann.selects("more").await, SelectOutcome::Full);
    ann.moves("i8", Status::Abandoned, false, Criteria::Unmet).await;
    assert_eq!(ann.selects("more").await, SelectOutcome::Selected(State::Action));
}

async fn a_login_has_a_quarter_of_the_intents(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    for number in 0..50 {
        let agent = world.agent(&format!("ann/{number}"));
        agent.has(&format!("i{number}"), Status::InProgress).await;
    }
    for number in 50..MAX_INTENTS / 4 {
        ann.writes_intent(&format!("i{number}")).await;
    }
    assert_eq!(ann.writes_new("more").await, WriteOutcome::LoginFull);
    assert_eq!(ann.selects("i50").await, SelectOutcome::LoginFull);
    bob.has("of-bob", Status::InProgress).await;
    // Another login begins what is there.
    assert_eq!(bob.selects("i50").await, SelectOutcome::Selected(State::Action));
    ann.moves("i8", Status::Abandoned, false, Criteria::Unmet).await;
    assert_eq!(ann.selects("i51").await, SelectOutcome::Selected(State::Action));
}

on_every_store!(
    a_login_has_a_quarter_of_the_intents,
    a_repository_has_no_more_than_a_thousand_intents,
    the_oldest_ended_intents_make_room_for_new_ones,
    no_more_than_two_hundred_are_active,
);
