//! The spending of agents on an intent, and the budget that stops them.

use coord_intents::intent::{Budget, Status};
use coord_intents::ledger::State;
use coord_intents_state::intents::{Limit, UseOutcome};

use super::intent;
use crate::world::World;

async fn costs_are_counted_and_stop_at_their_limit(world: World) {
    let ann = world.agent("ann");
    assert_eq!(ann.uses("a", Some("1"), None).await, UseOutcome::Unknown);
    let mut stored = intent("a");
    stored.intent.budget = Some(Budget {
        max_turns: Some(2),
        max_tokens: Some(100),
        ..Budget::default()
    });
    ann.writes_as(&stored, None, true).await;
    let pending = ann.uses("a", Some("1"), Some(("s", 10))).await;
    assert_eq!(pending, UseOutcome::NotActive(State::Request, Status::Pending));
    ann.selects("a").await;
    let used = |turns, tokens| UseOutcome::Used {
        state: State::Action,
        turns,
        tokens,
        max_turns: Some(2),
        max_tokens: Some(100),
    };
    assert_eq!(ann.uses("a", None, Some(("s", 15))).await, used(0, 15));
    assert_eq!(ann.uses("a", Some("1"), Some(("s", 15))).await, used(1, 15));
    assert_eq!(ann.uses("a", Some("2"), Some(("t", 5))).await, used(2, 20));
    let UseOutcome::Stopped(state, limit, reason) = ann.uses("a", Some("3"), None).await else {
        panic!("it is stopped")
    };
    assert_eq!((state, limit), (State::Action, Limit::Budget));
    assert_eq!(reason, "The budget of intent a is spent: 2 of 2 turns");
    let registry = ann.registry().await;
    let (record, costs) = (&registry.records["a"], &registry.uses["a"]);
    assert_eq!(record.status, Status::Blocked);
    assert_eq!(record.reason.as_ref(), Some(&reason));
    assert_eq!((costs.turns, costs.tokens), (2, 20));
    ann.writes_intent("b").await;
    ann.selects("b").await;
    for _ in 0..3 {
        assert!(matches!(ann.uses("b", Some("1"), None).await, UseOutcome::Used { .. }));
    }
    let UseOutcome::Stopped(state, limit, _) = ann.uses("b", Some("1"), None).await else {
        panic!("it is stopped")
    };
    assert_eq!((state, limit), (State::Action, Limit::Breaker));
    // Each line is of its form.
    world.lines().await;
}

async fn the_totals_of_the_latest_sixteen_sessions_are_kept(world: World) {
    let ann = world.agent("ann");
    ann.has("a", Status::InProgress).await;
    for number in 0..17 {
        ann.uses("a", None, Some((&format!("s{number}"), 10))).await;
    }
    let tokens = async |session: &str| match ann.uses("a", None, Some((session, 10))).await {
        UseOutcome::Used { tokens, .. } => tokens,
        other => panic!("{other:?}"),
    };
    assert_eq!(tokens("s16").await, 170);
    assert_eq!(tokens("s0").await, 180, "it was forgotten");
}

on_every_store!(
    costs_are_counted_and_stop_at_their_limit,
    the_totals_of_the_latest_sixteen_sessions_are_kept,
);
