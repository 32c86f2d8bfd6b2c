//! An expired claim of a task is announced once, by a sweep if by nobody before, and none is lost from the list of due
//! repositories.

use coord_state::expiry::keys::{DUE, marked};
use coord_state::expiry::settle_due;
use coord_state::sweep::sweep;
use coord_teams_state::tasks::{keys, settle_lapses};

use crate::stores::due::list;
use crate::world::World;
use crate::world::team::{Mate, claimed, titled};

impl World {
    /// The tasks of the events `task_lapsed`, in their order.
    async fn expired_tasks(&self) -> Vec<String> {
        let events = self.events_of_type("task_lapsed").await;
        let task = |event: &serde_json::Value| event["task"].as_str().unwrap().to_owned();
        events.iter().map(task).collect()
    }

    /// Returns the time when the first claim of the team expires, according to the index.
    async fn first_expiry(&self) -> Option<i64> {
        let index = keys::lapses(&self.repo);
        self.command(["ZSCORE", &index, "alpha"]).await.as_int()
    }

    /// That the claim of `id` is announced sooner or later, by sweeps alone, and once.
    async fn assert_expiry_is_announced(&self, mate: &Mate<'_>, id: &str) {
        mate.expire_claim(id).await;
        for _ in 0..3 {
            self.let_time_pass().await;
            self.sweeps().await;
        }
        let found = self.expired_tasks().await.into_iter().filter(|task| task == id).count();
        assert_eq!(found, 1, "{:?}", self.due().await);
    }
}

async fn a_sweep_announces_an_expired_claim_once_and_frees_its_task(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    // A team without claims is nothing to sweep.
    assert_eq!(world.due().await, list(&[]));
    bob.claims("t1").await.unwrap();
    lead.claims("t2").await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    bob.expire_claim("t1").await;
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await.expired, 1);
    assert_eq!(world.expired_tasks().await, ["t1"]);
    let record = bob.task("t1").await.record;
    assert_eq!((record.owner, record.lapses), (None, 1));
    assert_eq!(record.had.as_deref(), Some("bob"));
    // The other claim is what is due next.
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await.expired, 0);
    let again = claimed(lead.takes_next().await.unwrap());
    assert_eq!(again.task.task.id, "t1");
    assert_eq!(world.expired_tasks().await.len(), 1);
}

async fn the_sweep_does_not_announce_what_a_request_has_settled(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.expire_claim("t1").await;
    lead.claims("t1").await.unwrap();
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await.expired, 0);
    assert_eq!(world.expired_tasks().await, ["t1"]);
    // The index is exact again.
    let due = world.command(["ZSCORE", DUE, world.repo.as_str()]).await.as_int();
    assert_eq!(due, world.first_expiry().await);
}

async fn many_claims_are_settled_in_bounded_runs_and_a_sweep_that_dies_between_them_loses_none(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b", "c", "d", "e"].map(titled)).await.unwrap();
    for id in ["t1", "t2", "t3", "t4", "t5"] {
        bob.claims(id).await.unwrap();
        bob.expire_claim(id).await;
    }
    world.let_time_pass().await;
    // It takes the repository, finds the team, settles a part, and dies.
    world.take().await.unwrap();
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    assert_eq!(swept.due.len(), 1);
    let settled = settle_lapses(&*world.store, &world.repo, &bob.team, 2).await.unwrap();
    assert_eq!((settled, world.expired_tasks().await.len()), (2, 2));
    world.let_time_pass().await;
    let report = world.sweeps().await;
    assert_eq!((report.expired, report.is_complete), (3, true));
    let mut lapsed = world.expired_tasks().await;
    lapsed.sort();
    assert_eq!(lapsed, ["t1", "t2", "t3", "t4", "t5"]);
    assert_eq!(world.first_expiry().await, None);
    assert_eq!(world.due().await, list(&[("idle:REPO", false)]));
    world.let_time_pass().await;
    world.sweeps().await;
    assert_eq!(world.due().await, list(&[]));
}

async fn a_claim_while_a_sweep_looks_and_in_its_last_look_is_kept(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b", "c"].map(titled)).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.expire_claim("t1").await;
    world.let_time_pass().await;
    let taken = world.take().await.unwrap();
    settle_lapses(&*world.store, &world.repo, &bob.team, 500).await.unwrap();
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    assert_eq!(swept.next_expiry, None);
    bob.claims("t2").await.unwrap();
    settle_due(&*world.store, &taken, swept.next_expiry).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false), ("idle:REPO", false)]));
    world.assert_expiry_is_announced(&bob, "t2").await;

    world.command(["DEL", DUE]).await;
    world.command(["ZADD", DUE, "1", &format!("idle:{}", world.repo)]).await;
    let taken = world.take().await.unwrap();
    assert!(taken.is_last_look);
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    bob.claims("t3").await.unwrap();
    settle_due(&*world.store, &taken, swept.next_expiry).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.assert_expiry_is_announced(&bob, "t3").await;
}

async fn a_claim_is_marked_before_it_is_made_and_a_refused_one_leaves_nothing(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    let mark = async || world.command(["GET", &marked(&world.repo)]).await.as_int();
    bob.claims("none").await.unwrap_err();
    assert_eq!((world.due().await, mark().await), (list(&[]), None));
    bob.claims_for("t1", 900).await.unwrap();
    let late = mark().await.unwrap();
    // While there is a mark that is early enough, a claim puts nothing on the list.
    world.command(["DEL", DUE]).await;
    lead.claims_for("t2", 1000).await.unwrap();
    assert_eq!((world.due().await, mark().await), (list(&[]), Some(late)));
    lead.releases("t2", "").await.unwrap();
    // One that ends before does, also where it shortens its own.
    lead.claims_for("t2", 100).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.command(["DEL", DUE]).await;
    bob.claims_for("t1", 30).await.unwrap();
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    let first = world.first_expiry().await.unwrap();
    assert!(first <= late - 800, "{first} {late}");
    // A lock and a claim keep the repository on the list for each other.
    world.agent("ann").writes(&["a.ts"]).await;
    world.assert_expiry_is_announced(&bob, "t1").await;
    world.assert_lock_is_found("a.ts").await;
}

async fn a_deleted_team_leaves_nothing_to_sweep(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    lead.claims("t1").await.unwrap();
    lead.expire_claim("t1").await;
    lead.deletes_team().await.unwrap();
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await.expired, 0);
    assert_eq!(world.first_expiry().await, None);
    assert_eq!(world.due().await, list(&[("idle:REPO", false)]));
}

scenarios!(
    a_sweep_announces_an_expired_claim_once_and_frees_its_task,
    the_sweep_does_not_announce_what_a_request_has_settled,
    many_claims_are_settled_in_bounded_runs_and_a_sweep_that_dies_between_them_loses_none,
    a_claim_while_a_sweep_looks_and_in_its_last_look_is_kept,
    a_claim_is_marked_before_it_is_made_and_a_refused_one_leaves_nothing,
    a_deleted_team_leaves_nothing_to_sweep,
);
