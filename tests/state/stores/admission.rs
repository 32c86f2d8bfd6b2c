//! The admission of every request, and the memory of verified credentials.

use std::time::Duration;

use coord_domain::{Holder, UserId};
use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{
    AdmissionTerms, Admitted, HeadTerms, RememberedMember, ReportedHead, USES_EVERYTHING, admit, forget, recall,
    remember,
};

use crate::world::World;

/// A credential, by its hash.
const CREDENTIAL: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const DAY: Duration = Duration::from_secs(86_400);

/// Where nothing of the head is asked of anybody.
pub fn entry_of<'a>(world: &'a World, holder: &'a Holder, rates: Rates) -> AdmissionTerms<'a> {
    AdmissionTerms {
        work_branch: None,
        repo: &world.repo,
        branch: &world.branch,
        holder,
        rates,
        head: HeadTerms::Stored,
        known_commits: &[],
        uses: &USES_EVERYTHING,
    }
}

pub async fn try_entry(world: &World, entry: &AdmissionTerms<'_>) -> Admitted<ReportedHead> {
    let admitted = admit(&*world.store, entry, state::Read::nothing()).await.unwrap();
    admitted.map(|(head, _)| head)
}

fn member(can_push: bool) -> RememberedMember {
    RememberedMember {
        user_id: UserId::parse("octo\"cat").unwrap(),
        user_name: "The \"Octo\u{e9}\" Cat".to_owned(),
        can_push,
        is_owner: can_push,
    }
}

impl World {
    async fn recalls(&self) -> Option<(RememberedMember, Duration)> {
        let credentials = [(self.repo.clone(), CREDENTIAL.to_owned())];
        let found = recall(&*self.store, &credentials, DAY).await.unwrap();
        found.into_iter().next().unwrap()
    }

    async fn remembers(&self, member: &RememberedMember) {
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

async fn a_credential_of_one_repository_does_not_count_in_another(world: World) {
    let other = World::over(world.store.clone(), None);
    world.remembers(&member(true)).await;
    assert_eq!(other.recalls().await, None);
}

async fn verdicts_are_read_many_at_once_and_answered_in_order(world: World) {
    let other = World::over(world.store.clone(), None);
    world.remembers(&member(true)).await;
    other.remembers(&member(false)).await;
    let known = CREDENTIAL.to_owned();
    let credentials = [
        (world.repo.clone(), "made-up".to_owned()),
        (other.repo.clone(), known.clone()),
        (world.repo.clone(), known.clone()),
        (other.repo.clone(), "made-up".to_owned()),
        (world.repo.clone(), known),
    ];
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
    a_credential_of_one_repository_does_not_count_in_another,
    verdicts_are_read_many_at_once_and_answered_in_order,
);
