//! Files of a task: claimed and given back with it, by the rules of locks.

use coord::domain::LockMode;
use coord::domain::work::{Shortfall, Verdict};
use coord::state::admission::{Admitted, Denial, Full};
use coord::state::locks::{ClaimOutcome, ReleaseOutcome};
use coord::state::tasks::{FilesOfRelease, LeaseState, NewTask, Priority, TaskChanges, TaskStatus, WithFiles};
use coord_protocol::ErrorCode;

use crate::stores::gate::intent;
use crate::world::team::{Mate, done, titled};
use crate::world::worker::{Worker, holders, judged};
use crate::world::{HEAD, LOCAL, NEXT, World, answered, denial_of};

fn with_files(title: &str, files: &[&str]) -> NewTask {
    NewTask {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..titled(title)
    }
}

/// The team `alpha` with `bob` and `eve`, and these tasks.
async fn team<'w>(world: &'w World, tasks: &[NewTask]) -> (Mate<'w>, Worker<'w>, Worker<'w>) {
    let (lead, _) = world.team_of(["bob", "eve"]).await;
    lead.adds(tasks).await.unwrap();
    (lead, world.worker("bob"), world.worker("eve"))
}

fn sentence<T: std::fmt::Debug>(answer: Result<T, coord::state::teams::TeamRefusal>) -> String {
    answer.unwrap_err().to_string()
}

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
    assert_eq!(
        locks.iter().map(|lock| lock.file_path.as_str()).collect::<Vec<_>>(),
        ["a.ts", "b.ts"]
    );
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
    let two = lead.shows("t2").await.unwrap().task.record;
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
        WithFiles::NotDone { id, because: ClaimOutcome::Stale(_) } if id == "t1"
    ));
    assert_eq!(world.stored("a.ts").await, []);
    let two = behind.takes("t2").await;
    assert_eq!(two.files, None, "a task without files needs no head");
    // A renewal is granted behind the branch, too.
    bob.takes("t1").await;
    let renewed = bob.clone().while_branch_is_at(NEXT).takes("t1").await;
    assert!(renewed.is_renewal);
}

async fn without_a_head_a_task_with_files_is_refused_unless_they_are_left_alone(world: World) {
    let tasks = [with_files("one", &["a.ts"]), titled("two")];
    let (lead, bob, _) = team(&world, &tasks).await;
    let mate = &bob.mate;
    let terms = mate.terms();
    let store = &*world.store;
    let id = crate::world::team::task_id("t1");
    let no_head = coord::state::tasks::FilesOfClaim::NoHead;
    let refused = coord::state::tasks::claim_task(store, &terms, &id, 900, &no_head);
    assert_eq!(
        sentence(answered(refused.await.unwrap()).outcome),
        "Task t1 names files, and the request names no working copy: agent_head is missing"
    );
    let key = coord::state::teams::RequestKey::NONE;
    let next = coord::state::tasks::next_task(store, &terms, key, 900, &[], &no_head);
    assert!(sentence(answered(next.await.unwrap()).outcome).starts_with("Task t1 names files"));
    let left_alone = mate.claims("t1").await.unwrap();
    assert_eq!((left_alone.files, left_alone.task.task.record.locked), (None, None));
    assert_eq!(world.stored("a.ts").await, []);
    // What was not claimed with it is not given back with it.
    world.agent("eve").writes(&["a.ts"]).await;
    done(bob.completes_with("t1", &FilesOfRelease::NoHead).await.unwrap());
    assert_eq!(holders(&world.stored("a.ts").await), ["eve"]);
    assert_eq!(
        lead.shows("t1").await.unwrap().task.record.status,
        TaskStatus::Completed
    );
}

async fn the_branch_of_a_task_is_that_of_its_claim(world: World) {
    let of_dev = NewTask {
        branch: Some("dev".to_owned()),
        ..with_files("one", &["a.ts"])
    };
    let (_, bob, _) = team(&world, &[of_dev, with_files("two", &["b.ts"])]).await;
    assert_eq!(
        sentence(bob.claims("t1").await),
        "The files of task t1 are of branch dev, not of main"
    );
    assert_eq!(
        bob.next().await,
        (Some("t2".to_owned()), vec!["t1 Branch  dev".to_owned()])
    );
    let on_dev = bob.clone().on_branch("dev");
    assert_eq!(on_dev.takes("t1").await.files.unwrap().own[0].branch, "dev");
    assert_eq!(
        sentence(on_dev.completes("t2", Some(NEXT), &[]).await),
        "The files of task t2 are of branch main, not of dev"
    );
}

async fn a_file_without_room_for_a_lock_refuses_the_task(world: World) {
    let (lead, bob, _) = team(&world, &[with_files("one", &["a.ts", "b.ts"])]).await;
    for number in 0..64 {
        let reader = world.agent(&format!("r{number}")).on_branch(&format!("b{number}"));
        reader.reads(&["a.ts"]).await;
    }
    assert_eq!(
        denial_of(bob.try_claim("t1", 900).await),
        Denial::Full(Full::File("a.ts".to_owned()))
    );
    assert_eq!(
        denial_of(bob.try_next(&[]).await),
        Denial::Full(Full::File("a.ts".to_owned()))
    );
    assert_eq!(world.stored("b.ts").await, []);
    assert_eq!(lead.shows("t1").await.unwrap().task.record.owner, None);
}

async fn files_with_very_many_locks_are_too_much_to_look_at(world: World) {
    let files: Vec<String> = (0..16).map(|number| format!("{number}.ts")).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let (_, bob, eve) = team(
        &world,
        &[
            with_files("one", &names),
            with_files("two", &names),
            with_files("three", &["x.ts"]),
        ],
    )
    .await;
    bob.takes("t1").await;
    for number in 0..60 {
        // A lock counts as one for each 512 bytes; so many that one claim of all of the files would be too much as well.
        let reader = world
            .agent(&format!("r{number}"))
            .on_branch(&format!("b{number}"))
            .saying(&"\u{1f40c}".repeat(500));
        for some in files.chunks(4) {
            reader.reads(some).await;
        }
    }
    let too_much = Denial::TooMuch(coord::state::admission::TooMuch::Locks);
    assert_eq!(denial_of(eve.try_claim("t2", 900).await), too_much);
    assert_eq!(denial_of(bob.try_claim("t1", 900).await), too_much);
    let (id, passed) = eve.next().await;
    assert_eq!(
        (id, passed),
        (None, vec!["t2 TooMuch  ".to_owned()]),
        "the next call looks no further either"
    );
    eve.takes("t3").await;
    for is_completed in [true, false] {
        assert_eq!(denial_of(bob.try_end("t1", is_completed).await), too_much);
    }
}

async fn a_claim_that_is_refused_leaves_no_mark_and_one_that_is_granted_a_due_repository(world: World) {
    let (_, bob, _) = team(&world, &[with_files("one", &["a.ts"])]).await;
    let due = coord::state::expiry::keys::DUE;
    assert!(matches!(
        bob.clone().at(LOCAL).is_refused("t1").await,
        ClaimOutcome::Stale(_)
    ));
    assert!(
        world
            .command(["ZSCORE", due, world.repo.as_str()])
            .await
            .as_str()
            .is_none()
    );
    bob.takes("t1").await;
    assert!(
        world
            .command(["ZSCORE", due, world.repo.as_str()])
            .await
            .as_str()
            .is_some()
    );
}

async fn completing_gives_the_files_back_once_they_are_pushed(world: World) {
    let (lead, bob, eve) = team(&world, &[with_files("one", &["a.ts", "b.ts"])]).await;
    bob.takes("t1").await;
    let before = world.events().await.len();
    assert_eq!(
        sentence(bob.completes_with("t1", &FilesOfRelease::NoHead).await),
        "Task t1 names files, and the request names no working copy: new_repo_head is missing"
    );
    let in_the_way = async |worker: &Worker<'_>, new_head, judged: &[_]| match worker
        .completes("t1", new_head, judged)
        .await
        .unwrap()
    {
        WithFiles::NotDone { because, .. } => because,
        WithFiles::Done(done) => panic!("{done:?}"),
    };
    assert!(matches!(
        in_the_way(&bob, None, &[]).await,
        ReleaseOutcome::NoNewHead { written } if written == ["a.ts", "b.ts"]
    ));
    assert!(matches!(
        in_the_way(&bob, Some(HEAD), &[]).await,
        ReleaseOutcome::NotPushed { unpushed, .. } if unpushed.len() == 2
    ));
    world.records_head(NEXT, &[]).await;
    let asking = bob.clone().with_source();
    assert!(matches!(
        in_the_way(&asking, Some(LOCAL), &[]).await,
        ReleaseOutcome::AskWork { written, .. } if written.len() == 2
    ));
    let not_there = [
        judged("a.ts", Verdict::Pushed),
        judged("b.ts", Verdict::Missing(Shortfall::NotOnBranch)),
    ];
    assert!(matches!(
        in_the_way(&asking, Some(LOCAL), &not_there).await,
        ReleaseOutcome::NotPushed { unpushed, .. } if unpushed == [("b.ts".to_owned(), Shortfall::NotOnBranch)]
    ));
    let task = lead.shows("t1").await.unwrap().task;
    assert_eq!(
        (task.lease(task.read_at), task.record.owner.as_deref()),
        (LeaseState::Held, Some("bob"))
    );
    assert_eq!(holders(&world.stored("a.ts").await), ["bob"], "nothing has changed");
    assert!(
        world
            .events_since(before)
            .await
            .iter()
            .all(|event| event.starts_with("lock_refused") || event.starts_with("head_moved"))
    );
    let there = [judged("a.ts", Verdict::Pushed), judged("b.ts", Verdict::Unchanged)];
    let completed = done(asking.completes("t1", Some(LOCAL), &there).await.unwrap());
    assert_eq!(completed.files.unwrap().released, ["a.ts", "b.ts"]);
    assert_eq!(world.stored("a.ts").await, []);
    assert!(done(bob.completes("t1", Some(LOCAL), &[]).await.unwrap()).was_completed);
    lead.adds(&[with_files("two", &["a.ts"])]).await.unwrap();
    eve.takes("t2").await;
    world.assert_held_is_exact().await;
}

async fn a_file_that_another_has_now_stops_the_completion(world: World) {
    let (lead, bob, _) = team(&world, &[with_files("one", &["a.ts", "b.ts"])]).await;
    bob.takes("t1").await;
    world.lapse(&["a.ts"]).await;
    world.agent("zoe").writes(&["a.ts"]).await;
    let outcome = bob
        .clone()
        .while_branch_is_at(NEXT)
        .at(NEXT)
        .completes("t1", Some(NEXT), &[])
        .await;
    assert!(matches!(
        outcome.unwrap(),
        WithFiles::NotDone { because: ReleaseOutcome::Lost { others, .. }, .. } if holders(&others) == ["zoe"]
    ));
    assert_eq!(holders(&world.stored("b.ts").await), ["bob"]);
    assert_eq!(
        lead.shows("t1").await.unwrap().task.record.status,
        TaskStatus::InProgress
    );
    done(bob.completes_with("t1", &FilesOfRelease::LeftAlone).await.unwrap());
    assert_eq!(holders(&world.stored("b.ts").await), ["bob"], "left alone");
}

async fn a_claim_that_lapsed_completes_with_what_is_left_of_its_files(world: World) {
    let (_, bob, _) = team(&world, &[with_files("one", &["a.ts"])]).await;
    bob.takes("t1").await;
    bob.mate.lapses("t1").await;
    world.lapse(&["a.ts"]).await;
    let pushed = bob.clone().while_branch_is_at(NEXT).at(NEXT);
    let completed = done(pushed.completes("t1", Some(NEXT), &[]).await.unwrap());
    assert!(completed.had_expired);
    assert_eq!(completed.files.unwrap().missing, ["a.ts"]);
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
        judged("a.ts", Verdict::Pushed),
        judged("b.ts", Verdict::Unchanged),
        judged("c.ts", Verdict::Missing(Shortfall::CopyAhead)),
    ];
    let released = bob.clone().with_source().gives_back("t1", LOCAL, &verdicts).await;
    assert_eq!(released.kept, ["c.ts"]);
    assert_eq!(released.files.unwrap().released, ["a.ts", "b.ts"]);
    assert_eq!(released.task.task.record.locked, None);
    assert_eq!(holders(&world.stored("c.ts").await), ["bob"], "no work is lost");
    assert!(matches!(eve.is_refused("t1").await, ClaimOutcome::Conflict(_)));
    assert_eq!(
        sentence(
            eve.clone()
                .on_branch("dev")
                .releases("t1", &FilesOfRelease::Abandoned)
                .await
        ),
        "Task t1 is not yours (status: in_progress, owner: )"
    );
    // The lock is of no task any more: another task of bob may have the file.
    bob.mate
        .updates(
            "t2",
            &TaskChanges {
                files: Some(vec!["c.ts".to_owned()]),
                ..TaskChanges::default()
            },
        )
        .await
        .unwrap();
    bob.takes("t2").await;
    let kept = done(bob.releases("t2", &FilesOfRelease::NoHead).await.unwrap());
    assert_eq!((kept.kept, kept.files), (vec!["c.ts".to_owned()], None));
    bob.takes("t3").await;
    assert_eq!(
        sentence(
            bob.clone()
                .on_branch("dev")
                .releases("t3", &FilesOfRelease::Abandoned)
                .await
        ),
        "The files of task t3 are of branch main, not of dev"
    );
    let new_head = crate::world::sha(LOCAL);
    let asking = bob.clone().with_source();
    let asked = asking
        .releases("t3", &asking.given_back(Some(&new_head), &[]))
        .await
        .unwrap();
    assert!(matches!(
        asked,
        WithFiles::NotDone {
            because: ReleaseOutcome::AskWork { .. },
            ..
        }
    ));
    let abandoned = done(bob.releases("t3", &FilesOfRelease::Abandoned).await.unwrap());
    assert_eq!(abandoned.files.unwrap().released, ["e.ts"]);
    assert_eq!((world.stored("e.ts").await, abandoned.kept), (vec![], vec![]));
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
}

/// Sets when the claim of `id` and the locks on `path` end, and forgets when they were to be renewed.
async fn ends_at(world: &World, mate: &Mate<'_>, id: &str, path: &str, expires: i64) {
    use coord::state::{locks, tasks, teams};
    let change = async |key: &str, field: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let stored = world.command(["HGET", key, field]).await;
        let mut value: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
        change(&mut value);
        world.command(["HSET", key, field, &value.to_string()]).await;
    };
    let (repo, team) = (&world.repo, &mate.team);
    change(&tasks::keys::tasks(repo, team), id, &|task| {
        task["expires"] = expires.into();
    })
    .await;
    change(&locks::keys::locks(repo), path, &|locks| {
        locks[0]["expiry_ms"] = expires.into();
        locks[0]["expiry"] = (expires / 1000 + 1).into();
    })
    .await;
    change(&teams::keys::team(repo, team), "=bob", &|member| {
        member["renew_at"] = 0.into();
    })
    .await;
}

async fn calls_of_the_owner_renew_its_locks_with_its_claim(world: World) {
    let (_, bob, _) = team(&world, &[with_files("one", &["a.ts"]), titled("two")]).await;
    let claimed = bob.takes("t1").await;
    let half = claimed.task.task.record.expires.unwrap() - 600_000;
    ends_at(&world, &bob.mate, "t1", "a.ts", half).await;
    let before = world.events().await.len();
    bob.mate.reads(None).await.unwrap();
    let renewed = bob.mate.shows("t1").await.unwrap().task.record.expires.unwrap();
    assert!(renewed > half);
    assert_eq!(world.stored("a.ts").await[0].expiry_ms, Some(renewed));
    assert_eq!(world.events_since(before).await, ["lock_renewed bob a.ts"]);
    bob.mate.reads(None).await.unwrap();
    assert_eq!(world.events().await.len(), before + 1, "nothing is to be renewed yet");
    // A plain claim of the file does not shorten that.
    world.agent("bob").for_seconds(30).writes(&["a.ts"]).await;
    assert_eq!(world.stored("a.ts").await[0].expiry_ms, Some(renewed));
    // Claiming again without a head renews both.
    ends_at(&world, &bob.mate, "t1", "a.ts", half).await;
    assert!(bob.mate.claims("t1").await.unwrap().is_renewal);
    let renewed = bob.mate.shows("t1").await.unwrap().task.record.expires;
    assert_eq!(world.stored("a.ts").await[0].expiry_ms, renewed);
    world.assert_index_is_exact().await;
}

async fn an_agent_that_takes_a_handle_over_goes_on_with_its_files(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[with_files("one", &["a.ts"]), with_files("two", &["b.ts"])])
        .await
        .unwrap();
    let (old, new) = (world.worker("bob/1"), world.worker("bob/2"));
    old.mate.joins("bob").await.unwrap();
    old.takes("t1").await;
    old.takes("t2").await;
    new.mate.joins("bob").await.unwrap();
    assert!(new.takes("t1").await.is_renewal);
    assert_eq!(holders(&world.stored("a.ts").await), ["bob/2"]);
    let pushed = new.clone().while_branch_is_at(NEXT).at(NEXT);
    let completed = done(pushed.completes("t2", Some(NEXT), &[]).await.unwrap());
    assert_eq!(completed.files.unwrap().released, ["b.ts"]);
    world.assert_held_is_exact().await;
}

async fn a_member_has_one_task_at_a_time_with_a_file(world: World) {
    let tasks = [with_files("one", &["a.ts"]), with_files("two", &["a.ts", "b.ts"])];
    let (_, bob, _) = team(&world, &tasks).await;
    bob.takes("t1").await;
    assert_eq!(
        sentence(bob.claims("t2").await),
        "Task t2 cannot have 'a.ts' now, which is claimed with task alpha/t1"
    );
    assert_eq!(bob.next().await, (None, vec!["t2 FilesClaimed bob a.ts".to_owned()]));
    assert_eq!(world.stored("b.ts").await, []);
    let files = TaskChanges {
        files: Some(vec!["b.ts".to_owned()]),
        ..TaskChanges::default()
    };
    assert_eq!(
        sentence(bob.mate.updates("t1", &files).await),
        "Task t1 cannot have 'a.ts' now, which is claimed with task alpha/t1",
        "the files of a task that is out do not change"
    );
    done(bob.releases("t1", &FilesOfRelease::Abandoned).await.unwrap());
    bob.mate.updates("t1", &files).await.unwrap();
    bob.takes("t2").await;
}

async fn next_passes_over_tasks_whose_files_others_have(world: World) {
    let high = |task: NewTask| NewTask {
        priority: Priority::High,
        ..task
    };
    let tasks = [
        high(with_files("one", &["a.ts"])),
        high(with_files("two", &["b.ts"])),
        high(with_files("three", &["c.ts"])),
        with_files("four", &["d.ts"]),
    ];
    let (lead, bob, eve) = team(&world, &tasks).await;
    lead.assigns("t2", Some("eve")).await.unwrap();
    world.agent("zoe/1").writes(&["a.ts"]).await;
    world.agent("yan").reads(&["c.ts"]).await;
    assert_eq!(
        bob.next().await,
        (
            Some("t4".to_owned()),
            vec![
                "t1 Locked zoe a.ts".to_owned(),
                "t2 Reserved eve ".to_owned(),
                "t3 Locked yan c.ts".to_owned()
            ]
        )
    );
    assert_eq!(bob.next().await.0, None);
    assert_eq!(
        eve.next().await.0.as_deref(),
        Some("t2"),
        "what is assigned comes first"
    );
    world.agent("zoe/1").abandons(&["a.ts"]).await;
    assert_eq!(bob.next().await.0.as_deref(), Some("t1"));
    world.assert_held_is_exact().await;
}

async fn next_looks_at_so_many_files_and_no_more(world: World) {
    let many = |task: usize| -> Vec<String> { (0..400).map(|number| format!("m/{task}/{number}.ts")).collect() };
    let tasks: Vec<NewTask> = (0..4)
        .map(|task| NewTask {
            files: many(task),
            ..titled("many")
        })
        .collect();
    let (_, bob, _) = team(&world, &tasks).await;
    for task in 0..3 {
        world.agent("zoe").writes(&[format!("m/{task}/399.ts")]).await;
    }
    let (id, passed) = bob.next().await;
    assert_eq!((id, passed.len()), (None, 2), "1,024 files: {passed:?}");
    world.agent("zoe").abandons(&["m/0/399.ts"]).await;
    assert_eq!(bob.next().await.0.as_deref(), Some("t1"));
}

async fn checks_and_claims_of_members_that_are_blocked_suggest_tasks(world: World) {
    let reserved = with_files("reserved", &["r.ts"]);
    let of_dev = NewTask {
        branch: Some("dev".to_owned()),
        ..with_files("elsewhere", &["e.ts"])
    };
    let tasks = [
        with_files("locked", &["a.ts"]),
        reserved,
        of_dev,
        with_files("free", &["f.ts"]),
        titled("without files"),
        titled("third"),
        titled("fourth"),
    ];
    let (lead, bob, _) = team(&world, &tasks).await;
    lead.assigns("t2", Some("eve")).await.unwrap();
    world.agent("zoe").writes(&["a.ts"]).await;
    let agent = world.agent("bob");
    let ids = |suggested: &[coord_protocol::SuggestedTask]| -> Vec<String> {
        suggested
            .iter()
            .map(|task| format!("{}/{} {}", task.team, task.id, task.title))
            .collect()
    };
    let expected = ["alpha/t4 free", "alpha/t5 without files", "alpha/t6 third"];
    assert_eq!(
        ids(&agent.checks(LockMode::Writing, &["a.ts"]).await.suggested),
        expected
    );
    assert_eq!(
        ids(&agent.is_refused(LockMode::Writing, &["a.ts"]).await.suggested),
        expected
    );
    assert_eq!(
        ids(&agent.checks(LockMode::Writing, &["f.ts"]).await.suggested),
        [""; 0],
        "nothing blocks"
    );
    let stranger = world.agent("yan").is_refused(LockMode::Writing, &["a.ts"]).await;
    assert_eq!(ids(&stranger.suggested), [""; 0], "who is in no team");
    bob.takes("t4").await;
    bob.mate.claims("t5").await.unwrap();
    let eve = world.agent("eve").is_refused(LockMode::Writing, &["a.ts"]).await;
    assert_eq!(
        ids(&eve.suggested),
        ["alpha/t2 reserved", "alpha/t6 third", "alpha/t7 fourth"]
    );
    lead.assert_offers_are_exact().await;
    for id in ["t1", "t2", "t3", "t6", "t7"] {
        lead.deletes(id, true).await.unwrap();
    }
    assert_eq!(ids(&eve_after(&world).await), [""; 0]);
    lead.assert_offers_are_exact().await;
}

async fn eve_after(world: &World) -> Vec<coord_protocol::SuggestedTask> {
    world
        .agent("eve")
        .is_refused(LockMode::Writing, &["a.ts"])
        .await
        .suggested
}

async fn intents_let_a_task_have_its_files_or_refuse_it(world: World) {
    let tasks = [with_files("outside", &["b/x.ts"]), with_files("inside", &["a/x.ts"])];
    let (_, mut bob, _) = team(&world, &tasks).await;
    world.begins(intent("INT-1", "a/**", None)).await;
    bob.about.cited = Some("INT-1".to_owned());
    let before = world.events().await.len();
    let ClaimOutcome::Refused(survey) = bob.is_refused("t1").await else {
        panic!("a refusal by intents");
    };
    assert_eq!(survey.gate.refusal(), Some(ErrorCode::ScopeViolation));
    assert_eq!(world.events_since(before).await, ["lock_refused bob b/x.ts"]);
    let events = world.events().await.len();
    let WithFiles::NotDone { id, because } = bob.next_except(&[]).await.unwrap() else {
        panic!("the first is not let in");
    };
    assert!(matches!(because, ClaimOutcome::Refused(_)));
    assert_eq!(world.events().await.len(), events, "next records no refusal");
    let next = done(bob.next_except(&[id]).await.unwrap());
    assert!(format!("{next:?}").contains("a/x.ts"));
    assert_eq!(world.stored("a/x.ts").await[0].intent_id.as_deref(), Some("INT-1"));
    assert_eq!(world.stored("b/x.ts").await, []);
}

async fn a_leaver_keeps_the_locks_of_its_tasks(world: World) {
    let (lead, bob, eve) = team(&world, &[with_files("one", &["a.ts"])]).await;
    bob.takes("t1").await;
    assert_eq!(bob.mate.leaves().await.unwrap(), ["t1"]);
    assert_eq!(
        holders(&world.stored("a.ts").await),
        ["bob"],
        "nobody knows whether the work is pushed"
    );
    assert_eq!(lead.shows("t1").await.unwrap().task.record.locked, None);
    assert!(matches!(eve.is_refused("t1").await, ClaimOutcome::Conflict(_)));
    assert!(matches!(eve.try_claim("t1", 900).await, Admitted::Outcome(_)));
}

scenarios!(
    a_task_and_its_files_are_claimed_together_or_not_at_all,
    a_claim_from_a_working_copy_that_is_behind_claims_nothing,
    without_a_head_a_task_with_files_is_refused_unless_they_are_left_alone,
    the_branch_of_a_task_is_that_of_its_claim,
    a_file_without_room_for_a_lock_refuses_the_task,
    files_with_very_many_locks_are_too_much_to_look_at,
    a_claim_that_is_refused_leaves_no_mark_and_one_that_is_granted_a_due_repository,
    completing_gives_the_files_back_once_they_are_pushed,
    a_file_that_another_has_now_stops_the_completion,
    a_claim_that_lapsed_completes_with_what_is_left_of_its_files,
    giving_a_task_back_releases_what_is_pushed_and_keeps_the_rest,
    calls_of_the_owner_renew_its_locks_with_its_claim,
    an_agent_that_takes_a_handle_over_goes_on_with_its_files,
    a_member_has_one_task_at_a_time_with_a_file,
    next_passes_over_tasks_whose_files_others_have,
    next_looks_at_so_many_files_and_no_more,
    checks_and_claims_of_members_that_are_blocked_suggest_tasks,
    intents_let_a_task_have_its_files_or_refuse_it,
    a_leaver_keeps_the_locks_of_its_tasks,
);
