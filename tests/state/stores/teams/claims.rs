//! Claims of tasks: every outcome of their scripts.

use std::time::Duration;

use coord_protocol::tasks::{DependencyResult, PassedReason};
use coord_teams_state::tasks::TaskStatus::{Completed, InProgress, Pending};
use coord_teams_state::tasks::{
    HeldBackTask, LeaseState, Priority, Readiness, TaskChanges, TaskClaim, TaskFilter, UpdateOutcome, keys,
};
use coord_teams_state::teams;

use super::tasks::{after, after_new, clearing, depends_on, prioritized};
use crate::world::World;
use crate::world::team::{Mate, claimed, key, nothing, titled};

async fn next_of(mate: &Mate<'_>) -> Option<String> {
    match mate.takes_next().await.unwrap() {
        TaskClaim::Claimed(claimed) => Some(claimed.task.task.id),
        claim => {
            nothing(claim);
            None
        }
    }
}

/// When the claim of a task ends, unless it is renewed.
async fn end_of_claim(mate: &Mate<'_>, id: &str) -> Option<i64> {
    mate.task(id).await.record.expires
}

async fn a_claim_has_one_winner_and_warns_of_dependencies(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    let claimed = bob.claims("t2").await.unwrap().task.task;
    let warning = "Warning: Task t2 dependencies are not met. Proceed with caution.";
    assert_eq!(claimed.warning().as_deref(), Some(warning));
    let first_token = claimed.record.token.unwrap();
    assert!(bob.claims("t2").await.unwrap().is_renewal);
    assert_refused!(eve.claims("t2") => "Task t2 is not available (status: in_progress)");
    assert_refused!(eve.claims("t2") => TaskTaken { owner, .. } if owner == "bob");
    assert_refused!(eve.completes("t2") => NotOwner);
    assert_refused!(eve.releases("t2", "") => NotOwner);
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
    assert_eq!(bob.inbox().await.messages[0].message, "Dependencies are met: t2");
    assert_refused!(bob.claims("t1") => "Task t1 is not available (status: completed)");
    assert!(eve.completes("t1").await.unwrap().was_completed);
    assert_refused!(bob.completes("t1") => TaskUnavailable);
    bob.releases("t2", "half done").await.unwrap();
    let again = eve.claims("t2").await.unwrap().task;
    assert!(again.task.record.token.unwrap() > first_token);
    assert_eq!(again.notes[0].text, "half done");
    assert_eq!(again.task.record.had.as_deref(), Some("bob"));
    assert_refused!(bob.completes_with("t2", Some(first_token), "") => ClaimLost);
}

async fn status_only_goes_forward(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let to = |status| TaskChanges {
        status: Some(status),
        ..TaskChanges::default()
    };
    assert_refused!(bob.completes("t1") => "Invalid status transition: pending -> completed");
    assert_refused!(bob.updates("t1", &to(Completed)) => "Invalid status transition: pending -> completed");
    let by_claim = bob.updates("t1", &to(InProgress)).await.unwrap();
    assert!(matches!(by_claim, UpdateOutcome::NotByUpdate { .. }));
    let unchanged = bob.updates("t1", &to(Pending)).await.unwrap();
    assert!(matches!(unchanged, UpdateOutcome::Task(_)));
    bob.claims("t1").await.unwrap();
    assert_refused!(bob.updates("t1", &to(Pending)) => "Invalid status transition: in_progress -> pending");
    bob.completes("t1").await.unwrap();
    assert_refused!(bob.updates("t1", &to(InProgress)) => "Invalid status transition: completed -> in_progress");
    assert_refused!(bob.releases("t1", "") => NotOwner);
}

// rule: teams#next
async fn next_gives_what_is_assigned_for_ten_minutes_then_by_priority_and_age(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let tasks = [
        prioritized(titled("a"), Priority::Low),
        titled("b"),
        prioritized(titled("c"), Priority::High),
        titled("d"),
        titled("e"),
    ];
    lead.adds(&tasks).await.unwrap();
    lead.updates("t5", &depends_on(&["t1"])).await.unwrap();
    assert_refused!(bob.assigns("t1", Some("bob")) => NotCreator);
    assert_refused!(lead.assigns("t1", Some("ghost")) => NoRecipient);
    let assigned = lead.assigns("t1", Some("eve")).await.unwrap().task;
    assert_eq!(assigned.record.reserved, Some(assigned.read_at + 600_000));
    lead.assigns("t4", Some("eve")).await.unwrap();
    assert_eq!(eve.inbox().await.messages[0].task_id.as_deref(), Some("t1"));
    assert_refused!(bob.claims("t1") => Reserved { assignee, .. } if assignee == "eve");
    assert_eq!(next_of(&eve).await.as_deref(), Some("t4"));
    assert_eq!(next_of(&bob).await.as_deref(), Some("t3"));
    assert_eq!(next_of(&bob).await.as_deref(), Some("t2"));
    let found = nothing(bob.takes_next().await.unwrap());
    let (counts, passed) = (found.counts, &found.passed[0]);
    assert_eq!((counts.open, counts.claimed, counts.ready), (5, 3, 1));
    assert_eq!((found.held.len(), found.passed.len()), (3, 1));
    assert_eq!((&*passed.id, &passed.reason), ("t1", &PassedReason::Reserved));
    assert_eq!(passed.handle.as_deref(), Some("eve"));
    lead.assigns("t1", None).await.unwrap();
    assert_eq!(next_of(&bob).await.as_deref(), Some("t1"));
    assert_refused!(lead.assigns("t1", Some("eve")) => TaskTaken);
    bob.completes("t1").await.unwrap();
    assert_refused!(lead.assigns("t1", Some("eve")) => TaskUnavailable);
    assert_eq!(next_of(&eve).await.as_deref(), Some("t5"));
}

// rule: teams#taken
async fn an_expired_claim_frees_its_task_and_three_expiries_hold_it_back(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.expire_claim("t1").await;
    let view = eve.task("t1").await;
    let now = i64::MAX / 2;
    assert_eq!((view.lease(now), view.owner(now)), (LeaseState::Lapsed, None));
    assert!(view.is_ready(now));
    let ready = TaskFilter {
        readiness: Some(Readiness::Ready),
        ..TaskFilter::default()
    };
    assert_eq!(eve.lists(0, 10, &ready).await.unwrap().tasks.len(), 1);
    // Its owner can still complete it while nobody else has it.
    assert!(bob.completes("t1").await.unwrap().had_expired);
    lead.adds(&[titled("b")]).await.unwrap();
    for (number, mate) in [&bob, &eve, &bob].into_iter().enumerate() {
        assert_eq!(next_of(mate).await.as_deref(), Some("t2"), "{number}");
        mate.expire_claim("t2").await;
    }
    assert_refused!(eve.claims("t2") => HeldBack { lapses: 3, .. });
    assert_eq!(next_of(&eve).await, None);
    assert_eq!(eve.lists(0, 10, &ready).await.unwrap().tasks.len(), 0);
    assert_refused!(eve.updates("t2", &clearing()) => NotCreator);
    lead.updates("t2", &clearing()).await.unwrap();
    let taken = eve.claims("t2").await.unwrap();
    assert_eq!(taken.task.task.record.had.as_deref(), Some("bob"));
    assert_refused!(bob.completes("t2") => ClaimLost);
    assert_eq!(world.events_of_type("task_lapsed").await.len(), 4, "each once");
}

/// Tasks that others wait for, and those that are held back, with the number of the latter.
async fn obstacles(mate: &Mate<'_>) -> (String, String, u64) {
    let obstacles = nothing(mate.takes_next().await.unwrap()).obstacles;
    let name = |task: &HeldBackTask| format!("{} of {}", task.id, task.creator);
    let held_back: Vec<String> = obstacles.held_back.iter().map(name).collect();
    let count = obstacles.held_back_count;
    (obstacles.blocking.join(" "), held_back.join(", "), count)
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
    let waiting = [titled("g"), after("h", &["t7"]), after("i", &["t2"])];
    lead.adds(&waiting).await.unwrap();
    bob.claims("t7").await.unwrap();
    let are = |blocking: &str, held_back: &str, count| (blocking.to_owned(), held_back.to_owned(), count);
    let five = "t1 of bob, t2 of bob, t3 of bob, t4 of bob, t5 of bob";
    assert_eq!(obstacles(&bob).await, are("t7 t2", five, 6));
    // A task that is cleared, completed or deleted is no longer held back.
    bob.updates("t1", &clearing()).await.unwrap();
    lead.completes("t6").await.unwrap();
    for id in ["t3", "t4", "t5"] {
        lead.deletes(id, false).await.unwrap();
    }
    bob.claims("t1").await.unwrap();
    assert_eq!(obstacles(&lead).await, are("t7 t2", "t2 of bob", 1));
    // A task that is claimed or completed waits for nothing.
    for id in ["t8", "t9"] {
        lead.claims(id).await.unwrap();
    }
    lead.completes("t9").await.unwrap();
    assert_eq!(obstacles(&lead).await, are("", "t2 of bob", 1));
}

/// A renewal read all other claims, so that it cost a command for each; what it must not lose is that the time may be shorter now.
async fn calls_of_the_owner_renew_its_claims_after_half_of_their_time_which_a_renewal_may_shorten(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    bob.claims_for("t1", 3).await.unwrap();
    eve.claims("t2").await.unwrap();
    eve.claims_for("t2", 3).await.unwrap();
    let ends = async || (end_of_claim(&bob, "t1").await, end_of_claim(&eve, "t2").await);
    let before = ends().await;
    bob.inbox().await;
    assert_eq!(ends().await, before, "nothing is to be renewed yet");
    // time: half of the time of both claims passes.
    tokio::time::sleep(Duration::from_millis(1800)).await;
    for mate in [&bob, &eve] {
        mate.inbox().await;
    }
    let after = ends().await;
    assert!(after.0 > before.0 && after.1 > before.1, "{before:?} {after:?}");
}

async fn a_strict_team_refuses_what_depends_on_open_tasks(world: World) {
    let lead = world.mate("lead", "strict");
    lead.creates_as("lead", true).await.unwrap();
    lead.adds(&[titled("a"), after_new("b", &[0])]).await.unwrap();
    assert_refused!(lead.claims("t2") => "Task t2 dependencies are not met: t1");
}

/// The oldest goes with its texts and edges, and with nothing else.
async fn the_newest_10_000_completed_tasks_stay(world: World) {
    let (lead, []) = world.team_of([]).await;
    let tasks = [titled("a"), titled("b"), after("c", &["t1"]), titled("d")];
    lead.adds(&tasks).await.unwrap();
    let (repo, team) = (&world.repo, &lead.team);
    let done = keys::done(repo, team);
    // As many as there may be: t1 and t2 are the oldest.
    for (id, time) in [("t1", "1"), ("t2", "2")] {
        lead.claims(id).await.unwrap();
        lead.completes_with(id, None, "The result").await.unwrap();
        world.command(["ZADD", &done, time, id]).await;
    }
    let fill = "for number = 1, 9997 do redis.call('ZADD', KEYS[1], 3, 'x' .. number) end";
    world.script(fill, &[&done], &[]).await;
    let counts = teams::keys::teams(repo);
    world.command(["HSET", &counts, "alpha/done", "9999"]).await;
    lead.claims("t4").await.unwrap();
    lead.completes("t4").await.unwrap();
    assert!(lead.shows("t1").await.is_ok(), "there is room for 10,000");
    lead.claims("t3").await.unwrap();
    lead.completes("t3").await.unwrap();
    assert_refused!(lead.shows("t1") => "Task t1 not found in team alpha");
    assert!(lead.shows("t2").await.is_ok());
    assert_eq!(world.number(["ZCARD", &done]).await, 10_000);
    assert_eq!(lead.shows_team().await.unwrap().done_tasks, 10_000);
    assert_eq!(lead.task("t3").await.met_dependencies, [""; 0]);
    let (texts, edges) = (keys::texts(repo, team), keys::edges(repo, team));
    assert_eq!(world.number(["HEXISTS", &texts, "t1 result"]).await, 0);
    let of_first = world.number(["ZLEXCOUNT", &edges, "[b t1 ", "(b t1 ~"]).await;
    assert_eq!(of_first, 0);
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
        assert!(again.was_completed, "{result}");
        assert_eq!(again.is_other_result, is_other, "{result}");
        assert_eq!(again.task.result.as_deref(), Some("the first"));
    }
    // Bob had it.
    assert_refused!(bob.completes("t1") => ClaimLost { owner, .. } if owner == "eve");
    let earlier = token.map(|token| token - 1);
    assert_refused!(eve.completes_with("t1", earlier, "") => ClaimLost);
    assert_refused!(lead.completes("t1") => TaskUnavailable);
    // The handle is another login's now.
    eve.leaves().await.unwrap();
    let other = world.mate("mallory", "alpha");
    other.joins("eve").await.unwrap();
    assert_refused!(other.completes("t1") => TaskUnavailable);
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
    lead.adds(&vec![titled("a"); 40]).await.unwrap();
    for number in 1..=32 {
        lead.assigns(&format!("t{number}"), Some("lead")).await.unwrap();
    }
    let found = nothing(bob.takes_next().await.unwrap());
    assert_eq!((found.counts.open, found.counts.ready), (40, 40));
    assert_eq!(found.passed.len(), 32);
    assert_eq!(found.obstacles.blocking, [""; 0]);
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
        let before = end_of_claim(&bob, "t1").await;
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
            _ => drop(bob.inbox().await),
        }
        let after = end_of_claim(&bob, "t1").await;
        assert!(after > before, "call {call}: {before:?} {after:?}");
    }
    // Refusals renew nothing, and neither does what only shows.
    bob.uses_up_half("t1").await;
    let before = end_of_claim(&lead, "t1").await;
    bob.assigns("t6", Some("eve")).await.unwrap_err();
    bob.claims("t6").await.unwrap_err();
    bob.assigns("t2", Some("ghost")).await.unwrap_err();
    bob.lists(0, 10, &TaskFilter::default()).await.unwrap();
    assert_eq!(end_of_claim(&bob, "t1").await, before);
}

/// `coord team sync` reads for agents that may be dead, and kept their tasks for them so.
async fn a_read_for_a_member_renews_no_claim_and_proves_no_activity(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("held")]).await.unwrap();
    bob.claims_for("t1", 40).await.unwrap();
    lead.sends_text(&["bob"], "x").await.unwrap();
    bob.uses_up_half("t1").await;
    let seen = teams::keys::seen(&world.repo, &bob.team);
    world.command(["HSET", &seen, "bob", "1000"]).await;
    let state = async || {
        let seen = world.command(["HGET", &seen, "bob"]).await;
        (seen, end_of_claim(&lead, "t1").await)
    };
    let before = state().await;
    assert_eq!(bob.is_read_for(None).await.unwrap().messages.len(), 1);
    assert_eq!(state().await, before);
    bob.inbox().await;
    let after = state().await;
    assert!(after.0 != before.0 && after.1 > before.1, "{before:?} {after:?}");
}

async fn a_member_has_50_claims(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&vec![titled("a"); 52]).await.unwrap();
    for _ in 0..50 {
        next_of(&bob).await.unwrap();
    }
    assert_refused!(bob.takes_next() => "There can be no more than 50 claims");
    assert_refused!(bob.claims("t52") => "There can be no more than 50 claims");
    bob.completes("t1").await.unwrap();
    assert_eq!(next_of(&bob).await.as_deref(), Some("t51"));
}

/// A server of an earlier version, which has lists there, may give the answer to the repeated request.
async fn a_remembered_answer_has_the_form_of_earlier_versions(world: World) {
    let (lead, [bob, _eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["kept", "free"].map(titled)).await.unwrap();
    lead.assigns("t1", Some("eve")).await.unwrap();
    let takes = async || claimed(bob.takes_next_with_key(key("k", "a")).await.unwrap());
    let first = takes().await;
    let answers = teams::keys::answers(&world.repo, &coord_store::script::sha1_hex("bob"));
    let stored = world.stored_json(&answers, "alpha  next_task k").await;
    let answer: serde_json::Value = serde_json::from_str(stored["text"].as_str().unwrap()).unwrap();
    let until = first.passed[0].until.unwrap().to_string();
    let passed = serde_json::json!([["t1", "RESERVED", "eve", until, "", "", ""]]);
    assert_eq!((&answer["id"], &answer["passed"]), (&"t2".into(), &passed));
    let again = takes().await;
    assert_eq!((again.task.task.id, again.passed), (first.task.task.id, first.passed));
}

scenarios!(
    a_remembered_answer_has_the_form_of_earlier_versions,
    a_claim_has_one_winner_and_warns_of_dependencies,
    status_only_goes_forward,
    next_gives_what_is_assigned_for_ten_minutes_then_by_priority_and_age,
    an_expired_claim_frees_its_task_and_three_expiries_hold_it_back,
    held_back_tasks_are_distinguished_from_waiting_ones,
    calls_of_the_owner_renew_its_claims_after_half_of_their_time_which_a_renewal_may_shorten,
    a_strict_team_refuses_what_depends_on_open_tasks,
    the_newest_10_000_completed_tasks_stay,
    a_member_has_50_claims,
    a_completed_task_is_completed_again_by_its_owner_alone,
    a_task_that_its_assignee_releases_is_free_for_every_member,
    tasks_that_next_did_not_examine_are_counted,
    tokens_of_tasks_and_locks_are_of_one_counter,
    every_call_of_the_owner_renews,
    a_read_for_a_member_renews_no_claim_and_proves_no_activity,
);
