//! What every question passes: who asks, and what they may do.

use coord::domain::{Claim, FilePath, Message, NeighborPolicy, UserId};
use coord::store::keys;
use coord::store::scripts::{self, Entered, Entry, HeadTerms, Rates, Remembered, SeenHead, Stop, Who, enter, remember};

use crate::world::{HEAD, World, answered, sha, stopped};

/// A credential, by its hash.
pub const CREDENTIAL: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Where nothing of the head is asked of anybody.
pub fn entry_of<'a>(world: &'a World, who: Who<'a>, rates: Rates) -> Entry<'a> {
    Entry {
        repo: &world.repo,
        branch: &world.branch,
        who,
        rates,
        head: HeadTerms::Stored,
        known_commits: &[],
    }
}

pub fn shown(credential: &str, needs_push: bool) -> Who<'_> {
    Who::Remembered {
        credential,
        agent_id: "one",
        needs_push,
    }
}

pub async fn try_entry(world: &World, entry: &Entry<'_>) -> Entered<SeenHead> {
    let entered = enter(&*world.store, entry, Vec::new()).await.unwrap();
    entered.map(|(head, _)| head)
}

async fn a_credential_is_verified_once_and_counts_for_what_it_may_do(world: World) {
    world.records_head(HEAD, &[]).await;
    let reads = entry_of(&world, shown(CREDENTIAL, false), Rates::NONE);
    let pushes = entry_of(&world, shown(CREDENTIAL, true), Rates::NONE);
    for entry in [&reads, &pushes] {
        assert_eq!(stopped(try_entry(&world, entry).await), Stop::Unverified);
    }
    let login = UserId::parse("octo\"cat").unwrap();
    let member = |can_push| Remembered::Member {
        user_id: &login,
        user_name: "The \"Octo\u{e9}\" Cat",
        can_push,
    };
    remember(&*world.store, &world.repo, CREDENTIAL, &member(false), 300)
        .await
        .unwrap();
    assert_eq!(answered(try_entry(&world, &reads).await).commit, sha(HEAD));
    let user_id = login.to_string();
    assert_eq!(stopped(try_entry(&world, &pushes).await), Stop::NoPush { user_id });
    let ttl = world.number(["TTL", &keys::identity(&world.repo, CREDENTIAL)]).await;
    assert!((290..=300).contains(&ttl), "{ttl}");

    remember(&*world.store, &world.repo, CREDENTIAL, &member(true), 300)
        .await
        .unwrap();
    let known = [sha(HEAD)];
    let entry = Entry {
        known_commits: &known,
        ..pushes
    };
    let wanted = scripts::Wanted {
        claim: Claim::Writing,
        policy: NeighborPolicy::Block,
        agent_head: &known[0],
        message: &Message::parse("Rewriting the parser").unwrap(),
        ttl_seconds: 300,
        paths: &[FilePath::parse("a.ts").unwrap()],
    };
    answered(scripts::claim(&*world.store, &entry, &wanted).await.unwrap());
    let stored = world.stored("a.ts").await.remove(0);
    assert_eq!(
        (
            stored.user_id.as_str(),
            stored.user_name.as_str(),
            stored.agent_id.as_deref()
        ),
        ("octo\"cat", "The \"Octo\u{e9}\" Cat", Some("one"))
    );
}

async fn a_credential_that_does_not_count_is_remembered_too(world: World) {
    let entry = entry_of(&world, shown(CREDENTIAL, false), Rates::NONE);
    for is_known in [false, true] {
        let why = "no: \"{}\"\n";
        let refused = Remembered::Refused { is_known, why };
        remember(&*world.store, &world.repo, CREDENTIAL, &refused, 30)
            .await
            .unwrap();
        let why = why.to_owned();
        assert_eq!(
            stopped(try_entry(&world, &entry).await),
            Stop::Refused { is_known, why }
        );
    }
}

async fn what_counts_in_one_repository_does_not_in_another(world: World) {
    let other = World::over(world.store.clone(), None);
    other.records_head(HEAD, &[]).await;
    let login = UserId::parse("octocat").unwrap();
    let member = Remembered::Member {
        user_id: &login,
        user_name: "octocat",
        can_push: true,
    };
    remember(&*world.store, &world.repo, CREDENTIAL, &member, 300)
        .await
        .unwrap();
    let entry = entry_of(&other, shown(CREDENTIAL, false), Rates::NONE);
    assert_eq!(stopped(try_entry(&other, &entry).await), Stop::Unverified);
}

on_every_store!(
    a_credential_is_verified_once_and_counts_for_what_it_may_do,
    a_credential_that_does_not_count_is_remembered_too,
    what_counts_in_one_repository_does_not_in_another,
);
