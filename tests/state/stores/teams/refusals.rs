//! Refusals that many scripts share: teams that are not there or are closed, and callers that are not in them; and
//! bounds.

use coord_protocol::team_event::MessageType;
use coord_teams_state::departures::ShutdownProgress;
use coord_teams_state::mail;
use coord_teams_state::messages::MessageFilter;
use coord_teams_state::tasks::{NewTask, TaskChanges, TaskFilter, TaskReference};
use coord_teams_state::teams::{RequestKey, TeamRefusal, keys};

use super::tasks::{after, depends_on};
use crate::world::World;
use crate::world::team::{Mate, task_id, titled};

type Refused = Vec<(&'static str, Option<TeamRefusal>)>;

/// Acts that only members may do, in an order in which none of them prevents the rest.
async fn acts(mate: &Mate<'_>) -> Refused {
    vec![
        ("create_tasks", mate.adds(&[titled("a")]).await.err()),
        ("update_task", mate.updates("t1", &TaskChanges::default()).await.err()),
        ("assign_task", mate.assigns("t1", None).await.err()),
        ("claim_task", mate.claims("t1").await.err()),
        ("next_task", mate.takes_next().await.err()),
        ("release_task", mate.releases("t1", "").await.err()),
        ("complete_task", mate.completes("t1").await.err()),
        ("delete_task", mate.deletes("t1", true).await.err()),
        ("send_message", mate.sends_text(&[], "x").await.err()),
        ("hand_over", mate.hands_over("lead").await.err()),
        ("request_shutdown", mate.requests_shutdown(None, 60).await.err()),
        ("answer_shutdown", mate.answers_shutdown("s1", None).await.err()),
        ("force_shutdown", mate.forces_shutdown("s1").await.err()),
    ]
}

/// Acts that only members may do, in a closed team too.
async fn acts_in_closed_teams(mate: &Mate<'_>) -> Refused {
    vec![
        ("read_messages", mate.reads(None).await.err()),
        ("delete_team", mate.deletes_team().await.err()),
        ("leave_team", mate.leaves().await.err()),
    ]
}

/// Acts of everybody who may read the repository.
async fn reads(mate: &Mate<'_>) -> Refused {
    vec![
        ("show_team", mate.shows_team().await.err()),
        ("show_task", mate.shows("t1").await.err()),
        ("list_tasks", mate.lists(0, 10, &TaskFilter::default()).await.err()),
        ("list_messages", mate.history(10, &MessageFilter::default()).await.err()),
    ]
}

async fn a_team_that_is_not_there_is_refused_by_all(world: World) {
    let mate = world.mate("bob", "none");
    let mut all = acts(&mate).await;
    all.extend(acts_in_closed_teams(&mate).await);
    all.extend(reads(&mate).await);
    all.push(("join_team", mate.joins("bob").await.err()));
    for (script, refusal) in all {
        let expected = TeamRefusal::NoTeam {
            team: "none".to_owned(),
        };
        assert_eq!(refusal, Some(expected), "{script}");
    }
    assert_eq!(world.events().await, [], "nothing has happened");
}

async fn an_agent_outside_the_team_can_only_read_it(world: World) {
    let (lead, [_bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let before = world.events().await.len();
    let eve = world.mate("eve/one", "alpha");
    // The same login as a member, but another agent.
    let stranger = world.mate("bob/other", "alpha");
    for (mate, who) in [(&eve, "one"), (&stranger, "other")] {
        let mut all = acts(mate).await;
        all.extend(acts_in_closed_teams(mate).await);
        for (script, refusal) in all {
            let expected = TeamRefusal::NotAMember {
                who: who.to_owned(),
                team: "alpha".to_owned(),
            };
            assert_eq!(refusal, Some(expected), "{script}");
        }
        for (script, refusal) in reads(mate).await {
            assert_eq!(refusal, None, "{script}");
        }
    }
    assert_eq!(world.events().await.len(), before, "nothing has happened");
}

async fn an_agent_whose_handle_was_taken_over_gets_superseded_in_every_call(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let old = world.mate("bob/old", "alpha");
    old.joins("bob").await.unwrap();
    old.claims("t1").await.unwrap();
    world.mate("bob/new", "alpha").joins("bob").await.unwrap();
    let before = world.events().await.len();
    let mut all = acts(&old).await;
    all.extend(acts_in_closed_teams(&old).await);
    for (script, refusal) in all {
        let expected = TeamRefusal::Superseded {
            handle: "bob".to_owned(),
            agent: "new".to_owned(),
        };
        assert_eq!(refusal, Some(expected), "{script}");
    }
    assert_eq!(world.events().await.len(), before, "nothing has happened");
}

async fn a_closed_team_takes_no_writes_and_can_be_read_and_left(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    lead.requests_shutdown(None, 0).await.unwrap();
    lead.forces_shutdown("s1").await.unwrap();
    let mut all = acts(&bob).await;
    all.push(("join_team", world.mate("eve", "alpha").joins("eve").await.err()));
    for (script, refusal) in all {
        let expected = TeamRefusal::TeamClosed {
            team: "alpha".to_owned(),
        };
        assert_eq!(refusal, Some(expected), "{script}");
    }
    for (script, refusal) in reads(&bob).await {
        assert_eq!(refusal, None, "{script}");
    }
    let rest = acts_in_closed_teams(&bob).await;
    let codes: Vec<bool> = rest.iter().map(|(_, refusal)| refusal.is_none()).collect();
    assert_eq!(codes, [true, false, true], "{rest:?}");
}

async fn a_task_that_is_not_there_is_refused_by_all(world: World) {
    let (lead, []) = world.team_of([]).await;
    let all = vec![
        ("update", lead.updates("t7", &TaskChanges::default()).await.err()),
        ("assign", lead.assigns("t7", None).await.err()),
        ("claim", lead.claims("t7").await.err()),
        ("release", lead.releases("t7", "").await.err()),
        ("complete", lead.completes("t7").await.err()),
        ("delete", lead.deletes("t7", true).await.err()),
        ("show", lead.shows("t7").await.err()),
    ];
    for (script, refusal) in all {
        let expected = TeamRefusal::NoTask {
            id: "t7".to_owned(),
            team: "alpha".to_owned(),
        };
        assert_eq!(refusal, Some(expected), "{script}");
    }
}

fn too_many<T>(what: &str, most: u64) -> Result<T, TeamRefusal> {
    Err(TeamRefusal::TooMany {
        what: what.to_owned(),
        most,
    })
}

async fn a_task_has_256_dependencies_at_most_from_both_directions(world: World) {
    let (lead, []) = world.team_of([]).await;
    for _ in 0..2 {
        let some: Vec<NewTask> = (0..128).map(|_| titled("part")).collect();
        lead.adds(&some).await.unwrap();
    }
    let ids: Vec<String> = (1..=256).map(|number| format!("t{number}")).collect();
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(lead.adds(&[after("whole", &named)]).await.unwrap(), ["t257"]);
    let one_more = NewTask {
        blocks: vec![TaskReference::Task(task_id("t257"))],
        ..titled("one more")
    };
    assert_eq!(lead.adds(&[one_more]).await, too_many("dependencies", 256));
    lead.adds(&[titled("one more")]).await.unwrap();
    let blocks = TaskChanges {
        blocks: Some(vec![task_id("t257")]),
        ..TaskChanges::default()
    };
    assert_eq!(
        lead.updates("t258", &blocks).await.unwrap_err(),
        too_many::<()>("dependencies", 256).unwrap_err()
    );
    let unknown = TaskChanges {
        blocks: Some(vec![task_id("t999")]),
        ..TaskChanges::default()
    };
    assert_eq!(
        lead.updates("t258", &unknown).await.unwrap_err(),
        TeamRefusal::NoBlocked { id: "t999".to_owned() }
    );
    let whole = lead.shows("t257").await.unwrap().task;
    assert_eq!(whole.dependencies.len(), 256);
    lead.updates("t257", &depends_on(&["t258"])).await.unwrap();
}

async fn a_member_has_200_assigned_tasks(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let some: Vec<NewTask> = (0..200).map(|_| titled("a")).collect();
    lead.adds(&some).await.unwrap();
    lead.adds(&[titled("one more")]).await.unwrap();
    for number in 1..=200 {
        lead.assigns(&format!("t{number}"), Some("bob")).await.unwrap();
    }
    assert_eq!(
        lead.assigns("t201", Some("bob")).await.unwrap_err(),
        too_many::<()>("assigned tasks", 200).unwrap_err()
    );
    bob.claims("t7").await.unwrap();
    lead.assigns("t201", Some("bob")).await.unwrap();
}

/// Sets the first of the counts of an inbox, the number of messages to it: as if so many had come.
async fn has_had(world: &World, handle: &str, messages: u64) {
    let (key, field) = (keys::members(&world.repo), format!("alpha/{handle}"));
    let counts = world.command(["HGET", &key, &field]).await;
    let (_, rest) = counts.as_str().unwrap().split_once(' ').unwrap();
    world
        .command(["HSET", &key, &field, &format!("{messages} {rest}")])
        .await;
}

async fn a_full_inbox_refuses_members_at_1000_messages_and_coord_at_2000(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), after("b", &["t1"]), after("c", &["t1"])])
        .await
        .unwrap();
    bob.claims("t2").await.unwrap();
    let full = |unread| TeamRefusal::InboxFull {
        handle: "bob".to_owned(),
        unread,
    };
    has_had(&world, "bob", 1000).await;
    assert_eq!(lead.sends_text(&["bob"], "x").await, Err(full(1000)));
    assert_eq!(lead.assigns("t3", Some("bob")).await.unwrap_err(), full(1000));
    assert_eq!(
        lead.shows("t3").await.unwrap().task.record.assignee,
        None,
        "nothing is half done"
    );
    has_had(&world, "bob", 2000).await;
    assert_eq!(lead.requests_shutdown(Some("bob"), 60).await.unwrap_err(), full(2000));
    assert_eq!(lead.shows_team().await.unwrap().shutdown, None, "none is open");
    // A cascade goes on, and names whom it did not tell.
    lead.claims("t1").await.unwrap();
    let done = lead.completes("t1").await.unwrap();
    assert_eq!(
        (done.unblocked.count, done.unblocked.not_told),
        (2, vec!["bob".to_owned()])
    );
    has_had(&world, "bob", 1999).await;
    lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    let mail = world
        .number(["ZCARD", &mail::keys::mail(&world.repo, &lead.team)])
        .await;
    assert_eq!(mail, 1, "the request alone was delivered");
}

/// It said nothing of it.
async fn a_response_to_a_shutdown_lists_members_that_were_not_notified(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.requests_shutdown(None, 60).await.unwrap();
    has_had(&world, "lead", 2000).await;
    let approved = bob.answers_shutdown("s1", None).await.unwrap();
    assert_eq!(
        (approved.progress, approved.not_told),
        (ShutdownProgress::Open, vec!["lead".to_owned()])
    );
    has_had(&world, "lead", 1999).await;
    let rejected = eve.answers_shutdown("s1", Some("Not yet")).await.unwrap();
    assert_eq!(
        (rejected.progress, rejected.not_told),
        (ShutdownProgress::Rejected, vec![])
    );
}

async fn a_team_has_1000_members(world: World) {
    let (lead, []) = world.team_of([]).await;
    let team = keys::team(&world.repo, &lead.team);
    world.command(["HSET", &team, "members", "1000"]).await;
    let bob = world.mate("bob", "alpha");
    assert_eq!(bob.joins("bob").await, too_many("members", 1000));
    world.command(["HSET", &team, "members", "999"]).await;
    bob.joins("bob").await.unwrap();
}

async fn a_team_has_20_000_open_tasks(world: World) {
    let (lead, []) = world.team_of([]).await;
    world
        .command(["HSET", &keys::teams(&world.repo), "alpha/open", "19999"])
        .await;
    assert_eq!(
        lead.adds(&[titled("a"), titled("b")]).await,
        too_many("open tasks", 20_000)
    );
    lead.adds(&[titled("a")]).await.unwrap();
}

async fn a_key_is_for_one_request(world: World) {
    let (lead, []) = world.team_of([]).await;
    let key = |content| RequestKey { key: "k", content };
    lead.adds_with_key(key("a"), &[titled("a"), titled("b")]).await.unwrap();
    lead.takes_next_with_key(key("a")).await.unwrap();
    lead.sends(MessageType::Plain, &[], "a", key("a")).await.unwrap();
    let reused = TeamRefusal::KeyReused { key: "k".to_owned() };
    let refused = [
        lead.adds_with_key(key("b"), &[titled("a")]).await.err(),
        lead.takes_next_with_key(key("b")).await.err(),
        lead.sends(MessageType::Plain, &[], "b", key("b")).await.err(),
    ];
    assert_eq!(
        refused,
        [const { None }; 3].map(|_: Option<TeamRefusal>| Some(reused.clone()))
    );
}

async fn an_ended_claim_is_claim_lost_and_distinct_from_a_missing_one(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let token = bob.claims("t1").await.unwrap().task.task.record.token.unwrap();
    let lost = |owner: &str| TeamRefusal::ClaimLost {
        id: "t1".to_owned(),
        owner: owner.to_owned(),
        status: "in_progress".to_owned(),
    };
    let refused = bob.releases_with("t1", Some(token + 1), "").await;
    assert_eq!(refused.unwrap_err(), lost("bob"), "another claim than this one");
    let notes = TaskChanges {
        note: "n".repeat(16_000),
        ..TaskChanges::default()
    };
    for _ in 0..4 {
        lead.updates("t1", &notes).await.unwrap();
    }
    let full = TeamRefusal::NotesFull { id: "t1".to_owned() };
    assert_eq!(bob.releases("t1", &"n".repeat(2_000)).await.unwrap_err(), full);
    assert_eq!(
        bob.shows("t1").await.unwrap().task.record.owner.as_deref(),
        Some("bob"),
        "nothing is half done"
    );
    bob.releases("t1", "").await.unwrap();
    assert_eq!(bob.releases_with("t1", Some(token), "").await.unwrap_err(), lost(""));
    eve.claims("t1").await.unwrap();
    assert_eq!(bob.releases("t1", "").await.unwrap_err(), lost("eve"));
    assert_eq!(
        bob.completes_with("t1", Some(token), "").await.unwrap_err(),
        lost("eve")
    );
}

scenarios!(
    a_team_that_is_not_there_is_refused_by_all,
    an_agent_outside_the_team_can_only_read_it,
    an_agent_whose_handle_was_taken_over_gets_superseded_in_every_call,
    a_closed_team_takes_no_writes_and_can_be_read_and_left,
    a_task_that_is_not_there_is_refused_by_all,
    a_task_has_256_dependencies_at_most_from_both_directions,
    a_member_has_200_assigned_tasks,
    a_full_inbox_refuses_members_at_1000_messages_and_coord_at_2000,
    a_response_to_a_shutdown_lists_members_that_were_not_notified,
    a_team_has_1000_members,
    a_team_has_20_000_open_tasks,
    a_key_is_for_one_request,
    an_ended_claim_is_claim_lost_and_distinct_from_a_missing_one,
);
