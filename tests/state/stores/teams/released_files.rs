//! Files of a task: released, renewed and kept with its claim.

use coord_domain::LockMode;
use coord_domain::work::{Shortfall, Verdict};
use coord_state::admission::{Admitted, AncestryQuestion, Question};
use coord_state::locks::{ClaimOutcome, ReleaseOutcome};
use coord_teams_state::tasks::{LeaseState, ReleasedFiles, TaskEnd, TaskStatus};
use serde_json::Value as Json;

use super::files::{changing_files, team, with_files};
use crate::world::team::{Mate, completed, released_task, titled};
use crate::world::worker::{Worker, holders, judged_file};
use crate::world::{HEAD, LOCAL, NEXT, World, question_of};

async fn completing_a_task_releases_its_files_once_they_are_pushed(world: World) {
    let (lead, bob, eve) = team(&world, &[with_files("one", &["a.ts", "b.ts"])]).await;
    bob.takes("t1").await;
    let before = world.events().await.len();
    assert_refused!(bob.completes_with("t1", &ReleasedFiles::NoHead) =>
        "Task t1 names files, and the request names no working copy: new_repo_head is missing");
    let refused = async |worker: &Worker<'_>, new_head, judged_files: &[_]| {
        let end = worker.completes("t1", new_head, judged_files).await;
        match end.unwrap() {
            TaskEnd::Files(outcome) => outcome,
            end => panic!("{end:?}"),
        }
    };
    assert!(matches!(
        refused(&bob, None, &[]).await,
        ReleaseOutcome::NoNewHead { written } if written == ["a.ts", "b.ts"]
    ));
    assert!(matches!(
        refused(&bob, Some(HEAD), &[]).await,
        ReleaseOutcome::NotPushed { unpushed, .. } if unpushed.len() == 2
    ));
    world.records_head(NEXT, &[]).await;
    let asking = bob.clone().with_source();
    assert!(matches!(
        question_of(asking.clone().at(LOCAL).try_end("t1", true).await),
        Question::Ancestry(AncestryQuestion::Work { written, .. }) if written.len() == 2
    ));
    let not_there = [
        judged_file("a.ts", Verdict::Pushed),
        judged_file("b.ts", Verdict::Missing(Shortfall::NotOnBranch)),
    ];
    assert!(matches!(
        refused(&asking, Some(LOCAL), &not_there).await,
        ReleaseOutcome::NotPushed { unpushed, .. } if unpushed == [("b.ts".to_owned(), Shortfall::NotOnBranch)]
    ));
    let task = lead.task("t1").await;
    assert_eq!(task.lease(task.read_at), LeaseState::Held);
    assert_eq!(task.record.owner.as_deref(), Some("bob"));
    assert_eq!(holders(&world.stored("a.ts").await), ["bob"], "nothing has changed");
    for event in world.events_since(before).await {
        let is_of_no_release = event.starts_with("lock_refused") || event.starts_with("head_moved");
        assert!(is_of_no_release, "{event}");
    }
    let there = [
        judged_file("a.ts", Verdict::Pushed),
        judged_file("b.ts", Verdict::Unchanged),
    ];
    let done = completed(asking.completes("t1", Some(LOCAL), &there).await.unwrap());
    assert_eq!(done.files.unwrap().released, ["a.ts", "b.ts"]);
    assert_eq!(world.stored("a.ts").await, []);
    assert!(completed(bob.completes("t1", Some(LOCAL), &[]).await.unwrap()).was_completed);
    lead.adds(&[with_files("two", &["a.ts"])]).await.unwrap();
    eve.takes("t2").await;
    world.assert_held_is_exact().await;
}

async fn a_file_that_another_has_now_stops_the_completion(world: World) {
    let (lead, bob, _) = team(&world, &[with_files("one", &["a.ts", "b.ts"])]).await;
    bob.takes("t1").await;
    world.expire_locks(&["a.ts"]).await;
    world.agent("zoe").writes(&["a.ts"]).await;
    let outcome = bob.pushed().completes("t1", Some(NEXT), &[]).await;
    assert!(matches!(
        outcome.unwrap(),
        TaskEnd::Files(ReleaseOutcome::Lost { others, .. }) if holders(&others) == ["zoe"]
    ));
    assert_eq!(holders(&world.stored("b.ts").await), ["bob"]);
    assert_eq!(lead.task("t1").await.record.status, TaskStatus::InProgress);
    completed(bob.completes_with("t1", &ReleasedFiles::Unchanged).await.unwrap());
    assert_eq!(holders(&world.stored("b.ts").await), ["bob"], "left alone");
}

async fn an_expired_claim_completes_and_lists_its_lost_files_as_missing(world: World) {
    let (_, bob, _) = team(&world, &[with_files("one", &["a.ts"])]).await;
    bob.takes("t1").await;
    bob.mate.expire_claim("t1").await;
    world.expire_locks(&["a.ts"]).await;
    let done = bob.completes_pushed("t1").await;
    assert!(done.had_expired);
    assert_eq!(done.files.unwrap().missing, ["a.ts"]);
}

async fn completing_an_expired_claim_leaves_the_files_of_another_task_alone(world: World) {
    let tasks = [with_files("one", &["a.ts", "b.ts"]), with_files("two", &["b.ts"])];
    let (_, bob, _) = team(&world, &tasks).await;
    bob.takes("t1").await;
    bob.mate.expire_claim("t1").await;
    world.expire_locks(&["a.ts", "b.ts"]).await;
    bob.takes("t2").await;
    let files = bob.completes_pushed("t1").await.files.unwrap();
    assert_eq!((files.released, files.missing), (vec![], vec!["a.ts".to_owned()]));
    assert_eq!(world.stored("b.ts").await[0].task.as_deref(), Some("alpha/t2"));
    assert_eq!(bob.completes_pushed("t2").await.files.unwrap().released, ["b.ts"]);
    world.assert_held_is_exact().await;
}

async fn giving_a_task_back_releases_what_is_pushed_and_keeps_the_rest(world: World) {
    let tasks = [
        with_files("one", &["a.ts", "b.ts", "c.ts"]),
        with_files("two", &["d.ts"]),
        with_files("three", &["e.ts"]),
    ];
    let (_, bob, eve) = team(&world, &tasks).await;
    bob.takes("t1").await;
    world.records_head(NEXT, &[]).await;
    let verdicts = [
        judged_file("a.ts", Verdict::Pushed),
        judged_file("b.ts", Verdict::Unchanged),
        judged_file("c.ts", Verdict::Missing(Shortfall::CopyAhead)),
    ];
    let asking = bob.clone().with_source();
    let without_head = asking.released_files(None, &[]);
    assert!(matches!(
        bob.releases("t1", &without_head).await.unwrap(),
        TaskEnd::Files(ReleaseOutcome::NoNewHead { written }) if written == ["a.ts", "b.ts", "c.ts"]
    ));
    let released = asking.releases_pushed("t1", LOCAL, &verdicts).await;
    assert_eq!(released.kept, ["c.ts"]);
    assert_eq!(released.files.unwrap().released, ["a.ts", "b.ts"]);
    assert_eq!(released.task.task.record.locked, None);
    assert_eq!(holders(&world.stored("c.ts").await), ["bob"], "no work is lost");
    assert!(matches!(eve.is_refused("t1").await, ClaimOutcome::Conflict(_)));
    let eve_on_dev = eve.on_branch("dev");
    assert_refused!(eve_on_dev.releases("t1", &ReleasedFiles::Abandoned) =>
        "Task t1 is not yours (status: in_progress, owner: )");
    // The lock is of no task any more: another task of bob may have the file.
    bob.mate.updates("t2", &changing_files(&["c.ts"])).await.unwrap();
    bob.takes("t2").await;
    let kept = released_task(bob.releases("t2", &ReleasedFiles::NoHead).await.unwrap());
    assert_eq!((kept.kept, kept.files), (vec!["c.ts".to_owned()], None));
    bob.takes("t3").await;
    let bob_on_dev = bob.clone().on_branch("dev");
    assert_refused!(bob_on_dev.releases("t3", &ReleasedFiles::Abandoned) =>
        "The files of task t3 are on branch main, not on dev");
    assert!(matches!(
        question_of(asking.at(LOCAL).try_end("t3", false).await),
        Question::Ancestry(AncestryQuestion::Work { .. })
    ));
    let abandoned = released_task(bob.releases("t3", &ReleasedFiles::Abandoned).await.unwrap());
    assert_eq!(abandoned.files.unwrap().released, ["e.ts"]);
    assert_eq!((world.stored("e.ts").await, abandoned.kept), (vec![], vec![]));
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
}

/// Sets when the claim of `id` and the locks on `path` end, and forgets when they were to be renewed.
async fn ends_at(world: &World, mate: &Mate<'_>, id: &str, path: &str, expires: i64) {
    use coord_state::locks;
    use coord_teams_state::{tasks, teams};
    let (repo, team) = (&world.repo, &mate.team);
    let edit = |task: &mut Json| task["expires"] = expires.into();
    world.edit_json(&tasks::keys::tasks(repo, team), id, edit).await;
    let edit = |locks: &mut Json| {
        locks[0]["expiry_ms"] = expires.into();
        locks[0]["expiry"] = (expires / 1000 + 1).into();
    };
    world.edit_json(&locks::keys::locks(repo), path, edit).await;
    let edit = |member: &mut Json| member["renew_at"] = 0.into();
    world.edit_json(&teams::keys::team(repo, team), "=bob", edit).await;
}

// rule: teams#file-lease
async fn calls_of_the_owner_renew_its_locks_with_its_claim(world: World) {
    let (_, bob, _) = team(&world, &[with_files("one", &["a.ts"]), titled("two")]).await;
    let claimed = bob.takes("t1").await;
    let half = claimed.task.task.record.expires.unwrap() - 600_000;
    ends_at(&world, &bob.mate, "t1", "a.ts", half).await;
    let before = world.events().await.len();
    bob.mate.inbox().await;
    let renewed = bob.mate.task("t1").await.record.expires;
    assert!(renewed > Some(half));
    assert_eq!(world.stored("a.ts").await[0].expiry_ms, renewed);
    assert_eq!(world.events_since(before).await, ["lock_renewed bob a.ts"]);
    bob.mate.inbox().await;
    assert_eq!(world.events().await.len(), before + 1, "nothing is to be renewed yet");
    // A plain claim of the file does not shorten that.
    world.agent("bob").for_seconds(30).writes(&["a.ts"]).await;
    assert_eq!(world.stored("a.ts").await[0].expiry_ms, renewed);
    // Claiming again without a head renews both.
    ends_at(&world, &bob.mate, "t1", "a.ts", half).await;
    assert!(bob.mate.claims("t1").await.unwrap().is_renewal);
    let renewed = bob.mate.task("t1").await.record.expires;
    assert_eq!(world.stored("a.ts").await[0].expiry_ms, renewed);
    world.assert_index_is_exact().await;
}

async fn taking_over_a_handle_takes_over_the_locks_of_its_tasks(world: World) {
    let (lead, []) = world.team_of([]).await;
    let tasks = [
        with_files("one", &["a.ts", "b.ts"]),
        with_files("two", &["c.ts"]),
        with_files("three", &["d.ts"]),
        with_files("four", &["e.ts"]),
    ];
    lead.adds(&tasks).await.unwrap();
    let (old, new, other) = (world.worker("bob/1"), world.worker("bob/2"), world.worker("bob/3"));
    old.mate.joins("bob").await.unwrap();
    other.mate.joins("rob").await.unwrap();
    old.takes("t1").await;
    old.takes("t2").await;
    old.mate.claims("t4").await.unwrap();
    other.takes("t3").await;
    // As hooks do: one file is claimed again, one released and then claimed again.
    let by_hook = world.agent("bob/1").with_message("Change what is mine");
    by_hook.writes(&["a.ts"]).await;
    by_hook.abandons(&["b.ts"]).await;
    by_hook.writes(&["b.ts", "e.ts", "x.ts"]).await;
    assert_eq!(world.stored("b.ts").await[0].task, None);
    let identity = |lock: &coord_domain::LockEntry| (lock.token, lock.expiry_ms, lock.message.clone());
    let kept = identity(&world.stored("b.ts").await[0]);

    let before = world.events().await.len();
    new.mate.joins("bob").await.unwrap();
    for (file, holder, task) in [
        ("a.ts", "bob/2", Some("alpha/t1")),
        ("b.ts", "bob/2", Some("alpha/t1")),
        ("c.ts", "bob/2", Some("alpha/t2")),
        ("d.ts", "bob/3", Some("alpha/t3")),
        // The files of this task were left alone, and this file is of none.
        ("e.ts", "bob/1", None),
        ("x.ts", "bob/1", None),
    ] {
        let stored = world.stored(file).await;
        assert_eq!(holders(&stored), [holder], "{file}");
        assert_eq!(stored[0].task.as_deref(), task, "{file}");
    }
    assert_eq!(identity(&world.stored("b.ts").await[0]), kept, "it is the same lock");
    let mut events = world.events_since(before).await;
    events.retain(|event| event.contains("lock_"));
    let renewed = ["a.ts", "b.ts", "c.ts"].map(|file| format!("lock_renewed bob {file}"));
    assert_eq!(events, renewed);
    // The successor completes a task with its files, and goes on, though it is behind; the agent before it does not.
    assert_eq!(new.completes_pushed("t2").await.files.unwrap().released, ["c.ts"]);
    let behind = world.agent("bob/2").at(LOCAL).while_branch_is_at(NEXT);
    behind.writes(&["a.ts", "b.ts"]).await;
    world.agent("bob/1").is_refused(LockMode::Writing, &["a.ts"]).await;
    assert!(new.takes("t1").await.is_renewal);
    assert_eq!(holders(&world.stored("a.ts").await), ["bob/2"]);
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
}

async fn a_lock_that_outlives_the_claim_is_not_taken_from_another_agent_of_the_login(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[with_files("one", &["a.ts"])]).await.unwrap();
    let (one, two) = (world.worker("bob/1"), world.worker("bob/2"));
    one.mate.joins("one").await.unwrap();
    two.mate.joins("two").await.unwrap();
    one.takes("t1").await;
    one.mate.expire_claim("t1").await;
    assert!(matches!(two.is_refused("t1").await, ClaimOutcome::Conflict(_)));
    assert_eq!(holders(&world.stored("a.ts").await), ["bob/1"]);
}

// rule: teams#leaving-locks
async fn a_leaver_keeps_the_locks_of_its_tasks(world: World) {
    let (lead, bob, eve) = team(&world, &[with_files("one", &["a.ts"])]).await;
    bob.takes("t1").await;
    assert_eq!(bob.mate.leaves().await.unwrap(), ["t1"]);
    // Nobody knows whether the work is pushed.
    assert_eq!(holders(&world.stored("a.ts").await), ["bob"]);
    assert_eq!(lead.task("t1").await.record.locked, None);
    assert!(matches!(eve.is_refused("t1").await, ClaimOutcome::Conflict(_)));
    assert!(matches!(eve.try_claim("t1", 900).await, Admitted::Outcome(_)));
}

scenarios!(
    completing_a_task_releases_its_files_once_they_are_pushed,
    a_file_that_another_has_now_stops_the_completion,
    an_expired_claim_completes_and_lists_its_lost_files_as_missing,
    completing_an_expired_claim_leaves_the_files_of_another_task_alone,
    giving_a_task_back_releases_what_is_pushed_and_keeps_the_rest,
    calls_of_the_owner_renew_its_locks_with_its_claim,
    taking_over_a_handle_takes_over_the_locks_of_its_tasks,
    a_lock_that_outlives_the_claim_is_not_taken_from_another_agent_of_the_login,
    a_leaver_keeps_the_locks_of_its_tasks,
);
