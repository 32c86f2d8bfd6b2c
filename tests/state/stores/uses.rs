//! A process learns which features a repository uses: until then its requests have no keys for them.

use coord_domain::LockMode::Writing;
use coord_intents::intent::Intent;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Denial};

use super::admission::check_once;
use super::gate::intent;
use super::limits::of_holder;
use crate::world::{World, answered, denial_of};

fn owning(id: &str) -> Intent {
    intent(id, "src/**", None)
}

/// Another process began to use intents: this one learns it from the next request, of each kind, and loses nothing.
async fn a_repository_that_begins_to_use_intents_is_called_again_with_all_keys(world: World) {
    let before = world.agent("bob");
    before.writes(&["src/b.ts"]).await;
    world.begins(owning("a")).await;
    world.agent("ann").citing("a").writes(&["src/a.ts"]).await;
    world.expire_locks(&["src/a.ts"]).await;
    for name in ["check", "claim", "release"] {
        let mut bob = world.agent("bob");
        bob.uses = state::admission::RememberedUses::default().of(&world.repo);
        match name {
            "check" => assert_eq!(bob.checks(Writing, &["src/a.ts"]).await.gate.findings.len(), 1),
            "claim" => assert_eq!(bob.is_refused_by_gate(&["src/a.ts"]).await, ["FILE_OWNED a src/a.ts"]),
            _ => assert_eq!(bob.abandons(&["src/b.ts"]).await.released, ["src/b.ts"]),
        }
        let known = format!("{:?}", bob.uses);
        assert!(known.contains("true"), "{name}: {known}");
    }
}

/// The second call of one request is not counted.
async fn a_second_call_with_all_keys_counts_once(world: World) {
    world.begins(owning("a")).await;
    let bob = world.agent("bob");
    let known = [bob.head.clone()];
    let terms = AdmissionTerms {
        rates: of_holder(1),
        ..bob.entry(&known)
    };
    let check = async || check_once(&world, &terms, &["c.ts"]).await.unwrap();
    answered(check().await);
    assert!(matches!(denial_of(check().await), Denial::Limited { .. }));
}

on_every_store!(
    a_repository_that_begins_to_use_intents_is_called_again_with_all_keys,
    a_second_call_with_all_keys_counts_once,
);
