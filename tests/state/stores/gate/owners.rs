//! Files that intents own.

use coord_domain::LockMode::Writing;
use coord_intents::intent::{Intent, Status};
use coord_state::admission::{Denial, FullPart};
use serde_json::{Value as Json, json};

use super::{ORIGIN, found, intent};
use crate::world::{World, answered, denial_of};

fn on_branch(id: &str, branch: &str) -> Intent {
    Intent {
        branch: Some(branch.to_owned()),
        ..intent(id, "src/**", None)
    }
}

const FILE: &[&str] = &["src/a.ts"];

impl World {
    /// Writes what is stored of the owners of a file.
    async fn stores_owners(&self, path: &str, owners: Json) {
        let key = coord_intents_state::intents::keys::owners(&self.repo);
        self.command(["HSET", &key, path, &owners.to_string()]).await;
    }
}

// rule: locks#owner
// rule: intents#claims
async fn an_intent_owns_what_it_has_claimed_until_it_ends(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    world.begins(intent("b", "src/**", None)).await;
    world.agent("ann").citing("a").writes(FILE).await;
    assert_eq!(world.owners_of_gate(FILE[0]).await, json!([{ "intent": "a" }]));
    // Beyond the lock, for another holder of the same intent and for nobody else.
    world.expire_locks(FILE).await;
    world.agent("ann/two").citing("a").writes(FILE).await;
    world.expire_locks(FILE).await;
    let refused = ["FILE_OWNED a src/a.ts"];
    assert_eq!(world.agent("bob").citing("b").is_refused_by_gate(FILE).await, refused);
    assert_eq!(
        world.agent("bob").is_refused_by_gate(FILE).await,
        refused,
        "without an intent"
    );
    world.agent("bob").reads(FILE).await;
    world.agent("bob").abandons(FILE).await;
    world.moves("a", Status::Blocked).await;
    assert_eq!(
        world.agent("bob").citing("b").is_refused_by_gate(FILE).await,
        refused,
        "it goes on some day"
    );
    world.moves("a", Status::Abandoned).await;
    world.agent("cem").writes(FILE).await;
    world.agent("cem").abandons(FILE).await;
    world.agent("bob").citing("b").writes(FILE).await;
    assert_eq!(
        world.owners_of_gate(FILE[0]).await,
        json!([{ "intent": "b", "from": "a" }])
    );
}

// rule: locks#idle-owner
async fn an_idle_owner_loses_a_file_to_the_next_claim(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    world.begins(intent("b", "src/**", None)).await;
    world.agent("ann").citing("a").writes(FILE).await;
    world.expire_locks(FILE).await;
    world.silence("a", 28_790_000).await;
    assert_eq!(
        world.agent("bob").is_refused_by_gate(FILE).await,
        ["FILE_OWNED a src/a.ts"]
    );
    world.silence("a", 28_810_000).await;
    let survey = world.agent("bob").writes(FILE).await;
    assert_eq!(found(&survey), ["OWNER_IDLE a src/a.ts"]);
    assert!(survey.gate.findings[0].used >= 28_800);
    assert_eq!(
        world.owners_of_gate(FILE[0]).await,
        json!([{ "intent": "a" }]),
        "none takes none away"
    );
    world.agent("bob").abandons(FILE).await;
    let survey = world.agent("bob").citing("b").writes(FILE).await;
    assert_eq!(found(&survey), ["OWNER_IDLE a src/a.ts"]);
    world.expire_locks(FILE).await;
    assert_eq!(
        world.agent("ann").citing("a").is_refused_by_gate(FILE).await,
        ["FILE_OWNED b src/a.ts"]
    );
}

async fn of_an_allowed_pair_each_takes_what_the_locks_leave(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    world.begins(intent("b", "src/**", None)).await;
    let boss = world.agent("boss");
    let allowed = coord_intents_state::intents::allow_overlap(&*world.store, &boss.entry(&[]), "a", "b", ORIGIN).await;
    answered(allowed.unwrap());
    let (ann, bob) = (world.agent("ann").citing("a"), world.agent("bob").citing("b"));
    ann.writes(FILE).await;
    bob.is_refused(Writing, FILE).await;
    world.expire_locks(FILE).await;
    assert_eq!(found(&bob.writes(FILE).await), [""; 0]);
    assert_eq!(world.owners_of_gate(FILE[0]).await[0]["intent"], "b");
    world.begins(intent("c", "src/**", None)).await;
    world.expire_locks(FILE).await;
    assert_eq!(
        world.agent("cem").citing("c").is_refused_by_gate(FILE).await,
        ["FILE_OWNED b src/a.ts"]
    );
}

async fn owners_are_separate_on_each_branch(world: World) {
    world.begins(on_branch("main-one", "main")).await;
    world.begins(on_branch("other-one", "other")).await;
    world.begins(intent("every", "src/**", None)).await;
    world.agent("ann").citing("main-one").writes(FILE).await;
    world
        .agent("bob")
        .citing("other-one")
        .on_branch("other")
        .writes(FILE)
        .await;
    assert_eq!(
        world.owners_of_gate(FILE[0]).await,
        json!([{ "intent": "main-one", "branch": "main" }, { "intent": "other-one", "branch": "other" }])
    );
    // An intent about every branch has one in common with each, wherever it claims.
    let every = world.agent("cem").citing("every").on_branch("third");
    assert_eq!(
        every.is_refused_by_gate(FILE).await,
        ["FILE_OWNED main-one src/a.ts", "FILE_OWNED other-one src/a.ts"]
    );
    world.agent("dan").on_branch("third").writes(FILE).await;
    assert_eq!(
        world.agent("dan").on_branch("other").is_refused_by_gate(FILE).await,
        ["FILE_OWNED other-one src/a.ts"]
    );
    world.agent("dan").on_branch("third").abandons(FILE).await;
    world.moves("main-one", Status::Completed).await;
    world.moves("other-one", Status::Completed).await;
    every.writes(FILE).await;
    let owners = world.owners_of_gate(FILE[0]).await;
    assert_eq!(
        (owners.as_array().unwrap().len(), &owners[0]["intent"]),
        (1, &json!("every"))
    );
}

// rule: locks#owner
async fn an_abandoned_unchanged_file_is_no_longer_owned(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    let ann = world.agent("ann").citing("a");
    let both = ["src/a.ts", "src/b.ts"];
    ann.writes(&both).await;
    let changed = json!([{ "intent": "a", "hash": "sha256:1" }]);
    world.stores_owners("src/b.ts", changed.clone()).await;
    ann.abandons(&both).await;
    assert_eq!(world.owners_of_gate("src/a.ts").await, Json::Null);
    assert_eq!(world.owners_of_gate("src/b.ts").await, changed, "that was changed");

    // An owner that ended has its file again, and so what was recorded of it.
    world.moves("a", Status::Abandoned).await;
    world.begins(intent("b", "src/**", None)).await;
    let bob = world.agent("bob").citing("b");
    bob.writes(&["src/b.ts"]).await;
    assert_eq!(
        world.owners_of_gate("src/b.ts").await,
        json!([{ "intent": "b", "hash": "sha256:1", "since": "sha256:1", "from": "a" }])
    );
    bob.abandons(&["src/b.ts"]).await;
    assert_eq!(world.owners_of_gate("src/b.ts").await, changed);

    // A file that is released after a push stays the intent's.
    bob.writes(&["src/c.ts"]).await;
    let pushed = coord_sources::Reachable::Yes;
    crate::world::released(bob.release(Some(crate::world::NEXT), pushed, &["src/c.ts"]).await);
    assert_eq!(world.owners_of_gate("src/c.ts").await[0]["intent"], "b");
    // And so does what another claim of another intent has taken meanwhile.
    bob.writes(&["src/d.ts"]).await;
    world.stores_owners("src/d.ts", json!([{ "intent": "c" }])).await;
    bob.abandons(&["src/d.ts"]).await;
    assert_eq!(world.owners_of_gate("src/d.ts").await[0]["intent"], "c");
}

async fn owners_are_bounded(world: World) {
    let branches: Vec<Json> = (0..8)
        .map(|number| json!({ "intent": format!("i{number}"), "branch": format!("b{number}") }))
        .collect();
    for number in 0..8 {
        world
            .begins(on_branch(&format!("i{number}"), &format!("b{number}")))
            .await;
    }
    world.stores_owners(FILE[0], json!(branches)).await;
    world.begins(on_branch("a", "main")).await;
    let ann = world.agent("ann").citing("a");
    let full = denial_of(ann.try_claim(Writing, FILE).await);
    assert_eq!(full, Denial::Full(FullPart::Owners(Some(FILE[0].to_owned()))));
    assert_eq!(world.stored(FILE[0]).await, []);
    let active = json!([{ "intent": "i0", "branch": "b0" }]).to_string();
    world.stores_rows(20_000, &active).await;
    let full = denial_of(ann.try_claim(Writing, &["src/new.ts"]).await);
    assert_eq!(full, Denial::Full(FullPart::Owners(None)));
    assert_eq!(world.stored("src/new.ts").await, []);
    world.assert_index_is_exact().await;
}

async fn files_without_an_active_owner_make_room(world: World) {
    let ended: Vec<Json> = (0..8)
        .map(|number| json!({ "intent": format!("i{number}"), "branch": format!("b{number}"), "hash": "DELETED" }))
        .collect();
    world.begins(on_branch("i0", "b0")).await;
    world.stores_owners(FILE[0], json!(ended)).await;
    world.begins(on_branch("a", "main")).await;
    let ann = world.agent("ann").citing("a");
    ann.writes(FILE).await;
    let rows = world.owners_of_gate(FILE[0]).await;
    let owners: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["intent"].as_str().unwrap())
        .collect();
    assert_eq!(
        owners,
        ["i0", "i2", "i3", "i4", "i5", "i6", "i7", "a"],
        "the oldest that has ended is gone"
    );
    let ended = json!([{ "intent": "i1", "branch": "b1", "hash": "DELETED" }]).to_string();
    world.stores_rows(20_000, &ended).await;
    ann.writes(&["src/new.ts"]).await;
    let key = coord_intents_state::intents::keys::owners(&world.repo);
    let count = world.number(["HLEN", &key]).await;
    assert!((18_000..20_000).contains(&count), "{count}");
    let kept = world.owners_of_gate(FILE[0]).await;
    assert_eq!(kept, rows, "an active intent owns it");
    world.assert_index_is_exact().await;
}

async fn owned_files_are_read_in_parts_and_completely(world: World) {
    let key = coord_intents_state::intents::keys::owners(&world.repo);
    let paths = async || {
        coord_intents_state::intents::owned_paths(&world.repo)
            .run(&*world.store)
            .await
            .unwrap()
    };
    let none = paths().await.owners(&*world.store, &world.repo).await.unwrap();
    assert!(none.is_empty());
    world.stores_rows(2300, &json!([{ "intent": "a" }]).to_string()).await;
    world
        .stores_owners("last.ts", json!([{ "intent": "b", "hash": "DELETED" }]))
        .await;
    let read = paths().await;
    let owners = read.owners(&*world.store, &world.repo).await.unwrap();
    let of_a = owners.values().filter(|rows| rows[0].intent == "a").count();
    assert_eq!((owners.len(), of_a), (2301, 2300));
    assert_eq!(owners["last.ts"][0].hash.as_deref(), Some("DELETED"));
    // A file that has no owner by the time it is read is left out.
    world.command(["HDEL", &key, "last.ts"]).await;
    assert_eq!(read.owners(&*world.store, &world.repo).await.unwrap().len(), 2300);
}

on_every_store!(
    owned_files_are_read_in_parts_and_completely,
    an_intent_owns_what_it_has_claimed_until_it_ends,
    an_idle_owner_loses_a_file_to_the_next_claim,
    of_an_allowed_pair_each_takes_what_the_locks_leave,
    owners_are_separate_on_each_branch,
    an_abandoned_unchanged_file_is_no_longer_owned,
    owners_are_bounded,
    files_without_an_active_owner_make_room,
);
