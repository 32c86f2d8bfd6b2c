//! The admission of every request, and the memory of verified credentials.

use std::time::Duration;

use coord_domain::LockMode::Writing;
use coord_domain::{CommitSha, Holder, LockReason, Member, NeighborPolicy, UserId};
use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, ReportedHead, admit, forget, recall, remember};
use coord_state::locks::{
    ClaimOutcome, ClaimTerms, GateTerms, PolicyTerms, Release, ReleaseOutcome, Survey, check_status, claim, release,
};
use coord_store::StoreError;

use crate::world::{World, file_paths};

/// A credential, by its hash.
const CREDENTIAL: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const DAY: Duration = Duration::from_secs(86_400);

/// Where nothing of the head is asked of anybody.
pub fn entry_of<'a>(world: &'a World, holder: &'a Holder, rates: Rates) -> AdmissionTerms<'a> {
    AdmissionTerms {
        rates,
        ..AdmissionTerms::of(&world.repo, &world.branch, holder, None, &[])
    }
}

pub async fn try_entry(world: &World, entry: &AdmissionTerms<'_>) -> Admitted<ReportedHead> {
    let admitted = admit(&*world.store, entry, state::Read::nothing()).await.unwrap();
    admitted.map(|(head, _)| head)
}

/// A check for writing, once, by these terms and without intents.
pub async fn check_once(
    world: &World,
    terms: &AdmissionTerms<'_>,
    paths: &[impl AsRef<str>],
) -> Result<Admitted<Survey>, StoreError> {
    let policy = PolicyTerms::of(NeighborPolicy::Block);
    check_status(
        &*world.store,
        terms,
        &file_paths(paths),
        Writing,
        &policy,
        &GateTerms::NONE,
    )
    .await
}

/// A claim for writing of an agent at `head`, once, by these terms and without intents.
pub async fn claim_once(
    world: &World,
    terms: &AdmissionTerms<'_>,
    head: &CommitSha,
    paths: &[impl AsRef<str>],
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    let wanted = ClaimTerms {
        mode: Writing,
        policy: &PolicyTerms::of(NeighborPolicy::Block),
        agent_head: head,
        message: &LockReason::parse("Rewriting the parser").unwrap(),
        ttl_seconds: 300,
        wait_seconds: 0,
        claimed: &world.claimed,
        take_over: None,
        paths: &file_paths(paths),
        gate: GateTerms::NONE,
    };
    claim(&*world.store, terms, &wanted).await
}

/// A release without a push, once, by these terms.
pub async fn abandon_once(
    world: &World,
    terms: &AdmissionTerms<'_>,
    head: &CommitSha,
    paths: &[impl AsRef<str>],
) -> Result<Admitted<ReleaseOutcome>, StoreError> {
    let wanted = Release {
        new_head: None,
        agent_head: head,
        is_abandoned: true,
        message: &LockReason::parse("Throwing it away").unwrap(),
        paths: &file_paths(paths),
        can_ask: false,
        judged_files: &[],
    };
    release(&*world.store, terms, &wanted).await
}

fn member(can_push: bool) -> Member {
    Member {
        user_id: UserId::parse("octo\"cat").unwrap(),
        user_name: "The \"Octo\u{e9}\" Cat".to_owned(),
        can_push,
        is_owner: can_push,
    }
}

impl World {
    async fn recalls(&self) -> Option<(Member, Duration)> {
        let credentials = [(self.repo.clone(), CREDENTIAL.to_owned())];
        let found = recall(&*self.store, &credentials, DAY).await.unwrap();
        found.into_iter().next().unwrap()
    }

    async fn remembers(&self, member: &Member) {
        remember(&*self.store, &self.repo, CREDENTIAL, member, DAY)
            .await
            .unwrap();
    }
}

async fn a_verified_credential_is_remembered_with_its_age_for_a_day(world: World) {
    assert_eq!(world.recalls().await, None);
    for can_push in [false, true] {
        world.remembers(&member(can_push)).await;
        let (remembered, age) = world.recalls().await.unwrap();
        assert_eq!(remembered, member(can_push));
        assert!(age <= Duration::from_secs(2), "{age:?}");
    }
    let key = state::admission::keys::identity(&world.repo, CREDENTIAL);
    world.command(["EXPIRE", &key, "86000"]).await;
    let (_, age) = world.recalls().await.unwrap();
    assert!((400..=402).contains(&age.as_secs()), "{age:?}");
    forget(&*world.store, &world.repo, CREDENTIAL).await.unwrap();
    assert_eq!(world.recalls().await, None);
}

async fn records_of_another_version_are_ignored(world: World) {
    let key = state::admission::keys::identity(&world.repo, CREDENTIAL);
    for text in [
        "{\"refused\":\"no\",\"is_known\":true}",
        "no JSON",
        "{\"user_id\":\"a b\",\"user_name\":\"\",\"can_push\":true}",
    ] {
        world.command(["SET", &key, text, "EX", "300"]).await;
        assert_eq!(world.recalls().await, None, "{text}");
    }
}

/// A credential of one repository does not count in another.
async fn verdicts_are_read_many_at_once_and_answered_in_order(world: World) {
    let other = world.beside();
    world.remembers(&member(true)).await;
    assert_eq!(other.recalls().await, None);
    other.remembers(&member(false)).await;
    let credentials = [
        (&world, "made-up"),
        (&other, CREDENTIAL),
        (&world, CREDENTIAL),
        (&other, "made-up"),
        (&world, CREDENTIAL),
    ]
    .map(|(world, credential)| (world.repo.clone(), credential.to_owned()));
    let found = recall(&*world.store, &credentials, DAY).await.unwrap();
    let rights: Vec<Option<bool>> = found
        .iter()
        .map(|found| found.as_ref().map(|(member, _)| member.can_push))
        .collect();
    assert_eq!(rights, [None, Some(false), Some(true), None, Some(true)]);
}

on_every_store!(
    a_verified_credential_is_remembered_with_its_age_for_a_day,
    records_of_another_version_are_ignored,
    verdicts_are_read_many_at_once_and_answered_in_order,
);
