//! `mark_due`, `take_due`, `settle_due`: whatever happens between a claim and a sweep, a repository that holds a lock is never
//! lost from the list of what is due.

use coord_domain::LockMode::Writing;
use coord_server::sweep::{SweepReport, sweep_due};
use coord_state as state;
use coord_state::admission::Admitted;
use coord_state::expiry::keys::{DUE, DUE_CLAIMS, marked};
use coord_state::expiry::{DueRepository, settle_due, take_due};
use coord_state::sweep::sweep;
use coord_store::Request;
use serde_json::json;

use crate::stores::admission::{entry_of, try_entry};
use crate::stores::limits::of_holder;
use crate::world::{HEAD, NEXT, World, pairs};

impl World {
    /// The list: members without the repository's own name, and whether they are due now.
    pub(super) async fn due(&self) -> Vec<(String, bool)> {
        let list = self.command(["ZRANGE", DUE, "0", "-1", "WITHSCORES"]).await;
        let now = self.now().await;
        let mut list: Vec<_> = pairs(&list)
            .map(|(name, at)| (name.replace(self.repo.as_str(), "REPO"), at.as_int().unwrap() <= now))
            .collect();
        list.sort();
        list
    }

    /// When the repository is due.
    async fn due_at(&self) -> i64 {
        self.number(["ZSCORE", DUE, self.repo.as_str()]).await
    }

    /// Puts the repository on the list for its last look, due now.
    async fn lists_for_last_look(&self) {
        self.command(["ZADD", DUE, "1", &format!("idle:{}", self.repo)]).await;
    }

    /// Makes everything on the list due now, as if the time had come.
    pub(super) async fn let_time_pass(&self) {
        let list = self.command(["ZRANGE", DUE, "0", "-1"]).await;
        for member in list.as_array().unwrap() {
            self.command(["ZADD", DUE, "1000000000", member.as_str().unwrap()])
                .await;
        }
    }

    pub(super) async fn take(&self) -> Option<DueRepository> {
        let mut taken = take_due(&*self.store, 100).await.unwrap();
        assert!(taken.len() <= 1, "{taken:?}");
        taken.pop()
    }

    /// A whole turn of a sweep.
    pub(super) async fn sweeps(&self) -> SweepReport {
        sweep_due(&*self.store, &coord_extensions::registered()).await.unwrap()
    }

    /// Looks and settles, after [`World::take`].
    pub(super) async fn finish(&self, taken: &DueRepository) {
        let swept = sweep(&*self.store, &self.repo, 500).await.unwrap();
        settle_due(&*self.store, taken, swept.next_expiry).await.unwrap();
    }

    /// That the lock on `path` is announced sooner or later, by sweeps alone.
    pub(super) async fn assert_lock_is_found(&self, path: &str) {
        self.expire_locks(&[path]).await;
        for _ in 0..3 {
            self.let_time_pass().await;
            self.sweeps().await;
        }
        assert!(
            self.stored(path).await.is_empty(),
            "the lock on {path} is lost from the list: {:?}",
            self.due().await
        );
        let expired = self.events_of_type("lock_expired").await;
        assert!(expired.iter().any(|event| event["files"][0] == path), "{expired:?}");
    }
}

/// The report of a sweep that finished.
pub(super) fn swept(repositories: u64, expired: u64) -> SweepReport {
    SweepReport {
        repositories,
        expired,
        is_complete: true,
    }
}

pub(super) fn list(members: &[(&str, bool)]) -> Vec<(String, bool)> {
    members
        .iter()
        .map(|(name, is_due)| ((*name).to_owned(), *is_due))
        .collect()
}

async fn a_lock_is_due_when_it_expires_and_forgotten_two_looks_later(world: World) {
    assert_eq!(world.take().await, None);
    world.agent("ann").writes(&["a.ts"]).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    assert_eq!(world.sweeps().await, swept(0, 0));
    world.expire_locks(&["a.ts"]).await;
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await, swept(1, 1));
    assert_eq!(world.due().await, list(&[("idle:REPO", false)]));
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await, swept(1, 0));
    assert_eq!(world.due().await, list(&[]));
}

async fn an_earlier_expiry_moves_the_mark_and_a_later_one_does_not(world: World) {
    let ann = world.agent("ann");
    ann.clone().for_seconds(1000).writes(&["a.ts"]).await;
    let late = world.due_at().await;
    ann.clone().for_seconds(100).writes(&["b.ts"]).await;
    let early = world.due_at().await;
    assert!(early <= late - 899, "{early} {late}");
    ann.for_seconds(2000).writes(&["c.ts"]).await;
    assert_eq!(world.due_at().await, early);
}

async fn a_renewed_lock_is_looked_at_in_vain_once_and_then_when_it_expires(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await.expired, 0);
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    assert_eq!(world.due_at().await, world.stored("a.ts").await[0].free_from());
}

async fn a_claim_while_a_sweep_looks_is_kept(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["old.ts"]).await;
    world.expire_locks(&["old.ts"]).await;
    world.let_time_pass().await;
    let taken = world.take().await.unwrap();
    assert_eq!(world.due().await, list(&[("sweeping:REPO", false)]));
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    assert_eq!((swept.expired, swept.next_expiry), (1, None));
    ann.writes(&["new.ts"]).await;
    settle_due(&*world.store, &taken, swept.next_expiry).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false), ("idle:REPO", false)]));
    world.assert_lock_is_found("new.ts").await;
}

async fn a_claim_that_marked_before_the_sweep_and_landed_after_it_is_kept(world: World) {
    // The two scripts of a claim are not one transaction. Here the mark changes nothing, since the repository is due already;
    // then a whole sweep runs; then the claim itself lands.
    let ann = world.agent("ann");
    ann.writes(&["old.ts"]).await;
    world.expire_locks(&["old.ts"]).await;
    world.let_time_pass().await;
    world.sweeps().await;
    let without_mark = world.due().await;
    assert_eq!(without_mark, list(&[("idle:REPO", false)]));
    ann.writes(&["new.ts"]).await;
    // As if its mark had come before the sweep.
    world.command(["ZREM", DUE, world.repo.as_str()]).await;
    assert_eq!(world.due().await, without_mark);
    world.assert_lock_is_found("new.ts").await;
}

async fn a_last_look_that_finds_a_lock_keeps_the_repository(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    world.command(["DEL", DUE]).await;
    world.lists_for_last_look().await;
    let taken = world.take().await.unwrap();
    assert!(taken.is_last_look);
    world.finish(&taken).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
}

async fn a_claim_during_the_last_look_is_kept(world: World) {
    world.lists_for_last_look().await;
    let taken = world.take().await.unwrap();
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    world.agent("ann").writes(&["a.ts"]).await;
    settle_due(&*world.store, &taken, swept.next_expiry).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.assert_lock_is_found("a.ts").await;
}

async fn a_mark_makes_a_last_look_a_look_like_any_other(world: World) {
    for member in ["REPO", "sweeping:REPO"] {
        world.lists_for_last_look().await;
        let marked = member.replace("REPO", world.repo.as_str());
        world.command(["ZADD", DUE, "2", &marked]).await;
        let taken = world.take().await.unwrap();
        assert!(!taken.is_last_look, "{member}");
        world.finish(&taken).await;
        assert_eq!(world.due().await, list(&[("idle:REPO", false)]));
        world.command(["DEL", DUE]).await;
    }
}

async fn a_sweep_that_dies_loses_nothing(world: World) {
    world.agent("ann").writes(&["a.ts"]).await;
    world.let_time_pass().await;
    world.take().await.unwrap();
    assert_eq!(world.take().await, None, "while its turn lasts, it is nobody else's");
    world.let_time_pass().await;
    let taken = world.take().await.unwrap();
    assert!(!taken.is_last_look);
    world.finish(&taken).await;
    world.assert_lock_is_found("a.ts").await;

    // In its last look, too.
    world.lists_for_last_look().await;
    assert!(world.take().await.unwrap().is_last_look);
    world.let_time_pass().await;
    assert!(!world.take().await.unwrap().is_last_look);
}

async fn two_sweeps_at_once_settle_the_same_repository_without_harm(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    world.let_time_pass().await;
    let slow = world.take().await.unwrap();
    let looked = sweep(&*world.store, &world.repo, 500).await.unwrap();
    world.let_time_pass().await; // The turn of the slow one is over.
    let quick = world.take().await.unwrap();
    world.finish(&quick).await;
    settle_due(&*world.store, &slow, looked.next_expiry).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.assert_lock_is_found("a.ts").await;
}

async fn sweeps_at_one_time_announce_an_expiry_once(world: World) {
    world.agent("ann").writes(&["a.ts", "b.ts"]).await;
    world.expire_locks(&["a.ts", "b.ts"]).await;
    world.let_time_pass().await;
    let extensions = coord_extensions::registered();
    let reports = futures::future::join_all((0..8).map(|_| sweep_due(&*world.store, &extensions))).await;
    let expired: u64 = reports.into_iter().map(|report| report.unwrap().expired).sum();
    assert_eq!(expired, 2);
    assert_eq!(world.events().await.len(), 2, "one grant and one expiry");
}

async fn a_refused_claim_leaves_nothing(world: World) {
    // Nothing is known of the head, the working copy is behind, too many requests came.
    let bob = world.agent("bob");
    bob.clone().without_source().try_claim(Writing, &["a.ts"]).await;
    world.records_head(HEAD, &[]).await;
    bob.clone().at(NEXT).claim(Writing, &["a.ts"]).await;
    let entry = entry_of(&world, &bob.holder, of_holder(1));
    while let Admitted::Outcome(_) = try_entry(&world, &entry).await {}
    assert_eq!(world.due().await, list(&[]));
    assert!(world.command(["GET", &marked(&world.repo)]).await.as_str().is_none());
    // Nor does a claim that the lock of another holder blocks.
    world.agent("ann").writes(&["a.ts"]).await;
    world.command(["DEL", DUE, &marked(&world.repo)]).await;
    bob.is_refused(Writing, &["a.ts"]).await;
    assert_eq!(world.due().await, list(&[]));
}

async fn a_refused_claim_leaves_the_due_marks_of_others(world: World) {
    let repo = world.repo.as_str();
    let run = async |request: Request| world.store.run(vec![request]).await.unwrap();
    // Two claims at once: the first is refused, the second relies on its mark.
    run(mark(repo, 300, "first")).await;
    run(mark(repo, 300, "second")).await;
    run(unmark(repo, "first")).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    run(unmark(repo, "second")).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]), "it was there before");
    world.command(["DEL", DUE]).await;
    // Alone.
    run(mark(repo, 300, "third")).await;
    run(unmark(repo, "fourth")).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    run(unmark(repo, "third")).await;
    assert_eq!(world.due().await, list(&[]));
    assert_eq!(world.number(["EXISTS", DUE_CLAIMS]).await, 0);
    // A lock of another, which a sweep has taken, is settled while a refused claim has its mark there.
    world.agent("ann").writes(&["a.ts"]).await;
    world.let_time_pass().await;
    let taken = world.take().await.unwrap();
    run(mark(repo, 100, "fifth")).await;
    world.finish(&taken).await;
    run(unmark(repo, "fifth")).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.assert_lock_is_found("a.ts").await;
}

fn of_claim(script: &'static coord_store::Script, mut argument: serde_json::Value) -> Request {
    argument["keys"] = json!("due claims");
    Request::Script {
        script,
        keys: vec![DUE.to_owned(), DUE_CLAIMS.to_owned()],
        args: vec![argument.to_string().into_bytes()],
    }
}

/// A run of `mark_due` for this claim.
pub(super) fn mark(repo: &str, ttl: u32, claim: &str) -> Request {
    let argument = json!({ "repository": repo, "ttl": ttl, "claim": claim, "kept_for": 60 });
    of_claim(&state::expiry::scripts::MARK_DUE, argument)
}

/// A run of `unmark_due` for it.
pub(super) fn unmark(repo: &str, claim: &str) -> Request {
    let argument = json!({ "repository": repo, "claim": claim });
    of_claim(&state::expiry::scripts::UNMARK_DUE, argument)
}

on_every_store!(
    a_lock_is_due_when_it_expires_and_forgotten_two_looks_later,
    an_earlier_expiry_moves_the_mark_and_a_later_one_does_not,
    a_renewed_lock_is_looked_at_in_vain_once_and_then_when_it_expires,
    a_claim_while_a_sweep_looks_is_kept,
    a_claim_that_marked_before_the_sweep_and_landed_after_it_is_kept,
    a_last_look_that_finds_a_lock_keeps_the_repository,
    a_claim_during_the_last_look_is_kept,
    a_mark_makes_a_last_look_a_look_like_any_other,
    a_sweep_that_dies_loses_nothing,
    two_sweeps_at_once_settle_the_same_repository_without_harm,
    sweeps_at_one_time_announce_an_expiry_once,
    a_refused_claim_leaves_nothing,
    a_refused_claim_leaves_the_due_marks_of_others,
);
