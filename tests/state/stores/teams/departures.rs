//! The handshake of a shutdown, leaving, and deleting.

use coord_protocol::team_event::MessageType;
use coord_teams_state::departures::ShutdownProgress::{self, Closed, Open, Rejected, Stopped};
use coord_teams_state::tasks::{self, TaskFilter};
use coord_teams_state::teams::keys;

use crate::world::World;
use crate::world::team::{Mate, titled};

impl Mate<'_> {
    /// Requests that a member stops, or that the team closes.
    async fn asks(&self, target: Option<&str>) -> ShutdownProgress {
        self.requests_shutdown(target, 60).await.unwrap().progress
    }

    async fn approves(&self, id: &str) -> ShutdownProgress {
        self.answers_shutdown(id, None).await.unwrap().progress
    }

    async fn rejects(&self, id: &str) -> ShutdownProgress {
        self.answers_shutdown(id, Some("not yet")).await.unwrap().progress
    }
}

async fn is_silent_for_an_hour(mate: &Mate<'_>, name: &str) {
    let seen = keys::seen(&mate.world.repo, &mate.team);
    mate.world.command(["HSET", &seen, name, "1000"]).await;
}

async fn one_member_stops_after_it_approved(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    bob.claims("t1").await.unwrap();
    let request = lead.requests_shutdown(Some("BOB"), 60).await.unwrap();
    assert_eq!((request.progress, request.id.as_str()), (Open, "s1"));
    let again = lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    assert_eq!(again.id, "s1", "two at once are one");
    assert_refused!(lead.requests_shutdown(None, 60) => ShutdownOpen);
    assert_refused!(bob.takes_next() => ShuttingDown { id, .. } if id == "s1");
    assert_refused!(bob.claims("t2") => ShuttingDown);
    assert!(lead.takes_next().await.is_ok(), "who is not asked works on");
    let inbox = bob.inbox().await;
    assert_eq!(inbox.messages.len(), 1);
    assert_eq!(inbox.messages[0].kind, MessageType::ShutdownRequest);
    assert_eq!(inbox.shutdown.unwrap().by, "lead");
    assert_refused!(lead.answers_shutdown("s1", None) => NotAsked);
    assert_refused!(bob.answers_shutdown("s9", None) => NoShutdown);
    let stopped = bob.answers_shutdown("s1", None).await.unwrap();
    assert_eq!((stopped.progress, stopped.given_back), (Stopped, vec!["t1".to_owned()]));
    assert!(bob.shows("t1").await.unwrap().notes[0].text.contains("bob"));
    assert_eq!(lead.inbox().await.messages[0].kind, MessageType::ShutdownApproved);
    // It is final, until the member joins again.
    assert_refused!(bob.takes_next() => ShuttingDown);
    assert_eq!(bob.inbox().await.shutdown, None);
    bob.joins("bob").await.unwrap();
    bob.claims("t1").await.unwrap();
}

async fn a_member_requested_to_stop_can_complete_and_release_its_tasks(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b", "c"].map(titled)).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.claims("t2").await.unwrap();
    lead.asks(Some("bob")).await;
    assert_refused!(bob.claims("t3") => ShuttingDown);
    assert!(bob.claims("t1").await.unwrap().is_renewal, "what it has, it may renew");
    bob.completes("t1").await.unwrap();
    bob.releases("t2", "half done").await.unwrap();
    let stopped = bob.answers_shutdown("s1", None).await.unwrap();
    assert_eq!((stopped.progress, stopped.given_back), (Stopped, vec![]));
}

async fn a_rejection_has_a_reason_and_ends_it(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.asks(Some("bob")).await;
    assert_eq!(bob.rejects("s1").await, Rejected);
    let message = lead.inbox().await.messages.remove(0);
    assert_eq!(message.kind, MessageType::ShutdownRejected);
    assert_eq!(message.message, "not yet");
    assert!(bob.takes_next().await.is_ok());
    assert_eq!(bob.asks(Some("bob")).await, Stopped);
}

async fn a_team_closes_when_leader_and_all_live_members_approved(world: World) {
    let (lead, [bob, eve, zoe]) = world.team_of(["bob", "eve", "zoe"]).await;
    is_silent_for_an_hour(&zoe, "zoe").await;
    assert_eq!(bob.asks(None).await, Open);
    assert_refused!(bob.answers_shutdown("s1", None) => Answered);
    assert_eq!(eve.approves("s1").await, Open);
    assert_eq!(lead.approves("s1").await, Closed);
    assert_refused!(lead.adds(&[titled("a")]) => TeamClosed);
    assert_refused!(lead.sends_text(&["bob"], "x") => TeamClosed);
    assert!(!eve.inbox().await.messages.is_empty(), "it can be read");
    assert_refused!(bob.deletes_team() => NotLeader);
    lead.deletes_team().await.unwrap();
    assert_refused!(bob.reads(None) => NoTeam);
}

async fn a_leaders_request_approves_for_the_leader_alone_and_force_lists_the_passed_over(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    assert_eq!(lead.asks(None).await, Open);
    assert_refused!(lead.forces_shutdown("s1") => TooEarly);
    assert_refused!(bob.forces_shutdown("s1") => NotLeader);
    assert_eq!(eve.approves("s1").await, Open);
    assert_eq!(bob.rejects("s1").await, Rejected);
    eve.joins("eve").await.unwrap();
    lead.joins("lead").await.unwrap();
    lead.requests_shutdown(None, 0).await.unwrap();
    let forced = lead.forces_shutdown("s2").await.unwrap();
    assert_eq!((forced.progress, forced.given_back), (Closed, vec!["t1".to_owned()]));
    assert_eq!(forced.passed_over, ["bob", "eve"]);
    assert_refused!(lead.forces_shutdown("s2") => TeamClosed);
}

async fn a_leaving_member_releases_its_tasks_and_a_team_with_live_members_stays(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    lead.sends_text(&["bob", "eve"], "both").await.unwrap();
    assert_eq!(bob.leaves().await.unwrap(), ["t1"]);
    assert_refused!(bob.reads(None) => NotAMember);
    assert_eq!(eve.inbox().await.messages.len(), 1, "the other's copy stays");
    assert_refused!(lead.deletes_team() => MembersLive { count: 1, .. });
    is_silent_for_an_hour(&eve, "eve").await;
    lead.deletes_team().await.unwrap();
    let (members, teams) = (keys::members(&world.repo), keys::teams(&world.repo));
    assert_eq!(world.number(["EXISTS", &members, &teams]).await, 0);
}

// rule: teams#live
async fn a_member_is_live_for_15_minutes_or_with_a_claim(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims_for("t1", 86_400).await.unwrap();
    bob.releases("t1", "").await.unwrap();
    let is_live = async |seconds: i64| {
        let now = lead.lists(0, 1, &TaskFilter::default()).await.unwrap().now;
        let seen = ((now - seconds) * 1000).to_string();
        let key = keys::seen(&world.repo, &lead.team);
        world.command(["HSET", &key, "bob", &seen]).await;
        lead.shows_team().await.unwrap().members["bob"].is_live
    };
    assert!(is_live(14 * 60 + 50).await);
    assert!(!is_live(15 * 60 + 10).await);
    bob.claims_for("t1", 86_400).await.unwrap();
    assert!(is_live(3600).await, "with a claim");
    bob.expire_claim("t1").await;
    assert!(!is_live(3600).await, "its claim has expired");
}

/// It stayed reserved for the handle, also for another login that joined under it.
async fn tasks_reserved_for_a_stopped_member_are_free_for_all(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b", "c", "d"].map(titled)).await.unwrap();
    for id in ["t1", "t2"] {
        lead.assigns(id, Some("bob")).await.unwrap();
    }
    bob.claims("t2").await.unwrap();
    bob.leaves().await.unwrap();
    let other = world.mate("mallory", "alpha");
    other.joins("bob").await.unwrap();
    for id in ["t1", "t2"] {
        let task = eve.claims(id).await.unwrap().task.task;
        assert_eq!((task.record.assignee, task.record.reserved), (None, None), "{id}");
    }
    // By an approval, and by force.
    lead.assigns("t3", Some("bob")).await.unwrap();
    other.asks(Some("bob")).await;
    eve.claims("t3").await.unwrap();
    lead.assigns("t4", Some("eve")).await.unwrap();
    lead.requests_shutdown(Some("eve"), 0).await.unwrap();
    let forced = lead.forces_shutdown("s2").await.unwrap();
    assert_eq!(forced.given_back, ["t1", "t2", "t3"]);
    lead.claims("t4").await.unwrap();
    let released = lead.claims("t1").await.unwrap().task;
    let note = &released.notes.last().unwrap().text;
    assert_eq!(note, "Released when the shutdown was forced by lead.");
    assert_eq!(released.task.record.had.as_deref(), Some("eve"));
}

async fn an_approving_member_learns_which_files_are_unpushed(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let (of_bob, of_eve) = (world.agent("bob"), world.agent("eve"));
    of_bob.writes(&["src/b.ts", "src/a.ts"]).await;
    of_bob.clone().on_branch("other").writes(&["src/a.ts"]).await;
    of_bob.reads(&["docs/read.md"]).await;
    of_eve.writes(&["src/of-eve.ts"]).await;
    of_bob.writes(&["src/expired.ts"]).await;
    world.expire_locks(&["src/expired.ts"]).await;
    let request = lead.requests_shutdown(None, 60).await.unwrap();
    // The leader holds nothing.
    assert_eq!((request.unpushed.len(), request.unpushed_count), (0, 0));
    let step = bob.answers_shutdown(&request.id, None).await.unwrap();
    let files = step.unpushed.iter().map(|(branch, path)| format!("{branch}:{path}"));
    let expected = ["main:src/a.ts", "main:src/b.ts", "other:src/a.ts"];
    assert_eq!(files.collect::<Vec<_>>(), expected);
    assert_eq!(step.unpushed_count, 3);
    // A member that continues keeps its locks anyway, and so does one that stops.
    let rejected = eve.answers_shutdown(&request.id, Some("not yet")).await.unwrap();
    assert_eq!(rejected.unpushed_count, 0);
    assert_eq!(world.stored("src/a.ts").await.len(), 2);
}

async fn a_shutdown_request_ends_at_once_when_no_other_member_has_to_answer(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    assert_refused!(lead.requests_shutdown(Some("zoe"), 60) => "Recipient \"zoe\" is not a member of team \"alpha\"");
    assert_refused!(lead.forces_shutdown("s1") => NoShutdown);
    // One that is silent is passed over by the leader, and stops.
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    lead.requests_shutdown(Some("bob"), 0).await.unwrap();
    let forced = lead.forces_shutdown("s1").await.unwrap();
    assert_eq!((forced.progress, forced.given_back), (Stopped, vec!["t1".to_owned()]));
    assert_eq!(forced.passed_over, ["bob"]);
    assert_refused!(bob.takes_next() => ShuttingDown);
    // The last one that was waited for asks for the same: all have answered then, and one of them has said no.
    bob.asks(None).await;
    eve.rejects("s2").await;
    assert_eq!(lead.asks(None).await, Rejected);
    // Nobody else is live.
    lead.joins("lead").await.unwrap();
    for name in ["bob", "eve"] {
        is_silent_for_an_hour(&lead, name).await;
    }
    assert_eq!(lead.asks(None).await, Closed);
}

/// A member that is asked gets no task, so that asking again and again kept the team from its tasks.
async fn a_login_whose_request_was_rejected_blocks_no_other_login_from_tasks(world: World) {
    let (lead, [bob, cyd, dan]) = world.team_of(["bob", "cyd", "dan"]).await;
    lead.adds(&["a", "b", "c"].map(titled)).await.unwrap();
    assert_eq!(bob.asks(Some("cyd")).await, Open);
    assert_refused!(cyd.takes_next() => ShuttingDown);
    assert_eq!(cyd.rejects("s1").await, Rejected);
    // Asked again, and others: they work on, until they approve.
    assert_eq!(bob.asks(Some("cyd")).await, Open);
    cyd.claims("t1").await.unwrap();
    cyd.rejects("s2").await;
    assert_eq!(bob.asks(None).await, Open);
    dan.claims("t2").await.unwrap();
    dan.approves("s3").await;
    assert_refused!(dan.takes_next() => ShuttingDown);
    assert_refused!(bob.takes_next() => ShuttingDown);
    for other in [&lead, &cyd] {
        other.rejects("s3").await;
    }
    // The leader's own request keeps them, after a rejection too, and so does anybody's whose request was not rejected.
    for (asking, target, requested, id) in [
        (&lead, "cyd", &cyd, "s4"),
        (&lead, "cyd", &cyd, "s5"),
        (&cyd, "lead", &lead, "s6"),
    ] {
        asking.asks(Some(target)).await;
        assert_refused!(requested.takes_next() => ShuttingDown);
        requested.rejects(id).await;
    }
    // As if ten minutes had passed.
    let team = keys::team(&world.repo, &lead.team);
    assert_eq!(world.number(["HDEL", &team, "rejected"]).await, 1);
    bob.joins("bob").await.unwrap();
    bob.asks(Some("cyd")).await;
    assert_refused!(cyd.takes_next() => ShuttingDown);
}

/// It had approved the first request, which ended its part in every later one.
async fn a_team_never_closes_without_a_leader_that_is_live(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.asks(None).await;
    assert_eq!(bob.rejects("s1").await, Rejected);
    assert_eq!(bob.asks(None).await, Open);
    assert_eq!(lead.rejects("s2").await, Rejected);
    // Bob has stopped, and is not waited for; the leader is.
    assert_eq!(bob.asks(None).await, Open);
    assert_eq!(lead.approves("s3").await, Closed);
}

async fn a_leader_that_has_stopped_and_is_away_keeps_no_team_open(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.asks(None).await;
    bob.rejects("s1").await;
    is_silent_for_an_hour(&lead, "lead").await;
    assert_eq!(bob.asks(None).await, Closed);
}

/// A member that had stopped was "not a member".
async fn a_stopped_member_gets_no_second_request_and_cannot_become_the_leader(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    bob.asks(Some("bob")).await;
    assert_refused!(lead.hands_over("BOB") => "Agent \"bob\" has stopped in team \"alpha\"");
    assert_refused!(lead.requests_shutdown(Some("bob"), 60) => "Agent \"bob\" has stopped in team \"alpha\"");
}

/// A member that joined again was given tasks, which nobody released once the team was closed.
async fn an_approval_is_final_while_the_shutdown_is_open_even_after_a_rejoin(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    lead.asks(None).await;
    assert_eq!(bob.approves("s1").await, Open);
    let restarted = world.mate("bob/two", "alpha");
    for mate in [&bob, &restarted] {
        mate.joins("bob").await.unwrap();
        assert_refused!(mate.claims("t1") => ShuttingDown { id, .. } if id == "s1");
        assert_refused!(mate.takes_next() => ShuttingDown { id, .. } if id == "s1");
    }
    assert_refused!(restarted.answers_shutdown("s1", Some("After all")) => Answered);
    // Once it was rejected, who joined again works on.
    assert_eq!(eve.rejects("s1").await, Rejected);
    restarted.claims("t1").await.unwrap();
    // And a team that closes has no claims left.
    lead.joins("lead").await.unwrap();
    lead.asks(None).await;
    restarted.approves("s2").await;
    restarted.joins("bob").await.unwrap();
    assert_eq!(eve.approves("s2").await, Closed);
    let leases = tasks::keys::leases(&world.repo, &lead.team);
    assert_eq!(world.number(["ZCARD", &leases]).await, 0);
}

/// The answer of who left stood for whoever had the handle next.
async fn a_new_member_under_a_freed_handle_answers_for_itself(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    lead.asks(None).await;
    bob.approves("s1").await;
    bob.leaves().await.unwrap();
    let new = world.mate("ann", "alpha");
    new.joins("bob").await.unwrap();
    assert_eq!(new.waits().await.shutdown.unwrap().id, "s1");
    assert_refused!(new.claims("t1") => ShuttingDown);
    assert_eq!(eve.approves("s1").await, Open);
    assert_eq!(new.approves("s1").await, Closed);
}

/// States of shutdowns, each as `state target handle`: who is to stop, and who did it.
async fn shutdown_events(world: &World) -> Vec<String> {
    let events = world.events_of_type("shutdown_changed").await;
    let short = |event: &serde_json::Value| {
        let words = ["state", "target", "handle"].map(|name| event[name].as_str().unwrap_or("-"));
        words.join(" ")
    };
    events.iter().map(short).collect()
}

/// It had stopped, and neither an event nor a message said so.
async fn a_request_for_the_same_shutdown_is_a_visible_approval(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.asks(Some("bob")).await;
    assert_eq!(bob.asks(Some("bob")).await, Stopped);
    eve.asks(None).await;
    assert_eq!(lead.asks(None).await, Closed);
    let expected = [
        "requested bob lead",
        "approved bob bob",
        "approved bob bob",
        "requested - eve",
        "approved - lead",
        "closed - lead",
    ];
    assert_eq!(shutdown_events(&world).await, expected);
    for (mate, approval) in [
        (&lead, "Agent bob approved shutdown"),
        (&eve, "Agent lead approved team shutdown"),
    ] {
        let messages = mate.inbox().await.messages;
        let approvals = messages
            .iter()
            .filter(|message| message.kind == MessageType::ShutdownApproved);
        let texts: Vec<&str> = approvals.map(|message| message.message.as_str()).collect();
        assert_eq!(texts, [approval]);
    }
}

/// The event of the end named nobody, as that of the whole team.
async fn the_end_of_a_shutdown_names_the_member_that_left(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.asks(Some("bob")).await;
    bob.leaves().await.unwrap();
    let expected = ["requested bob lead", "approved bob bob"];
    assert_eq!(shutdown_events(&world).await, expected);
}

/// All in one run held the store up for 400 ms, with 20,000 claims.
async fn a_shutdown_of_many_claims_is_forced_member_by_member(world: World) {
    let (lead, [bob, _eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    // As if both had claimed 600 more.
    let team = keys::team(&world.repo, &lead.team);
    let more: Vec<String> = (0..600).map(|number| format!("gone{number}")).collect();
    for name in ["bob", "eve"] {
        let edit = |member: &mut serde_json::Value| {
            member["claims"] = format!("{} {}", member["claims"].as_str().unwrap(), more.join(" ")).into();
        };
        world.edit_json(&team, &format!("={name}"), edit).await;
    }
    lead.requests_shutdown(None, 0).await.unwrap();
    let forced = lead.forces_shutdown("s1").await.unwrap();
    assert_eq!((forced.progress, forced.given_back), (Closed, vec!["t1".to_owned()]));
    assert_eq!(forced.passed_over, ["bob", "eve"]);
    let members = lead.shows_team().await.unwrap().members;
    assert!(["bob", "eve"].iter().all(|name| members[*name].ended.is_some()));
}

scenarios!(
    a_shutdown_of_many_claims_is_forced_member_by_member,
    a_request_for_the_same_shutdown_is_a_visible_approval,
    the_end_of_a_shutdown_names_the_member_that_left,
    a_member_is_live_for_15_minutes_or_with_a_claim,
    tasks_reserved_for_a_stopped_member_are_free_for_all,
    an_approval_is_final_while_the_shutdown_is_open_even_after_a_rejoin,
    a_new_member_under_a_freed_handle_answers_for_itself,
    a_shutdown_request_ends_at_once_when_no_other_member_has_to_answer,
    a_login_whose_request_was_rejected_blocks_no_other_login_from_tasks,
    a_team_never_closes_without_a_leader_that_is_live,
    a_leader_that_has_stopped_and_is_away_keeps_no_team_open,
    a_stopped_member_gets_no_second_request_and_cannot_become_the_leader,
    one_member_stops_after_it_approved,
    a_member_requested_to_stop_can_complete_and_release_its_tasks,
    a_rejection_has_a_reason_and_ends_it,
    a_team_closes_when_leader_and_all_live_members_approved,
    a_leaders_request_approves_for_the_leader_alone_and_force_lists_the_passed_over,
    a_leaving_member_releases_its_tasks_and_a_team_with_live_members_stays,
    an_approving_member_learns_which_files_are_unpushed,
);
