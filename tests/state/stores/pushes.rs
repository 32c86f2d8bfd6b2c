//! `push_head`: what a webhook tells, in and out of order.

use coord_domain::{CommitSha, RepoId};
use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, HeadQuestion, Question};
use coord_state::heads::{PushOutcome, PushedHead, push_head, record_delivered_name};

use crate::stores::admission::{entry_of, try_entry};
use crate::world::{HEAD, LOCAL, NEXT, World, aged, sha};

use PushOutcome::{AskSource, Moved, Unchanged, Unused};

impl World {
    async fn is_pushed(&self, before: Option<&str>, after: Option<&str>, pushed_at: i64) -> PushOutcome {
        self.is_pushed_with(before, after, pushed_at, false).await
    }

    async fn is_pushed_with(
        &self,
        before: Option<&str>,
        after: Option<&str>,
        pushed_at: i64,
        is_reset: bool,
    ) -> PushOutcome {
        let (before, after) = (before.map(sha), after.map(sha));
        let commits: Vec<CommitSha> = after.iter().cloned().collect();
        let push = PushedHead {
            before: before.as_ref(),
            after: after.as_ref(),
            commits: &commits,
            is_reset,
            pushed_at,
        };
        push_head(&*self.store, &self.repo, &self.branch, &push).await.unwrap()
    }

    pub(super) async fn head_field(&self, field: &str) -> String {
        let value = self.command(["HGET", &self.head_key(), field]).await;
        value.as_str().unwrap().to_owned()
    }

    /// Whether a question finds the head old, by the age that is usual.
    pub async fn head_is_due(&self) -> bool {
        let ann = self.agent("ann").holder;
        let entry = AdmissionTerms {
            head: aged(10, None),
            ..entry_of(self, &ann, Rates::NONE)
        };
        matches!(
            try_entry(self, &entry).await,
            Admitted::Denied(Denial::Question(Question::Head(HeadQuestion::Refresh { .. })))
        )
    }
}

async fn a_renamed_repository_is_recognized_once_by_its_number(world: World) {
    let named = |name: &str| RepoId::parse(&format!("https://github.com/acme/{name}")).unwrap();
    let (old, new, other) = (named("gizmos"), named("widgets"), named("shop"));
    let note = async |repo: &RepoId, number: u64| record_delivered_name(&*world.store, repo, number).await.unwrap();
    assert_eq!(note(&old, 7).await, None);
    assert_eq!(note(&old, 7).await, None);
    assert_eq!(note(&other, 70).await, None);
    assert_eq!(note(&new, 7).await, Some(old));
    assert_eq!(note(&new, 7).await, None);
    let elsewhere = RepoId::parse("https://git.example.com/acme/gizmos").unwrap();
    assert_eq!(note(&elsewhere, 7).await, None, "of another host");
    let key = state::heads::keys::delivered_name(&new, 7);
    assert!(world.number(["PTTL", &key]).await > 80 * 86_400_000);
}

async fn a_push_moves_the_head_and_is_announced(world: World) {
    let now = world.now().await;
    assert_eq!(world.is_pushed(Some(HEAD), Some(NEXT), now).await, Unused);
    world.records_head(HEAD, &[HEAD, LOCAL]).await;
    assert_eq!(world.is_pushed(Some(HEAD), Some(NEXT), now + 1).await, Moved);
    assert_eq!(world.head_field("commit").await, NEXT);
    assert_eq!(world.head_field("origin").await, "webhook");
    assert_eq!(world.head_field("recent").await, format!("{NEXT} {HEAD} {LOCAL}"));
    let event = world.last_event().await;
    assert_eq!(
        (event["type"].as_str(), event["head"].as_str()),
        (Some("head_moved"), Some(NEXT))
    );
    let doubled = world.is_pushed(Some(HEAD), Some(NEXT), now + 1).await;
    assert_eq!(doubled, Unchanged);
    assert_eq!(world.events().await.len(), 2);
}

async fn a_reset_branch_has_only_the_new_commits(world: World) {
    world.records_head(HEAD, &[HEAD, LOCAL]).await;
    let at = world.now().await + 1;
    assert_eq!(world.is_pushed_with(Some(HEAD), Some(NEXT), at, true).await, Moved);
    assert_eq!(world.head_field("recent").await, NEXT);
}

async fn a_delivery_that_does_not_follow_moves_nothing(world: World) {
    let now = world.now().await;
    world.records_head(HEAD, &[HEAD]).await;
    assert_eq!(world.is_pushed(Some(HEAD), Some(NEXT), now + 1).await, Moved);
    assert!(!world.head_is_due().await);
    for (before, after, pushed_at, why) in [
        (Some(LOCAL), Some(HEAD), now + 5, "something is missing between"),
        (Some(NEXT), None, now + 5, "the branch was deleted"),
        (None, Some(LOCAL), now + 5, "the branch was made anew"),
        (Some(NEXT), Some(LOCAL), now + 1, "not younger than what is known"),
        (Some(NEXT), Some(LOCAL), now - 500, "sent again"),
    ] {
        assert_eq!(world.is_pushed(before, after, pushed_at).await, AskSource, "{why}");
        assert_eq!(world.head_field("commit").await, NEXT, "{why}");
        assert!(world.head_is_due().await, "{why}");
        // A deletion is looked at twice, and everything else once.
        if after.is_some() {
            assert_eq!(world.is_pushed(before, after, pushed_at).await, Unchanged, "{why}");
        }
    }
}

async fn repeated_deliveries_cause_one_source_request_each(world: World) {
    let now = world.now().await;
    world.records_head(HEAD, &[HEAD]).await;
    let source_requests = async || {
        let mut source_requests = 0;
        for number in 0..200 {
            let after = format!("{number:040x}");
            let pushed = world.is_pushed(Some(LOCAL), Some(&after), now - 1_000 + number).await;
            source_requests += usize::from(pushed == AskSource);
        }
        source_requests
    };
    assert_eq!(source_requests().await, 200);
    assert_eq!(source_requests().await, 0);
    let stored = world.head_field("asked_for").await;
    assert!(stored.len() < 5_000, "{}", stored.len());
}

/// The branch is pushed to NEXT, and back to HEAD by force; then the first delivery is sent once more.
async fn a_push_that_was_undone_does_not_come_back(world: World) {
    let now = world.now().await;
    world.records_head(HEAD, &[HEAD]).await;
    assert_eq!(world.is_pushed(Some(HEAD), Some(NEXT), now + 1).await, Moved);
    assert_eq!(world.is_pushed_with(Some(NEXT), Some(HEAD), now + 2, true).await, Moved);
    // Also a push that no webhook delivered, from before the source itself named HEAD.
    for pushed_at in [now + 1, now - 1] {
        assert_eq!(world.is_pushed(Some(HEAD), Some(NEXT), pushed_at).await, AskSource);
        assert_eq!(world.head_field("commit").await, HEAD);
    }
}

async fn heads_are_not_requested_while_a_webhook_delivers_them(world: World) {
    let now = world.now().await;
    world.records_head(HEAD, &[HEAD]).await;
    assert_eq!(world.is_pushed(Some(HEAD), Some(NEXT), now + 1).await, Moved);
    world.age_head(600).await;
    assert!(!world.head_is_due().await, "ten minutes are nothing");
    world.age_head(3_700).await;
    assert!(world.head_is_due().await, "but an hour is asked about");

    // A move that no webhook delivered: it is not relied on any more.
    world.records_head(LOCAL, &[]).await;
    assert!(!world.head_is_due().await);
    world.age_head(11).await;
    assert!(world.head_is_due().await);
}

on_every_store!(
    a_renamed_repository_is_recognized_once_by_its_number,
    a_push_moves_the_head_and_is_announced,
    a_reset_branch_has_only_the_new_commits,
    a_delivery_that_does_not_follow_moves_nothing,
    repeated_deliveries_cause_one_source_request_each,
    a_push_that_was_undone_does_not_come_back,
    heads_are_not_requested_while_a_webhook_delivers_them,
);
