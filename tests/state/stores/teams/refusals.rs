//! Refusals that many scripts share: teams that are not there or are closed, and callers that are not in them; and
//! bounds.

use coord_protocol::team_event::MessageType;
use coord_teams_state::departures::ShutdownProgress;
use coord_teams_state::mail;
use coord_teams_state::messages::MessageFilter;
use coord_teams_state::tasks::{TaskChanges, TaskFilter};
use coord_teams_state::teams::{TeamRefusal, keys};

use super::tasks::{after, before, blocks, depends_on, note, sentence};
use crate::world::World;
use crate::world::team::{Mate, key, titled};

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

async fn acts_of_members(mate: &Mate<'_>) -> Refused {
    let mut all = acts(mate).await;
    all.extend(acts_in_closed_teams(mate).await);
    all
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

fn assert_each(acts: Refused, expected: Option<&TeamRefusal>) {
    for (script, refusal) in acts {
        assert_eq!(refusal.as_ref(), expected, "{script}");
    }
}

async fn a_team_that_is_not_there_is_refused_by_all(world: World) {
    let mate = world.mate("bob", "none");
    let no_team = TeamRefusal::NoTeam {
        team: "none".to_owned(),
    };
    assert_each(acts_of_members(&mate).await, Some(&no_team));
    assert_each(reads(&mate).await, Some(&no_team));
    assert_eq!(mate.joins("bob").await, Err(no_team));
    assert_eq!(world.events().await, [], "nothing has happened");
}

async fn an_agent_outside_the_team_can_only_read_it(world: World) {
    let (lead, [_bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let before = world.events().await.len();
    // Another login, and the same login as a member, but another agent.
    for (name, agent) in [("eve/one", "one"), ("bob/other", "other")] {
        let mate = world.mate(name, "alpha");
        let not_a_member = TeamRefusal::NotAMember {
            who: agent.to_owned(),
            team: "alpha".to_owned(),
        };
        assert_each(acts_of_members(&mate).await, Some(&not_a_member));
        assert_each(reads(&mate).await, None);
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
    let superseded = TeamRefusal::Superseded {
        handle: "bob".to_owned(),
        agent: "new".to_owned(),
    };
    assert_each(acts_of_members(&old).await, Some(&superseded));
    assert_eq!(world.events().await.len(), before, "nothing has happened");
}

async fn a_closed_team_takes_no_writes_and_can_be_read_and_left(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    lead.requests_shutdown(None, 0).await.unwrap();
    lead.forces_shutdown("s1").await.unwrap();
    let closed = TeamRefusal::TeamClosed {
        team: "alpha".to_owned(),
    };
    assert_each(acts(&bob).await, Some(&closed));
    assert_eq!(world.mate("eve", "alpha").joins("eve").await, Err(closed));
    assert_each(reads(&bob).await, None);
    let rest = acts_in_closed_teams(&bob).await;
    let is_done: Vec<bool> = rest.iter().map(|(_, refusal)| refusal.is_none()).collect();
    assert_eq!(is_done, [true, false, true], "{rest:?}");
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
    let no_task = TeamRefusal::NoTask {
        id: "t7".to_owned(),
        team: "alpha".to_owned(),
    };
    assert_each(all, Some(&no_task));
}

async fn a_task_has_256_dependencies_at_most_from_both_directions(world: World) {
    let (lead, []) = world.team_of([]).await;
    for _ in 0..2 {
        lead.adds(&vec![titled("part"); 128]).await.unwrap();
    }
    let ids: Vec<String> = (1..=256).map(|number| format!("t{number}")).collect();
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(lead.adds(&[after("whole", &named)]).await.unwrap(), ["t257"]);
    let one_more = [before("one more", &["t257"])];
    assert_refused!(lead.adds(&one_more) => "There can be no more than 256 dependencies");
    lead.adds(&[titled("one more")]).await.unwrap();
    assert_refused!(lead.updates("t258", &blocks(&["t257"])) => "There can be no more than 256 dependencies");
    assert_refused!(lead.updates("t258", &blocks(&["t999"])) => NoBlocked { id } if id == "t999");
    assert_eq!(lead.task("t257").await.dependencies.len(), 256);
    lead.updates("t257", &depends_on(&["t258"])).await.unwrap();
}

async fn a_member_has_200_assigned_tasks(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&vec![titled("a"); 200]).await.unwrap();
    lead.adds(&[titled("one more")]).await.unwrap();
    for number in 1..=200 {
        lead.assigns(&format!("t{number}"), Some("bob")).await.unwrap();
    }
    assert_refused!(lead.assigns("t201", Some("bob")) => "There can be no more than 200 assigned tasks");
    bob.claims("t7").await.unwrap();
    lead.assigns("t201", Some("bob")).await.unwrap();
}

/// Sets the first of the counts of an inbox, the number of messages to it: as if so many had come.
async fn has_had(world: &World, handle: &str, messages: u64) {
    let (key, field) = (keys::members(&world.repo), format!("alpha/{handle}"));
    let counts = world.command(["HGET", &key, &field]).await;
    let (_, rest) = counts.as_str().unwrap().split_once(' ').unwrap();
    let counts = format!("{messages} {rest}");
    world.command(["HSET", &key, &field, &counts]).await;
}

async fn a_full_inbox_refuses_members_at_1000_messages_and_coord_at_2000(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let tasks = [titled("a"), after("b", &["t1"]), after("c", &["t1"])];
    lead.adds(&tasks).await.unwrap();
    bob.claims("t2").await.unwrap();
    has_had(&world, "bob", 1000).await;
    assert_refused!(lead.sends_text(&["bob"], "x") => "The inbox of \"bob\" has 1000 unread messages");
    assert_refused!(lead.assigns("t3", Some("bob")) => "The inbox of \"bob\" has 1000 unread messages");
    assert_eq!(lead.task("t3").await.record.assignee, None, "nothing is half done");
    has_had(&world, "bob", 2000).await;
    assert_refused!(lead.requests_shutdown(Some("bob"), 60) => "The inbox of \"bob\" has 2000 unread messages");
    assert_eq!(lead.shows_team().await.unwrap().shutdown, None, "none is open");
    // A cascade goes on, and names whom it did not tell.
    lead.claims("t1").await.unwrap();
    let unblocked = lead.completes("t1").await.unwrap().unblocked;
    assert_eq!((unblocked.count, unblocked.not_told), (2, vec!["bob".to_owned()]));
    has_had(&world, "bob", 1999).await;
    lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    // The request alone was delivered.
    let mail = mail::keys::mail(&world.repo, &lead.team);
    assert_eq!(world.number(["ZCARD", &mail]).await, 1);
}

/// It said nothing of it.
async fn a_response_to_a_shutdown_lists_members_that_were_not_notified(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.requests_shutdown(None, 60).await.unwrap();
    has_had(&world, "lead", 2000).await;
    let approved = bob.answers_shutdown("s1", None).await.unwrap();
    assert_eq!(approved.progress, ShutdownProgress::Open);
    assert_eq!(approved.not_told, ["lead"]);
    has_had(&world, "lead", 1999).await;
    let rejected = eve.answers_shutdown("s1", Some("Not yet")).await.unwrap();
    assert_eq!(rejected.progress, ShutdownProgress::Rejected);
    assert_eq!(rejected.not_told, [""; 0]);
}

async fn a_team_has_1000_members_and_20_000_open_tasks(world: World) {
    let (lead, []) = world.team_of([]).await;
    let team = keys::team(&world.repo, &lead.team);
    world.command(["HSET", &team, "members", "1000"]).await;
    let bob = world.mate("bob", "alpha");
    assert_refused!(bob.joins("bob") => "There can be no more than 1000 members");
    world.command(["HSET", &team, "members", "999"]).await;
    bob.joins("bob").await.unwrap();

    let teams = keys::teams(&world.repo);
    world.command(["HSET", &teams, "alpha/open", "19999"]).await;
    assert_refused!(lead.adds(&["a", "b"].map(titled)) => "There can be no more than 20000 open tasks");
    lead.adds(&[titled("a")]).await.unwrap();
}

async fn a_key_is_for_one_request(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds_with_key(key("k", "a"), &[titled("a")]).await.unwrap();
    lead.takes_next_with_key(key("k", "a")).await.unwrap();
    lead.sends(MessageType::Plain, &[], "a", key("k", "a")).await.unwrap();
    assert_refused!(lead.adds_with_key(key("k", "b"), &[titled("a")]) => KeyReused { key } if key == "k");
    assert_refused!(lead.takes_next_with_key(key("k", "b")) => KeyReused { key } if key == "k");
    assert_refused!(lead.sends(MessageType::Plain, &[], "b", key("k", "b")) => KeyReused { key } if key == "k");
}

async fn an_ended_claim_is_claim_lost_and_distinct_from_a_missing_one(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let token = bob.claims("t1").await.unwrap().task.task.record.token.unwrap();
    // Another claim than this one.
    let lost_to_bob = "The claim of task t1 was lost (status: in_progress, owner: bob)";
    let other = Some(token + 1);
    assert_eq!(sentence(bob.releases_with("t1", other, "").await), lost_to_bob);
    for _ in 0..4 {
        lead.updates("t1", &note(&"n".repeat(16_000))).await.unwrap();
    }
    assert_refused!(bob.releases("t1", &"n".repeat(2_000)) => NotesFull { id } if id == "t1");
    let owner = bob.task("t1").await.record.owner;
    assert_eq!(owner.as_deref(), Some("bob"), "nothing is half done");
    bob.releases("t1", "").await.unwrap();
    let lost = "The claim of task t1 was lost (status: in_progress, owner: )";
    assert_eq!(sentence(bob.releases_with("t1", Some(token), "").await), lost);
    eve.claims("t1").await.unwrap();
    let lost_to_eve = "The claim of task t1 was lost (status: in_progress, owner: eve)";
    assert_eq!(sentence(bob.releases("t1", "").await), lost_to_eve);
    assert_eq!(sentence(bob.completes_with("t1", Some(token), "").await), lost_to_eve);
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
    a_team_has_1000_members_and_20_000_open_tasks,
    a_key_is_for_one_request,
    an_ended_claim_is_claim_lost_and_distinct_from_a_missing_one,
);
