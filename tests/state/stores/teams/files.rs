//! Files of a task: claimed with it, by the rules of locks.

use coord_domain::LockMode;
use coord_protocol::ErrorCode;
use coord_state::admission::{Denial, FullPart, LimitSubject, SizeLimit};
use coord_state::locks::ClaimOutcome;
use coord_teams_state::tasks::{
    ClaimedFiles, NewTask, ReleasedFiles, TaskChanges, TaskClaim, TaskStatus, claim_task, next_task,
};
use coord_teams_state::teams::RequestKey;

use super::tasks::sentence;
use crate::stores::gate::intent;
use crate::world::team::{Mate, claimed, completed, refused_or, released_task, task_id, titled};
use crate::world::worker::{Worker, holders};
use crate::world::{LOCAL, NEXT, World, answered, denial_of};

pub fn with_files(title: &str, files: &[&str]) -> NewTask {
    NewTask {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..titled(title)
    }
}

pub fn changing_files(files: &[&str]) -> TaskChanges {
    TaskChanges {
        files: Some(files.iter().map(|file| (*file).to_owned()).collect()),
        ..TaskChanges::default()
    }
}

/// The team `alpha` with `bob` and `eve`, and these tasks.
pub async fn team<'w>(world: &'w World, tasks: &[NewTask]) -> (Mate<'w>, Worker<'w>, Worker<'w>) {
    let (lead, _) = world.team_of(["bob", "eve"]).await;
    lead.adds(tasks).await.unwrap();
    (lead, world.worker("bob"), world.worker("eve"))
}

// rule: teams#task-files
async fn a_task_and_its_files_are_claimed_together_or_not_at_all(world: World) {
    let tasks = [
        with_files("one", &["a.ts", "b.ts"]),
        with_files("two", &["b.ts", "c.ts"]),
        with_files("three", &["d.ts"]),
        titled("four"),
    ];
    let (lead, bob, eve) = team(&world, &tasks).await;
    let claimed = bob.takes("t1").await;
    let record = claimed.task.task.record;
    assert_eq!(record.locked.as_deref(), Some("main"));
    let locks = claimed.files.unwrap().own;
    let files: Vec<&str> = locks.iter().map(|lock| lock.file_path.as_str()).collect();
    assert_eq!(files, ["a.ts", "b.ts"]);
    for lock in &locks {
        assert_eq!((lock.message.as_str(), lock.status), ("t1: one", LockMode::Writing));
        assert_eq!(lock.expiry_ms, record.expires, "the locks last as long as the claim");
    }
    let before = world.events().await.len();
    let ClaimOutcome::Conflict(survey) = eve.is_refused("t2").await else {
        panic!("a conflict");
    };
    assert_eq!(survey.findings[0].entry.user_id, "bob");
    let suggested: Vec<&str> = survey.suggested.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(suggested, ["t3", "t4"], "what shares no locked file");
    let two = lead.task("t2").await.record;
    assert_eq!((two.status, two.owner), (TaskStatus::Pending, None));
    assert_eq!(world.stored("c.ts").await, [], "nothing is claimed");
    assert_eq!(world.events_since(before).await, ["lock_refused eve b.ts c.ts"]);
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
}

async fn a_claim_from_a_working_copy_that_is_behind_claims_nothing(world: World) {
    let (_, bob, _) = team(&world, &[with_files("one", &["a.ts"]), titled("two")]).await;
    let behind = bob.clone().at(LOCAL);
    assert!(matches!(behind.is_refused("t1").await, ClaimOutcome::Stale(_)));
    assert!(matches!(
        behind.next_except(&[]).await.unwrap(),
        TaskClaim::Files { id, because } if id == "t1" && matches!(*because, ClaimOutcome::Stale(_))
    ));
    assert_eq!(world.stored("a.ts").await, []);
    // A repository is due only once a claim is granted.
    let due = ["ZSCORE", coord_state::expiry::keys::DUE, world.repo.as_str()];
    assert_eq!(world.command(due).await.as_str(), None);
    bob.takes("t1").await;
    assert!(world.command(due).await.as_str().is_some());
    let two = behind.takes("t2").await;
    assert_eq!(two.files, None, "a task without files needs no head");
    // A renewal is granted behind the branch, too.
    assert!(bob.while_branch_is_at(NEXT).takes("t1").await.is_renewal);
}

async fn without_a_head_a_task_with_files_is_refused_unless_they_are_left_alone(world: World) {
    let tasks = [with_files("one", &["a.ts"]), titled("two")];
    let (lead, bob, _) = team(&world, &tasks).await;
    let mate = &bob.mate;
    let (terms, store, no_head) = (mate.terms(), &*world.store, ClaimedFiles::NoHead);
    let refused = claim_task(store, &terms, &task_id("t1"), 900, &no_head).await;
    let expected = "Task t1 names files, and the request names no working copy: agent_head is missing";
    assert_eq!(sentence(answered(refused_or(refused.unwrap()))), expected);
    let next = next_task(store, &terms, RequestKey::NONE, 900, &[], &no_head).await;
    assert_eq!(sentence(answered(refused_or(next.unwrap()))), expected);
    let left_alone = mate.claims("t1").await.unwrap();
    assert_eq!((left_alone.files, left_alone.task.task.record.locked), (None, None));
    assert_eq!(world.stored("a.ts").await, []);
    // A file that was not claimed with the task is not released with it.
    world.agent("eve").writes(&["a.ts"]).await;
    completed(bob.completes_with("t1", &ReleasedFiles::NoHead).await.unwrap());
    assert_eq!(holders(&world.stored("a.ts").await), ["eve"]);
    assert_eq!(lead.task("t1").await.record.status, TaskStatus::Completed);
}

async fn the_branch_of_a_task_is_that_of_its_claim(world: World) {
    let of_dev = NewTask {
        branch: Some("dev".to_owned()),
        ..with_files("one", &["a.ts"])
    };
    let (_, bob, _) = team(&world, &[of_dev, with_files("two", &["b.ts"])]).await;
    assert_refused!(bob.claims("t1") => "The files of task t1 are on branch dev, not on main");
    let (next, passed) = bob.next().await;
    assert_eq!(next.as_deref(), Some("t2"));
    assert_eq!(passed, ["t1 Branch  dev"]);
    let on_dev = bob.on_branch("dev");
    assert_eq!(on_dev.takes("t1").await.files.unwrap().own[0].branch, "dev");
    assert_refused!(on_dev.completes("t2", Some(NEXT), &[]) => "The files of task t2 are on branch main, not on dev");
}

async fn a_file_without_room_for_a_lock_refuses_the_task(world: World) {
    let (lead, bob, _) = team(&world, &[with_files("one", &["a.ts", "b.ts"])]).await;
    for number in 0..256 {
        let reader = world.agent(&format!("r{number}")).on_branch(&format!("b{number}"));
        reader.reads(&["a.ts"]).await;
    }
    let full = Denial::Full(FullPart::File("a.ts".to_owned()));
    assert_eq!(denial_of(bob.try_claim("t1", 900).await), full);
    assert_eq!(denial_of(bob.try_next(&[]).await), full);
    assert_eq!(world.stored("b.ts").await, []);
    assert_eq!(lead.task("t1").await.record.owner, None);
}

async fn files_with_very_many_locks_are_too_much_to_look_at(world: World) {
    let files: Vec<String> = (0..16).map(|number| format!("{number}.ts")).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let tasks = [
        with_files("one", &names),
        with_files("two", &names),
        with_files("three", &["x.ts"]),
    ];
    let (_, bob, eve) = team(&world, &tasks).await;
    bob.takes("t1").await;
    for number in 0..60 {
        // A lock counts as one for each 512 bytes; so many that one claim of all of the files would be too much as well.
        let reader = world
            .agent(&format!("r{number}"))
            .on_branch(&format!("b{number}"))
            .with_message(&"\u{1f40c}".repeat(500));
        for some in files.chunks(4) {
            reader.reads(some).await;
        }
    }
    let too_much = Denial::TooMuch(SizeLimit::Locks);
    assert_eq!(denial_of(eve.try_claim("t2", 900).await), too_much);
    assert_eq!(denial_of(bob.try_claim("t1", 900).await), too_much);
    // The next call looks no further either.
    let (next, passed) = eve.next().await;
    assert_eq!(next, None);
    assert_eq!(passed, ["t2 TooMuch  "]);
    eve.takes("t3").await;
    for is_completed in [true, false] {
        assert_eq!(denial_of(bob.try_end("t1", is_completed).await), too_much);
    }
}

async fn a_member_has_one_task_at_a_time_with_a_file(world: World) {
    let tasks = [with_files("one", &["a.ts"]), with_files("two", &["a.ts", "b.ts"])];
    let (_, bob, _) = team(&world, &tasks).await;
    bob.takes("t1").await;
    assert_refused!(bob.claims("t2") => "Task t2 cannot claim 'a.ts', which is claimed with task alpha/t1");
    assert_eq!(bob.next().await, (None, vec!["t2 FilesClaimed bob a.ts".to_owned()]));
    assert_eq!(world.stored("b.ts").await, []);
    // The files of a task that is out do not change.
    let files = changing_files(&["b.ts"]);
    assert_refused!(bob.mate.updates("t1", &files) =>
        "Task t1 cannot claim 'a.ts', which is claimed with task alpha/t1");
    released_task(bob.releases("t1", &ReleasedFiles::Abandoned).await.unwrap());
    bob.mate.updates("t1", &files).await.unwrap();
    bob.takes("t2").await;
}

async fn intents_let_a_task_have_its_files_or_refuse_it(world: World) {
    let tasks = [with_files("outside", &["b/x.ts"]), with_files("inside", &["a/x.ts"])];
    let (_, mut bob, _) = team(&world, &tasks).await;
    world.begins(intent("INT-1", "a/**", None)).await;
    bob.about.cited = Some("INT-1".to_owned());
    // Without a share of the ledger nothing changes, because no line could say so.
    let (shares, now) = (coord_state::events::keys::shares(&world.repo), world.now().await * 1000);
    let used_up = format!("{} {now}", now + 86_400_000);
    world
        .command(["HSET", &shares, "\n", "1000", "bob", &used_up, "eve", &used_up])
        .await;
    for denial in [
        denial_of(bob.try_claim("t2", 900).await),
        denial_of(bob.try_next(&["t1".to_owned()]).await),
    ] {
        let Denial::Limited { whose, .. } = denial else {
            panic!("{denial:?}");
        };
        assert_eq!(whose, LimitSubject::Ledger);
    }
    assert_eq!(world.stored("a/x.ts").await, []);
    world.command(["HDEL", &shares, "bob"]).await;
    let before = world.events().await.len();
    let ClaimOutcome::Refused(survey) = bob.is_refused("t1").await else {
        panic!("a refusal by intents");
    };
    assert_eq!(survey.gate.refusal(), Some(ErrorCode::ScopeViolation));
    assert_eq!(world.events_since(before).await, ["lock_refused bob b/x.ts"]);
    let events = world.events().await.len();
    let TaskClaim::Files { id, because } = bob.next_except(&[]).await.unwrap() else {
        panic!("the first is outside of the scope");
    };
    assert!(matches!(*because, ClaimOutcome::Refused(_)));
    assert_eq!(world.events().await.len(), events, "next records no refusal");
    let next = claimed(bob.next_except(&[id]).await.unwrap());
    assert!(format!("{next:?}").contains("a/x.ts"));
    assert_eq!(world.stored("a/x.ts").await[0].intent_id.as_deref(), Some("INT-1"));
    assert_eq!(world.stored("b/x.ts").await, []);
}

scenarios!(
    a_task_and_its_files_are_claimed_together_or_not_at_all,
    a_claim_from_a_working_copy_that_is_behind_claims_nothing,
    without_a_head_a_task_with_files_is_refused_unless_they_are_left_alone,
    the_branch_of_a_task_is_that_of_its_claim,
    a_file_without_room_for_a_lock_refuses_the_task,
    files_with_very_many_locks_are_too_much_to_look_at,
    a_member_has_one_task_at_a_time_with_a_file,
    intents_let_a_task_have_its_files_or_refuse_it,
);
