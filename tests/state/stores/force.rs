//! Locks that are force-released: `force_release.lua`.

use coord_domain::LockMode::{Reading, Writing};
use coord_domain::LockReason;
use coord_state::admission::{Admitted, Denial, ForceReleased};
use coord_state::locks::{ForceReleaseResult, force_release, keys};
use serde_json::json;

use crate::world::{Agent, NO_FILES, World, answered, denial_of, file_paths};

/// Force-releases others' locks on `paths`.
pub(super) async fn forces(agent: &Agent<'_>, paths: &[&str]) -> ForceReleaseResult {
    let (paths, message) = (file_paths(paths), LockReason::parse("The release needs it").unwrap());
    let forced = force_release(&*agent.world.store, &agent.entry(&[]), &message, &paths).await;
    answered(forced.unwrap())
}

fn taken(files: &[&str]) -> Denial {
    Denial::ForceReleased(ForceReleased {
        by: "eve".to_owned(),
        message: "The release needs it".to_owned(),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
    })
}

// rule: locks#force-event
async fn all_locks_of_others_on_the_files_of_the_branch_go(world: World) {
    let (ann, bob, eve) = (world.agent("ann/one"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.clone().on_branch("other").writes(&["a.ts"]).await;
    bob.reads(&["c.ts"]).await;
    eve.reads(&["c.ts"]).await;
    let before = world.events().await.len();
    let forced = forces(&eve, &["a.ts", "c.ts", "none.ts"]).await;
    let locks: Vec<_> = forced
        .locks
        .iter()
        .map(|lock| (lock.file_path.as_str(), lock.user.as_str(), lock.agent_id.as_deref()))
        .collect();
    assert_eq!(locks, [("a.ts", "ann", Some("one")), ("c.ts", "bob", None)]);
    assert_eq!(
        world.events_since(before).await,
        ["lock_released ann a.ts", "lock_released bob c.ts"]
    );
    let event = world.events().await[before].1.clone();
    assert_eq!(
        json!([event["forced_by"], event["message"], event.get("is_pushed")]),
        json!(["eve", "The release needs it", null])
    );
    assert_eq!(world.stored("a.ts").await.len(), 1, "that of the other branch");
    assert_eq!(world.stored("c.ts").await[0].user_id, "eve");
    assert_eq!(world.stored("b.ts").await.len(), 1);
    world.assert_counts_are_exact().await;
    assert_eq!(forces(&eve, &["a.ts"]).await.locks, []);
}

// rule: locks#told-stop
async fn the_next_call_of_the_holder_is_denied_with_the_forced_release(world: World) {
    let (ann, eve) = (world.agent("ann/one"), world.agent("eve"));
    ann.writes(&["a.ts", "b.ts"]).await;
    forces(&eve, &["a.ts"]).await;
    // A call for the file is denied until the holder gives it back: renewals by programs do not take the news from the agent.
    let stop = taken(&["a.ts"]);
    for _ in 0..2 {
        assert_eq!(denial_of(ann.try_claim(Writing, &["a.ts", "b.ts"]).await), stop);
        assert_eq!(denial_of(ann.try_check(Reading, &["a.ts"]).await), stop);
    }
    // A call for held files renews them; another call for other files is denied once.
    ann.writes(&["b.ts"]).await;
    ann.checks(Writing, &["b.ts"]).await;
    assert_eq!(denial_of(ann.try_claim(Writing, &["b.ts", "d.ts"]).await), stop);
    ann.writes(&["b.ts", "d.ts"]).await;
    assert_eq!(denial_of(ann.try_claim(Writing, &["a.ts"]).await), stop);
    // Others are not meant, nor is the holder on another branch.
    world.agent("ann/two").writes(&["c.ts"]).await;
    ann.clone().on_branch("other").writes(&["a.ts"]).await;
    // A release says it once more, and then it is over.
    assert_eq!(denial_of(ann.try_release(None, None, true, &["a.ts"]).await), stop);
    assert_eq!(world.stored("b.ts").await.len(), 1);
    ann.abandons(&["a.ts", "b.ts"]).await;
    ann.writes(&["a.ts"]).await;
}

async fn a_check_of_other_files_is_denied_once_and_a_release_of_everything_never(world: World) {
    let (ann, eve) = (world.agent("ann"), world.agent("eve"));
    ann.writes(&["a.ts", "b.ts"]).await;
    forces(&eve, &["a.ts"]).await;
    assert_eq!(denial_of(ann.try_check(Writing, &["x.ts"]).await), taken(&["a.ts"]));
    ann.checks(Writing, &["x.ts"]).await;
    assert_eq!(ann.abandons(&NO_FILES).await.released, ["b.ts"]);
    ann.writes(&["a.ts"]).await;
}

async fn a_file_is_reserved_for_the_waiting_claim(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    bob.is_refused(Writing, &["a.ts"]).await;
    forces(&eve, &["a.ts"]).await;
    assert_eq!(eve.is_blocked_by(Writing, &["a.ts"]).await, ["RESERVED! a.ts bob"]);
    bob.writes(&["a.ts"]).await;
}

// rule: locks#notices
async fn pending_notices_are_bounded_and_forgotten(world: World) {
    let eve = world.agent("eve");
    for number in 0..70 {
        let file = format!("{number}.ts");
        world.agent(&format!("p{number}")).writes(&[&file]).await;
        forces(&eve, &[&file]).await;
    }
    let key = keys::taken(&world.repo);
    let stored = world.command(["GET", &key]).await;
    let list: Vec<serde_json::Value> = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    assert_eq!(list.len(), 64);
    assert_eq!(list[63]["user_id"], "p69");
    world.agent("p0").writes(&["0.ts"]).await;
    assert!((3590..=3600).contains(&world.number(["TTL", &key]).await));
}

/// Either order is fine: a renewal is granted before the forced release, or denied after it.
async fn a_renewal_is_before_it_or_denied(world: World) {
    let (ann, eve) = (world.agent("ann"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    for _ in 0..8 {
        let renewals = futures::future::join_all((0..6).map(|_| ann.try_claim(Writing, &["a.ts"])));
        let (renewals, forced) = futures::future::join(renewals, forces(&eve, &["a.ts"])).await;
        assert_eq!(forced.locks.len(), 1);
        for renewal in renewals {
            if let Admitted::Denied(denial) = renewal {
                assert_eq!(denial, taken(&["a.ts"]));
            }
        }
        assert_eq!(world.stored("a.ts").await, [], "no renewal brings it back");
        assert_eq!(denial_of(ann.try_claim(Writing, &["a.ts"]).await), taken(&["a.ts"]));
        denial_of(ann.try_release(None, None, true, &["a.ts"]).await);
        ann.writes(&["a.ts"]).await;
    }
}

on_every_store! {
    all_locks_of_others_on_the_files_of_the_branch_go,
    the_next_call_of_the_holder_is_denied_with_the_forced_release,
    a_check_of_other_files_is_denied_once_and_a_release_of_everything_never,
    a_file_is_reserved_for_the_waiting_claim,
    pending_notices_are_bounded_and_forgotten,
    a_renewal_is_before_it_or_denied,
}
