//! Files that intents own.

use coord_domain::LockMode::Writing;
use coord_intents::intent::{Intent, Status};
use coord_intents_state::intents::{allow_overlap, keys, owned_paths};
use coord_sources::Reachable;
use coord_state::admission::{Denial, FullPart};
use serde_json::{Value as Json, json};

use super::{ORIGIN, found, intent};
use crate::world::{Agent, NEXT, World, answered, denial_of, released};

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
        let key = keys::owners(&self.repo);
        self.command(["HSET", &key, path, &owners.to_string()]).await;
    }

    /// Begins intents that all own what they claim of `src`.
    async fn begin_intents(&self, ids: &[&str]) {
        for id in ids {
            self.begins(intent(id, "src/**", None)).await;
        }
    }
}

/// Asserts that intents refuse a claim of the file, with these findings.
async fn assert_owned(agent: &Agent<'_>, findings: &[&str]) {
    assert_eq!(agent.is_refused_by_gate(FILE).await, findings);
}

// rule: locks#owner
// rule: intents#claims
async fn an_intent_owns_what_it_has_claimed_until_it_ends(world: World) {
    world.begin_intents(&["a", "b"]).await;
    let (bob, bob_in_b) = (world.agent("bob"), world.agent("bob").citing("b"));
    let cem = world.agent("cem");
    world.agent("ann").citing("a").writes(FILE).await;
    assert_eq!(world.owners(FILE[0]).await, json!([{ "intent": "a" }]));
    // Beyond the lock, for another holder of the same intent and for nobody else, with or without an intent.
    world.expire_locks(FILE).await;
    world.agent("ann/two").citing("a").writes(FILE).await;
    world.expire_locks(FILE).await;
    assert_owned(&bob_in_b, &["FILE_OWNED a src/a.ts"]).await;
    assert_owned(&bob, &["FILE_OWNED a src/a.ts"]).await;
    bob.reads(FILE).await;
    bob.abandons(FILE).await;
    // It goes on some day.
    world.moves("a", Status::Blocked).await;
    assert_owned(&bob_in_b, &["FILE_OWNED a src/a.ts"]).await;
    world.moves("a", Status::Abandoned).await;
    cem.writes(FILE).await;
    cem.abandons(FILE).await;
    bob_in_b.writes(FILE).await;
    let owners = json!([{ "intent": "b", "from": "a" }]);
    assert_eq!(world.owners(FILE[0]).await, owners);
}

// rule: locks#idle-owner
async fn an_idle_owner_loses_a_file_to_the_next_claim(world: World) {
    world.begin_intents(&["a", "b"]).await;
    let (ann, bob) = (world.agent("ann").citing("a"), world.agent("bob"));
    ann.writes(FILE).await;
    world.expire_locks(FILE).await;
    world.silence("a", 28_790_000).await;
    assert_owned(&bob, &["FILE_OWNED a src/a.ts"]).await;
    world.silence("a", 28_810_000).await;
    let survey = bob.writes(FILE).await;
    assert_eq!(found(&survey), ["OWNER_IDLE a src/a.ts"]);
    assert!(survey.gate.findings[0].used >= 28_800);
    // A claim without an intent takes none away.
    assert_eq!(world.owners(FILE[0]).await, json!([{ "intent": "a" }]));
    bob.abandons(FILE).await;
    let survey = bob.citing("b").writes(FILE).await;
    assert_eq!(found(&survey), ["OWNER_IDLE a src/a.ts"]);
    world.expire_locks(FILE).await;
    assert_owned(&ann, &["FILE_OWNED b src/a.ts"]).await;
}

async fn of_an_allowed_pair_each_takes_what_the_locks_leave(world: World) {
    world.begin_intents(&["a", "b"]).await;
    let boss = world.agent("boss");
    let allowed = allow_overlap(&*world.store, &boss.entry(&[]), "a", "b", ORIGIN).await;
    answered(allowed.unwrap());
    let (ann, bob) = (world.agent("ann").citing("a"), world.agent("bob").citing("b"));
    ann.writes(FILE).await;
    bob.is_refused(Writing, FILE).await;
    world.expire_locks(FILE).await;
    assert_eq!(found(&bob.writes(FILE).await), [""; 0]);
    assert_eq!(world.owners(FILE[0]).await[0]["intent"], "b");
    world.begin_intents(&["c"]).await;
    world.expire_locks(FILE).await;
    assert_owned(&world.agent("cem").citing("c"), &["FILE_OWNED b src/a.ts"]).await;
}

async fn owners_are_separate_on_each_branch(world: World) {
    world.begins(on_branch("main-one", "main")).await;
    world.begins(on_branch("other-one", "other")).await;
    world.begin_intents(&["every"]).await;
    let bob = world.agent("bob").citing("other-one").on_branch("other");
    world.agent("ann").citing("main-one").writes(FILE).await;
    bob.writes(FILE).await;
    assert_eq!(
        world.owners(FILE[0]).await,
        json!([{ "intent": "main-one", "branch": "main" }, { "intent": "other-one", "branch": "other" }])
    );
    // An intent about every branch has one in common with each, wherever it claims.
    let every = world.agent("cem").citing("every").on_branch("third");
    let (of_main, of_other) = ("FILE_OWNED main-one src/a.ts", "FILE_OWNED other-one src/a.ts");
    assert_owned(&every, &[of_main, of_other]).await;
    let dan = world.agent("dan").on_branch("third");
    dan.writes(FILE).await;
    assert_owned(&dan.clone().on_branch("other"), &[of_other]).await;
    dan.abandons(FILE).await;
    for id in ["main-one", "other-one"] {
        world.moves(id, Status::Completed).await;
    }
    every.writes(FILE).await;
    let owners = world.owners(FILE[0]).await;
    assert_eq!(owners.as_array().unwrap().len(), 1);
    assert_eq!(owners[0]["intent"], "every");
}

// rule: locks#owner
async fn an_abandoned_unchanged_file_is_no_longer_owned(world: World) {
    world.begin_intents(&["a"]).await;
    let ann = world.agent("ann").citing("a");
    let both = ["src/a.ts", "src/b.ts"];
    ann.writes(&both).await;
    let changed = json!([{ "intent": "a", "hash": "sha256:1" }]);
    world.stores_owners("src/b.ts", changed.clone()).await;
    ann.abandons(&both).await;
    assert_eq!(world.owners("src/a.ts").await, Json::Null);
    assert_eq!(world.owners("src/b.ts").await, changed, "that was changed");

    // An owner that ended has its file again, and so what was recorded of it.
    world.moves("a", Status::Abandoned).await;
    world.begin_intents(&["b"]).await;
    let bob = world.agent("bob").citing("b");
    bob.writes(&["src/b.ts"]).await;
    let owners = json!([{ "intent": "b", "hash": "sha256:1", "since": "sha256:1", "from": "a" }]);
    assert_eq!(world.owners("src/b.ts").await, owners);
    bob.abandons(&["src/b.ts"]).await;
    assert_eq!(world.owners("src/b.ts").await, changed);

    // A file that is released after a push stays the intent's.
    bob.writes(&["src/c.ts"]).await;
    released(bob.release(Some(NEXT), Reachable::Yes, &["src/c.ts"]).await);
    assert_eq!(world.owners("src/c.ts").await[0]["intent"], "b");
    // And so does what another claim of another intent has taken meanwhile.
    bob.writes(&["src/d.ts"]).await;
    world.stores_owners("src/d.ts", json!([{ "intent": "c" }])).await;
    bob.abandons(&["src/d.ts"]).await;
    assert_eq!(world.owners("src/d.ts").await[0]["intent"], "c");
}

async fn owners_are_bounded(world: World) {
    let mut branches = Vec::new();
    for number in 0..8 {
        let (id, branch) = (format!("i{number}"), format!("b{number}"));
        world.begins(on_branch(&id, &branch)).await;
        branches.push(json!({ "intent": id, "branch": branch }));
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
    let rows = world.owners(FILE[0]).await;
    let owners: Vec<&Json> = rows.as_array().unwrap().iter().map(|row| &row["intent"]).collect();
    // The oldest that has ended is gone.
    assert_eq!(owners, ["i0", "i2", "i3", "i4", "i5", "i6", "i7", "a"]);
    let ended = json!([{ "intent": "i1", "branch": "b1", "hash": "DELETED" }]).to_string();
    world.stores_rows(20_000, &ended).await;
    ann.writes(&["src/new.ts"]).await;
    let count = world.number(["HLEN", &keys::owners(&world.repo)]).await;
    assert!((18_000..20_000).contains(&count), "{count}");
    assert_eq!(world.owners(FILE[0]).await, rows, "an active intent owns it");
    world.assert_index_is_exact().await;
}

async fn owned_files_are_read_in_parts_and_completely(world: World) {
    let paths = async || owned_paths(&world.repo).run(&*world.store).await.unwrap();
    let none = paths().await.owners(&*world.store, &world.repo).await.unwrap();
    assert!(none.is_empty());
    world.stores_rows(2300, &json!([{ "intent": "a" }]).to_string()).await;
    let last = json!([{ "intent": "b", "hash": "DELETED" }]);
    world.stores_owners("last.ts", last).await;
    let read = paths().await;
    let owners = read.owners(&*world.store, &world.repo).await.unwrap();
    let of_a = owners.values().filter(|rows| rows[0].intent == "a").count();
    assert_eq!((owners.len(), of_a), (2301, 2300));
    assert_eq!(owners["last.ts"][0].hash.as_deref(), Some("DELETED"));
    // A file that has no owner by the time it is read is left out.
    world.command(["HDEL", &keys::owners(&world.repo), "last.ts"]).await;
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
