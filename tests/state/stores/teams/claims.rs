//! Claims of tasks: every outcome of their scripts.

use coord_protocol::tasks::DependencyResult;
use coord_teams_state::tasks::{
    LeaseState, NewTask, NothingReady, Priority, Readiness, TaskChanges, TaskClaim, TaskFilter, TaskReference,
    TaskStatus, UpdateOutcome, keys,
};
use coord_teams_state::teams::{RequestKey, TeamRefusal};

use super::tasks::{after, depends_on, sentence};
use crate::world::World;
use crate::world::team::{Mate, nothing, titled};

async fn next_of(mate: &Mate<'_>) -> Option<String> {
    match mate.takes_next().await.unwrap() {
        TaskClaim::Claimed(claimed) => Some(claimed.task.task.id),
        claim => {
            nothing(claim);
            None
        }
    }
}

async fn a_claim_has_one_winner_and_warns_of_dependencies(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a"), after("b", &[])]).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    let claimed = bob.claims("t2").await.unwrap();
    assert_eq!(
        claimed.task.task.warning().as_deref(),
        Some("Warning: Task t2 dependencies are not met. Proceed with caution.")
    );
    let first_token = claimed.task.task.record.token.unwrap();
    assert!(bob.claims("t2").await.unwrap().is_renewal);
    assert_eq!(
        sentence(eve.claims("t2").await),
        "Task t2 is not available (status: in_progress)"
    );
    assert!(matches!(eve.claims("t2").await, Err(TeamRefusal::TaskTaken { owner, .. }) if owner == "bob"));
    assert_eq!(sentence(eve.claims("t7").await), "Task t7 not found in team alpha");
    assert!(matches!(eve.completes("t2").await, Err(TeamRefusal::NotOwner { .. })));
    assert!(matches!(
        eve.releases("t2", "").await,
        Err(TeamRefusal::NotOwner { .. })
    ));
    eve.claims("t1").await.unwrap();
    let done = eve.completes_with("t1", None, "it works").await.unwrap();
    assert_eq!((done.unblocked.count, done.had_expired), (1, false));
    let whole = bob.claims("t2").await.unwrap().task;
    assert_eq!(whole.task.warning(), None);
    let result = DependencyResult {
        id: "t1".to_owned(),
        by: Some("eve".to_owned()),
        login: Some("eve".to_owned()),
        result: "it works".to_owned(),
    };
    assert_eq!(whole.results, [result]);
    assert_eq!(
        bob.reads(None).await.unwrap().messages[0].message,
        "Dependencies are met: t2"
    );
    assert_eq!(
        sentence(bob.claims("t1").await),
        "Task t1 is not available (status: completed)"
    );
    assert!(eve.completes("t1").await.unwrap().was_completed);
    assert!(matches!(
        bob.completes("t1").await,
        Err(TeamRefusal::TaskUnavailable { .. })
    ));
    bob.releases("t2", "half done").await.unwrap();
    let again = eve.claims("t2").await.unwrap().task;
    assert!(again.task.record.token.unwrap() > first_token);
    assert_eq!(
        (again.notes[0].text.as_str(), again.task.record.had.as_deref()),
        ("half done", Some("bob"))
    );
    assert!(matches!(
        bob.completes_with("t2", Some(first_token), "").await,
        Err(TeamRefusal::ClaimLost { .. })
    ));
}

async fn status_only_goes_forward(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let to = |status| TaskChanges {
        status: Some(status),
        ..TaskChanges::default()
    };
    assert_eq!(
        sentence(bob.completes("t1").await),
        "Invalid status transition: pending -> completed"
    );
    assert_eq!(
        sentence(bob.updates("t1", &to(TaskStatus::Completed)).await),
        "Invalid status transition: pending -> completed"
    );
    assert!(matches!(
        bob.updates("t1", &to(TaskStatus::InProgress)).await.unwrap(),
        UpdateOutcome::NotByUpdate { .. }
    ));
    assert!(matches!(
        bob.updates("t1", &to(TaskStatus::Pending)).await.unwrap(),
        UpdateOutcome::Task(_)
    ));
    bob.claims("t1").await.unwrap();
    assert_eq!(
        sentence(bob.updates("t1", &to(TaskStatus::Pending)).await),
        "Invalid status transition: in_progress -> pending"
    );
    bob.completes("t1").await.unwrap();
    assert_eq!(
        sentence(bob.updates("t1", &to(TaskStatus::InProgress)).await),
        "Invalid status transition: completed -> in_progress"
    );
    assert!(matches!(
        bob.releases("t1", "").await,
        Err(TeamRefusal::NotOwner { .. })
    ));
}

// rule: teams#next
async fn next_gives_what_is_assigned_then_by_priority_and_age(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let of = |title, priority| NewTask {
        priority,
        ..titled(title)
    };
    lead.adds(&[
        of("a", Priority::Low),
        of("b", Priority::Normal),
        of("c", Priority::High),
        of("d", Priority::Normal),
        after("e", &[]),
    ])
    .await
    .unwrap();
    lead.updates("t5", &depends_on(&["t1"])).await.unwrap();
    assert!(matches!(
        bob.assigns("t1", Some("bob")).await,
        Err(TeamRefusal::NotCreator { .. })
    ));
    assert!(matches!(
        lead.assigns("t1", Some("ghost")).await,
        Err(TeamRefusal::NoRecipient { .. })
    ));
    lead.assigns("t1", Some("eve")).await.unwrap();
    lead.assigns("t4", Some("eve")).await.unwrap();
    assert_eq!(
        eve.reads(None).await.unwrap().messages[0].task_id.as_deref(),
        Some("t1")
    );
    assert!(matches!(bob.claims("t1").await, Err(TeamRefusal::Reserved { assignee, .. }) if assignee == "eve"));
    assert_eq!(next_of(&eve).await.as_deref(), Some("t4"));
    assert_eq!(next_of(&bob).await.as_deref(), Some("t3"));
    assert_eq!(next_of(&bob).await.as_deref(), Some("t2"));
    let NothingReady {
        counts, held, passed, ..
    } = nothing(bob.takes_next().await.unwrap());
    assert_eq!((counts.open, counts.claimed, counts.ready), (5, 3, 1));
    assert_eq!((held.len(), passed.len()), (3, 1));
    assert_eq!(
        (
            passed[0].id.as_str(),
            format!("{:?}", passed[0].reason).as_str(),
            passed[0].handle.as_deref().unwrap()
        ),
        ("t1", "Reserved", "eve")
    );
    lead.assigns("t1", None).await.unwrap();
    assert_eq!(next_of(&bob).await.as_deref(), Some("t1"));
    assert!(matches!(
        lead.assigns("t1", Some("eve")).await,
        Err(TeamRefusal::TaskTaken { .. })
    ));
    bob.completes("t1").await.unwrap();
    assert!(matches!(
        lead.assigns("t1", Some("eve")).await,
        Err(TeamRefusal::TaskUnavailable { .. })
    ));
    assert_eq!(next_of(&eve).await.as_deref(), Some("t5"));
}

// rule: teams#taken
async fn an_expired_claim_frees_its_task_and_three_expiries_hold_it_back(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.expire_claim("t1").await;
    let view = eve.shows("t1").await.unwrap().task;
    let now = i64::MAX / 2;
    assert_eq!(
        (view.lease(now), view.owner(now), view.is_ready(now)),
        (LeaseState::Lapsed, None, true)
    );
    let ready = TaskFilter {
        readiness: Some(Readiness::Ready),
        ..TaskFilter::default()
    };
    assert_eq!(
        eve.lists(0, 10, &ready).await.unwrap().tasks.len(),
        1,
        "what can be claimed is listed"
    );
    // Its owner can still complete it while nobody else has it.
    let done = bob.completes("t1").await.unwrap();
    assert!(done.had_expired);
    lead.adds(&[titled("b")]).await.unwrap();
    for (number, mate) in [&bob, &eve, &bob].into_iter().enumerate() {
        assert_eq!(next_of(mate).await.as_deref(), Some("t2"), "{number}");
        mate.expire_claim("t2").await;
    }
    assert!(matches!(
        eve.claims("t2").await,
        Err(TeamRefusal::HeldBack { lapses: 3, .. })
    ));
    assert_eq!(next_of(&eve).await, None);
    assert_eq!(eve.lists(0, 10, &ready).await.unwrap().tasks.len(), 0);
    let clear = TaskChanges {
        clear_lapses: true,
        ..TaskChanges::default()
    };
    assert!(matches!(
        eve.updates("t2", &clear).await,
        Err(TeamRefusal::NotCreator { .. })
    ));
    lead.updates("t2", &clear).await.unwrap();
    let taken = eve.claims("t2").await.unwrap();
    assert_eq!(taken.task.task.record.had.as_deref(), Some("bob"));
    assert!(matches!(bob.completes("t2").await, Err(TeamRefusal::ClaimLost { .. })));
    let events = world.events().await;
    let lapsed = events
        .iter()
        .filter(|(_, event)| event["type"] == "task_lapsed")
        .count();
    assert_eq!(lapsed, 4, "each once");
}

async fn obstacles(mate: &Mate<'_>) -> (Vec<String>, Vec<String>, u64) {
    let obstacles = nothing(mate.takes_next().await.unwrap()).obstacles;
    let held_back = obstacles.held_back.into_iter();
    let held_back = held_back.map(|task| format!("{} of {}", task.id, task.creator));
    (obstacles.blocking, held_back.collect(), obstacles.held_back_count)
}

/// All of it was said to wait for other tasks.
async fn held_back_tasks_are_distinguished_from_waiting_ones(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    bob.adds(&["a", "b", "c", "d", "e", "f"].map(titled)).await.unwrap();
    for id in ["t1", "t2", "t3", "t4", "t5", "t6"] {
        for _ in 0..3 {
            lead.claims(id).await.unwrap();
            lead.expire_claim(id).await;
        }
    }
    lead.adds(&[titled("g"), after("h", &["t7"]), after("i", &["t2"])])
        .await
        .unwrap();
    bob.claims("t7").await.unwrap();
    let five = ["t1", "t2", "t3", "t4", "t5"].map(|id| format!("{id} of bob"));
    assert_eq!(
        obstacles(&bob).await,
        (vec!["t7".to_owned(), "t2".to_owned()], five.to_vec(), 6)
    );
    // A task that is cleared, completed or deleted is no longer held back.
    let clear = TaskChanges {
        clear_lapses: true,
        ..TaskChanges::default()
    };
    bob.updates("t1", &clear).await.unwrap();
    lead.completes("t6").await.unwrap();
    for id in ["t3", "t4", "t5"] {
        lead.deletes(id, false).await.unwrap();
    }
    bob.claims("t1").await.unwrap();
    assert_eq!(
        obstacles(&lead).await,
        (vec!["t7".to_owned(), "t2".to_owned()], vec!["t2 of bob".to_owned()], 1)
    );
    // A task that is claimed or completed waits for nothing.
    for id in ["t8", "t9"] {
        lead.claims(id).await.unwrap();
    }
    lead.completes("t9").await.unwrap();
    assert_eq!(obstacles(&lead).await, (vec![], vec!["t2 of bob".to_owned()], 1));
}

async fn calls_of_the_owner_renew_its_claims_once_half_is_gone(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let first = bob.claims_for("t1", 3).await.unwrap().task.task.record.expires.unwrap();
    bob.reads(None).await.unwrap();
    assert_eq!(
        bob.shows("t1").await.unwrap().task.record.expires,
        Some(first),
        "nothing is to be renewed yet"
    );
    // time: half of the claim's time passes.
    tokio::time::sleep(std::time::Duration::from_millis(1800)).await;
    bob.reads(None).await.unwrap();
    assert!(bob.shows("t1").await.unwrap().task.record.expires > Some(first));
}

/// A renewal read all other claims, so that it cost a command for each; what it must not lose is that the time may be shorter now.
async fn a_renewal_for_a_shorter_time_is_renewed_after_half_of_that(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    let shorter = bob.claims_for("t1", 3).await.unwrap().task.task.record.expires;
    // time: half of the claim's time passes.
    tokio::time::sleep(std::time::Duration::from_millis(1800)).await;
    bob.reads(None).await.unwrap();
    assert!(bob.shows("t1").await.unwrap().task.record.expires > shorter);
}

async fn a_strict_team_refuses_what_depends_on_open_tasks(world: World) {
    let lead = world.mate("lead", "strict");
    lead.creates_as("lead", true).await.unwrap();
    lead.adds(&[
        titled("a"),
        NewTask {
            dependencies: vec![TaskReference::New(0)],
            ..titled("b")
        },
    ])
    .await
    .unwrap();
    assert_eq!(
        sentence(lead.claims("t2").await),
        "Task t2 dependencies are not met: t1"
    );
}

/// The oldest goes with its texts and edges, and with nothing else.
async fn the_newest_10_000_completed_tasks_stay(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("a"), titled("b"), after("c", &["t1"]), titled("d")])
        .await
        .unwrap();
    for id in ["t1", "t2"] {
        lead.claims(id).await.unwrap();
        lead.completes_with(id, None, "The result").await.unwrap();
    }
    let (repo, team) = (&world.repo, &lead.team);
    let done = keys::done(repo, team);
    // As many as there may be: t1 and t2 are the oldest.
    for (id, time) in [("t1", "1"), ("t2", "2")] {
        world.command(["ZADD", &done, time, id]).await;
    }
    let fill = "for number = 1, 9997 do redis.call('ZADD', KEYS[1], 3, 'x' .. number) end";
    world.script(fill, &[&done], &[]).await;
    let teams = coord_teams_state::teams::keys::teams(repo);
    world.command(["HSET", &teams, "alpha/done", "9999"]).await;
    lead.claims("t4").await.unwrap();
    lead.completes("t4").await.unwrap();
    assert!(lead.shows("t1").await.is_ok(), "there is room for 10,000");
    lead.claims("t3").await.unwrap();
    lead.completes("t3").await.unwrap();
    assert_eq!(sentence(lead.shows("t1").await), "Task t1 not found in team alpha");
    assert!(lead.shows("t2").await.is_ok());
    assert_eq!(world.number(["ZCARD", &done]).await, 10_000);
    assert_eq!(lead.shows_team().await.unwrap().done_tasks, 10_000);
    assert_eq!(lead.shows("t3").await.unwrap().task.met_dependencies, [""; 0]);
    assert_eq!(
        world.number(["HEXISTS", &keys::texts(repo, team), "t1 result"]).await,
        0
    );
    assert_eq!(
        world
            .number(["ZLEXCOUNT", &keys::edges(repo, team), "[b t1 ", "(b t1 ~"])
            .await,
        0
    );
}

/// It was a success for everybody, and another result was dropped without a word.
async fn a_completed_task_is_completed_again_by_its_owner_alone(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.expire_claim("t1").await;
    let token = eve.claims("t1").await.unwrap().task.task.record.token;
    eve.completes_with("t1", token, "the first").await.unwrap();
    for (token, result, is_other) in [(token, "the first", false), (None, "", false), (token, "another", true)] {
        let again = eve.completes_with("t1", token, result).await.unwrap();
        assert_eq!(
            (again.was_completed, again.is_other_result),
            (true, is_other),
            "{result}"
        );
        assert_eq!(again.task.result.as_deref(), Some("the first"));
    }
    assert!(
        matches!(bob.completes("t1").await, Err(TeamRefusal::ClaimLost { owner, .. }) if owner == "eve"),
        "bob had it"
    );
    assert!(matches!(
        eve.completes_with("t1", token.map(|token| token - 1), "").await,
        Err(TeamRefusal::ClaimLost { .. })
    ));
    assert!(matches!(
        lead.completes("t1").await,
        Err(TeamRefusal::TaskUnavailable { .. })
    ));
    // The handle is another login's now.
    eve.leaves().await.unwrap();
    let other = world.mate("mallory", "alpha");
    other.joins("eve").await.unwrap();
    assert!(matches!(
        other.completes("t1").await,
        Err(TeamRefusal::TaskUnavailable { .. })
    ));
}

/// It stayed reserved for the member that did not want it.
async fn a_task_that_its_assignee_releases_is_free_for_every_member(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    for id in ["t1", "t2"] {
        lead.assigns(id, Some("bob")).await.unwrap();
        bob.claims(id).await.unwrap();
    }
    bob.releases("t1", "not mine").await.unwrap();
    bob.expire_claim("t2").await;
    eve.claims("t1").await.unwrap();
    eve.claims("t2").await.unwrap();
}

/// It said that the rest waits for other tasks.
async fn tasks_that_next_did_not_examine_are_counted(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let tasks: Vec<NewTask> = (0..40).map(|number| titled(&format!("{number}"))).collect();
    lead.adds(&tasks).await.unwrap();
    for number in 1..=32 {
        lead.assigns(&format!("t{number}"), Some("lead")).await.unwrap();
    }
    let NothingReady {
        counts,
        passed,
        obstacles,
        ..
    } = nothing(bob.takes_next().await.unwrap());
    assert_eq!((counts.open, counts.ready, passed.len()), (40, 40, 32));
    assert_eq!(obstacles.blocking, [""; 0]);
}

async fn tokens_of_tasks_and_locks_are_of_one_counter(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    let agent = world.agent("bob");
    let mut tokens = Vec::new();
    for (file, id) in [("a.ts", "t1"), ("b.ts", "t2")] {
        agent.writes(&[file]).await;
        tokens.push(world.stored(file).await[0].token);
        tokens.push(bob.claims(id).await.unwrap().task.task.record.token.unwrap());
    }
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

async fn a_reservation_lasts_ten_minutes(world: World) {
    let (lead, [_bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let assigned = lead.assigns("t1", Some("bob")).await.unwrap().task;
    assert_eq!(assigned.record.reserved, Some(assigned.read_at + 600_000));
}

/// A caller that calls about tasks or messages is at work: each of these renews.
// rule: teams#lease
async fn every_call_of_the_owner_renews(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    bob.adds(&["held", "b", "c", "d", "e", "f"].map(titled)).await.unwrap();
    eve.claims("t6").await.unwrap();
    bob.claims_for("t1", 40).await.unwrap();
    let edit = TaskChanges {
        title: Some("B".to_owned()),
        ..TaskChanges::default()
    };
    for call in 0..10 {
        bob.uses_up_half("t1").await;
        let before = bob.shows("t1").await.unwrap().task.record.expires;
        match call {
            0 => drop(bob.adds(&[titled("g")]).await.unwrap()),
            1 => drop(bob.updates("t2", &edit).await.unwrap()),
            2 => drop(bob.assigns("t2", Some("eve")).await.unwrap()),
            3 => drop(bob.claims("t3").await.unwrap()),
            4 => drop(bob.completes("t3").await.unwrap()),
            5 => drop(bob.takes_next().await.unwrap()),
            6 => drop(bob.releases("t4", "").await.unwrap()),
            7 => drop(bob.deletes("t5", false).await.unwrap()),
            8 => drop(bob.sends_text(&["lead"], "x").await.unwrap()),
            _ => drop(bob.reads(None).await.unwrap()),
        }
        let after = bob.shows("t1").await.unwrap().task.record.expires;
        assert!(after > before, "call {call}: {before:?} {after:?}");
    }
    // Refusals renew nothing, and neither does what only shows.
    bob.uses_up_half("t1").await;
    let before = lead.shows("t1").await.unwrap().task.record.expires;
    for refused in [
        bob.assigns("t6", Some("eve")).await.is_err(),
        bob.claims("t6").await.is_err(),
    ] {
        assert!(refused);
    }
    bob.assigns("t2", Some("ghost")).await.unwrap_err();
    bob.lists(0, 10, &TaskFilter::default()).await.unwrap();
    assert_eq!(bob.shows("t1").await.unwrap().task.record.expires, before);
}

/// `coord team sync` reads for agents that may be dead, and kept their tasks for them so.
async fn a_read_for_a_member_renews_no_claim_and_proves_no_activity(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("held")]).await.unwrap();
    bob.claims_for("t1", 40).await.unwrap();
    lead.sends_text(&["bob"], "x").await.unwrap();
    bob.uses_up_half("t1").await;
    let seen = coord_teams_state::teams::keys::seen(&world.repo, &bob.team);
    world.command(["HSET", &seen, "bob", "1000"]).await;
    let state = async || {
        let expires = lead.shows("t1").await.unwrap().task.record.expires;
        (world.command(["HGET", &seen, "bob"]).await, expires)
    };
    let before = state().await;
    assert_eq!(bob.is_read_for(None).await.unwrap().messages.len(), 1);
    assert_eq!(state().await, before);
    bob.reads(None).await.unwrap();
    let after = state().await;
    assert!(after.0 != before.0 && after.1 > before.1, "{before:?} {after:?}");
}

async fn a_member_has_50_claims(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let tasks: Vec<NewTask> = (0..52).map(|number| titled(&format!("{number}"))).collect();
    lead.adds(&tasks).await.unwrap();
    for _ in 0..50 {
        next_of(&bob).await.unwrap();
    }
    assert_eq!(sentence(bob.takes_next().await), "There can be no more than 50 claims");
    assert_eq!(sentence(bob.claims("t52").await), "There can be no more than 50 claims");
    bob.completes("t1").await.unwrap();
    assert_eq!(next_of(&bob).await.as_deref(), Some("t51"));
}

/// A server of an earlier version, which has lists there, may give the answer to the repeated request.
async fn a_remembered_answer_has_the_form_of_earlier_versions(world: World) {
    let (lead, [bob, _eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("kept"), titled("free")]).await.unwrap();
    lead.assigns("t1", Some("eve")).await.unwrap();
    let key = RequestKey { key: "k", content: "a" };
    let TaskClaim::Claimed(first) = bob.takes_next_with_key(key).await.unwrap() else {
        panic!("t2 is free");
    };
    let answers = coord_teams_state::teams::keys::answers(&world.repo, &coord_store::script::sha1_hex("bob"));
    let stored = world.command(["HGET", &answers, "alpha  next_task k"]).await;
    let stored: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    let answer: serde_json::Value = serde_json::from_str(stored["text"].as_str().unwrap()).unwrap();
    let until = first.passed[0].until.unwrap().to_string();
    let passed = serde_json::json!([["t1", "RESERVED", "eve", until, "", "", ""]]);
    assert_eq!((&answer["id"], &answer["passed"]), (&"t2".into(), &passed));
    let TaskClaim::Claimed(again) = bob.takes_next_with_key(key).await.unwrap() else {
        panic!("t2 is bob's");
    };
    assert_eq!((again.task.task.id, &again.passed), (first.task.task.id, &first.passed));
}

scenarios!(
    a_remembered_answer_has_the_form_of_earlier_versions,
    a_claim_has_one_winner_and_warns_of_dependencies,
    status_only_goes_forward,
    next_gives_what_is_assigned_then_by_priority_and_age,
    an_expired_claim_frees_its_task_and_three_expiries_hold_it_back,
    held_back_tasks_are_distinguished_from_waiting_ones,
    calls_of_the_owner_renew_its_claims_once_half_is_gone,
    a_renewal_for_a_shorter_time_is_renewed_after_half_of_that,
    a_strict_team_refuses_what_depends_on_open_tasks,
    the_newest_10_000_completed_tasks_stay,
    a_member_has_50_claims,
    a_completed_task_is_completed_again_by_its_owner_alone,
    a_task_that_its_assignee_releases_is_free_for_every_member,
    tasks_that_next_did_not_examine_are_counted,
    tokens_of_tasks_and_locks_are_of_one_counter,
    a_reservation_lasts_ten_minutes,
    every_call_of_the_owner_renews,
    a_read_for_a_member_renews_no_claim_and_proves_no_activity,
);
