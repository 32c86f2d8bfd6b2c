//! The handshake of a shutdown, leaving, and deleting.

use coord_protocol::team_event::MessageType;
use coord_teams_state::departures::ShutdownProgress::{Closed, Open, Rejected, Stopped};
use coord_teams_state::tasks::TaskFilter;
use coord_teams_state::teams::{TeamRefusal, keys};

use crate::world::World;
use crate::world::team::{Mate, titled};

async fn is_silent_for_an_hour(mate: &Mate<'_>, name: &str) {
    mate.world
        .command(["HSET", &keys::seen(&mate.world.repo, &mate.team), name, "1000"])
        .await;
}

async fn one_member_stops_after_it_approved(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    let request = lead.requests_shutdown(Some("BOB"), 60).await.unwrap();
    assert_eq!((request.progress, request.id.as_str()), (Open, "s1"));
    assert_eq!(
        lead.requests_shutdown(Some("bob"), 60).await.unwrap().id,
        "s1",
        "two at once are one"
    );
    assert!(matches!(
        lead.requests_shutdown(None, 60).await,
        Err(TeamRefusal::ShutdownOpen { .. })
    ));
    assert!(matches!(bob.takes_next().await, Err(TeamRefusal::ShuttingDown { id, .. }) if id == "s1"));
    assert!(matches!(bob.claims("t2").await, Err(TeamRefusal::ShuttingDown { .. })));
    assert!(lead.takes_next().await.is_ok(), "who is not asked works on");
    let inbox = bob.reads(None).await.unwrap();
    assert_eq!(
        (inbox.messages.len(), inbox.messages[0].kind),
        (1, MessageType::ShutdownRequest)
    );
    assert_eq!(inbox.shutdown.unwrap().by, "lead");
    assert!(matches!(
        lead.answers_shutdown("s1", None).await,
        Err(TeamRefusal::NotAsked { .. })
    ));
    assert!(matches!(
        bob.answers_shutdown("s9", None).await,
        Err(TeamRefusal::NoShutdown { .. })
    ));
    let stopped = bob.answers_shutdown("s1", None).await.unwrap();
    assert_eq!((stopped.progress, stopped.given_back), (Stopped, vec!["t1".to_owned()]));
    assert!(bob.shows("t1").await.unwrap().notes[0].text.contains("bob"));
    assert_eq!(
        lead.reads(None).await.unwrap().messages[0].kind,
        MessageType::ShutdownApproved
    );
    assert!(
        matches!(bob.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })),
        "it is final"
    );
    assert_eq!(bob.reads(None).await.unwrap().shutdown, None);
    // Until it joins again.
    bob.joins("bob").await.unwrap();
    bob.claims("t1").await.unwrap();
}

async fn a_member_requested_to_stop_can_complete_and_release_its_tasks(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b"), titled("c")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.claims("t2").await.unwrap();
    lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    assert!(matches!(bob.claims("t3").await, Err(TeamRefusal::ShuttingDown { .. })));
    assert!(bob.claims("t1").await.unwrap().is_renewal, "what it has, it may renew");
    bob.completes("t1").await.unwrap();
    bob.releases("t2", "half done").await.unwrap();
    let stopped = bob.answers_shutdown("s1", None).await.unwrap();
    assert_eq!((stopped.progress, stopped.given_back), (Stopped, vec![]));
}

async fn a_rejection_has_a_reason_and_ends_it(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    assert_eq!(
        bob.answers_shutdown("s1", Some("Tests run")).await.unwrap().progress,
        Rejected
    );
    let message = lead.reads(None).await.unwrap().messages.remove(0);
    assert_eq!(
        (message.kind, message.message.as_str()),
        (MessageType::ShutdownRejected, "Tests run")
    );
    assert!(bob.takes_next().await.is_ok());
    assert_eq!(bob.requests_shutdown(Some("bob"), 60).await.unwrap().progress, Stopped);
}

async fn a_team_closes_when_leader_and_all_live_members_approved(world: World) {
    let (lead, [bob, eve, zoe]) = world.team_of(["bob", "eve", "zoe"]).await;
    is_silent_for_an_hour(&zoe, "zoe").await;
    assert_eq!(bob.requests_shutdown(None, 60).await.unwrap().progress, Open);
    assert!(matches!(
        bob.answers_shutdown("s1", None).await,
        Err(TeamRefusal::Answered { .. })
    ));
    assert_eq!(eve.answers_shutdown("s1", None).await.unwrap().progress, Open);
    assert_eq!(lead.answers_shutdown("s1", None).await.unwrap().progress, Closed);
    assert!(matches!(
        lead.adds(&[titled("a")]).await,
        Err(TeamRefusal::TeamClosed { .. })
    ));
    assert!(matches!(
        lead.sends_text(&["bob"], "x").await,
        Err(TeamRefusal::TeamClosed { .. })
    ));
    assert!(!eve.reads(None).await.unwrap().messages.is_empty(), "it can be read");
    assert!(matches!(bob.deletes_team().await, Err(TeamRefusal::NotLeader { .. })));
    lead.deletes_team().await.unwrap();
    assert!(matches!(bob.reads(None).await, Err(TeamRefusal::NoTeam { .. })));
}

async fn a_leaders_request_approves_for_the_leader_alone_and_force_lists_the_passed_over(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    let request = lead.requests_shutdown(None, 60).await.unwrap();
    assert_eq!(request.progress, Open);
    assert!(matches!(
        lead.forces_shutdown("s1").await,
        Err(TeamRefusal::TooEarly { .. })
    ));
    assert!(matches!(
        bob.forces_shutdown("s1").await,
        Err(TeamRefusal::NotLeader { .. })
    ));
    assert_eq!(eve.answers_shutdown("s1", None).await.unwrap().progress, Open);
    assert_eq!(
        bob.answers_shutdown("s1", Some("not yet")).await.unwrap().progress,
        Rejected
    );
    eve.joins("eve").await.unwrap();
    lead.joins("lead").await.unwrap();
    lead.requests_shutdown(None, 0).await.unwrap();
    let forced = lead.forces_shutdown("s2").await.unwrap();
    assert_eq!(
        (forced.progress, forced.passed_over, forced.given_back),
        (Closed, vec!["bob".to_owned(), "eve".to_owned()], vec!["t1".to_owned()])
    );
    assert!(matches!(
        lead.forces_shutdown("s2").await,
        Err(TeamRefusal::TeamClosed { .. })
    ));
}

async fn a_leaving_member_releases_its_tasks_and_a_team_with_live_members_stays(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    lead.sends_text(&["bob", "eve"], "both").await.unwrap();
    assert_eq!(bob.leaves().await.unwrap(), ["t1"]);
    assert!(matches!(bob.reads(None).await, Err(TeamRefusal::NotAMember { .. })));
    assert_eq!(
        eve.reads(None).await.unwrap().messages.len(),
        1,
        "the other's copy stays"
    );
    assert!(matches!(
        lead.deletes_team().await,
        Err(TeamRefusal::MembersLive { count: 1, .. })
    ));
    is_silent_for_an_hour(&eve, "eve").await;
    lead.deletes_team().await.unwrap();
    assert_eq!(
        world
            .number(["EXISTS", &keys::members(&world.repo), &keys::teams(&world.repo)])
            .await,
        0
    );
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
    assert!(!is_live(3600).await, "it has lapsed");
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
    other.requests_shutdown(Some("bob"), 60).await.unwrap();
    eve.claims("t3").await.unwrap();
    lead.assigns("t4", Some("eve")).await.unwrap();
    lead.requests_shutdown(Some("eve"), 0).await.unwrap();
    let forced = lead.forces_shutdown("s2").await.unwrap();
    assert_eq!(forced.given_back, ["t1", "t2", "t3"]);
    lead.claims("t4").await.unwrap();
    let given_back = lead.shows("t1").await.unwrap();
    assert_eq!(
        given_back.notes.last().unwrap().text,
        "Released when the shutdown was forced by lead."
    );
    assert_eq!(
        lead.claims("t1").await.unwrap().task.task.record.had.as_deref(),
        Some("eve")
    );
}

async fn an_approving_member_learns_which_files_are_unpushed(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let (of_bob, of_eve) = (world.agent("bob"), world.agent("eve"));
    of_bob.writes(&["src/b.ts", "src/a.ts"]).await;
    of_bob.clone().on_branch("other").writes(&["src/a.ts"]).await;
    of_bob.reads(&["docs/read.md"]).await;
    of_eve.writes(&["src/of-eve.ts"]).await;
    let gone = world.agent("bob");
    gone.writes(&["src/expired.ts"]).await;
    world.expire_locks(&["src/expired.ts"]).await;
    let request = lead.requests_shutdown(None, 60).await.unwrap();
    assert_eq!(
        (request.unpushed.len(), request.unpushed_count),
        (0, 0),
        "the leader holds nothing"
    );
    let step = bob.answers_shutdown(&request.id, None).await.unwrap();
    let files: Vec<(&str, &str)> = step
        .unpushed
        .iter()
        .map(|(branch, path)| (branch.as_str(), path.as_str()))
        .collect();
    assert_eq!(
        (files, step.unpushed_count),
        (
            vec![("main", "src/a.ts"), ("main", "src/b.ts"), ("other", "src/a.ts")],
            3
        )
    );
    // A member that continues keeps its locks anyway, and so does one that stops.
    let rejected = eve.answers_shutdown(&request.id, Some("not yet")).await.unwrap();
    assert_eq!(rejected.unpushed_count, 0);
    assert_eq!(world.stored("src/a.ts").await.len(), 2);
}

async fn a_shutdown_request_ends_at_once_when_no_other_member_has_to_answer(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    assert_eq!(
        lead.requests_shutdown(Some("zoe"), 60).await.unwrap_err(),
        TeamRefusal::NoRecipient {
            handle: "zoe".to_owned(),
            team: "alpha".to_owned()
        }
    );
    assert!(matches!(
        lead.forces_shutdown("s1").await,
        Err(TeamRefusal::NoShutdown { .. })
    ));
    // One that is silent is passed over by the leader, and stops.
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    lead.requests_shutdown(Some("bob"), 0).await.unwrap();
    let forced = lead.forces_shutdown("s1").await.unwrap();
    assert_eq!(
        (forced.progress, forced.passed_over, forced.given_back),
        (Stopped, vec!["bob".to_owned()], vec!["t1".to_owned()])
    );
    assert!(matches!(bob.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })));
    // The last one that was waited for asks for the same: all have answered then, and one of them has said no.
    bob.requests_shutdown(None, 60).await.unwrap();
    eve.answers_shutdown("s2", Some("not yet")).await.unwrap();
    assert_eq!(lead.requests_shutdown(None, 60).await.unwrap().progress, Rejected);
    // Nobody else is live.
    lead.joins("lead").await.unwrap();
    for name in ["bob", "eve"] {
        is_silent_for_an_hour(&lead, name).await;
    }
    assert_eq!(lead.requests_shutdown(None, 60).await.unwrap().progress, Closed);
}

/// A member that is asked gets no task, so that asking again and again kept the team from its tasks.
async fn a_login_whose_request_was_rejected_blocks_no_other_login_from_tasks(world: World) {
    let (lead, [bob, cyd, dan]) = world.team_of(["bob", "cyd", "dan"]).await;
    lead.adds(&["a", "b", "c"].map(titled)).await.unwrap();
    assert_eq!(bob.requests_shutdown(Some("cyd"), 60).await.unwrap().progress, Open);
    assert!(matches!(cyd.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })));
    assert_eq!(
        cyd.answers_shutdown("s1", Some("not yet")).await.unwrap().progress,
        Rejected
    );
    // Asked again, and others: they work on, until they approve.
    assert_eq!(bob.requests_shutdown(Some("cyd"), 60).await.unwrap().progress, Open);
    cyd.claims("t1").await.unwrap();
    cyd.answers_shutdown("s2", Some("not yet")).await.unwrap();
    assert_eq!(bob.requests_shutdown(None, 60).await.unwrap().progress, Open);
    dan.claims("t2").await.unwrap();
    dan.answers_shutdown("s3", None).await.unwrap();
    assert!(matches!(dan.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })));
    assert!(matches!(bob.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })));
    for other in [&lead, &cyd] {
        other.answers_shutdown("s3", Some("not yet")).await.unwrap();
    }
    // The leader's own request keeps them, after a rejection too, and so does anybody's whose request was not rejected.
    for (asking, id) in [(&lead, "s4"), (&lead, "s5"), (&cyd, "s6")] {
        let target = if id == "s6" { "lead" } else { "cyd" };
        asking.requests_shutdown(Some(target), 60).await.unwrap();
        let requested = if id == "s6" { &lead } else { &cyd };
        assert!(
            matches!(requested.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })),
            "{id}"
        );
        requested.answers_shutdown(id, Some("not yet")).await.unwrap();
    }
    // As if ten minutes had passed.
    let team = keys::team(&world.repo, &lead.team);
    assert_eq!(world.number(["HDEL", &team, "rejected"]).await, 1);
    bob.joins("bob").await.unwrap();
    bob.requests_shutdown(Some("cyd"), 60).await.unwrap();
    assert!(matches!(cyd.takes_next().await, Err(TeamRefusal::ShuttingDown { .. })));
}

/// It had approved the first request, which ended its part in every later one.
async fn a_team_never_closes_without_a_leader_that_is_live(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.requests_shutdown(None, 60).await.unwrap();
    assert_eq!(
        bob.answers_shutdown("s1", Some("not yet")).await.unwrap().progress,
        Rejected
    );
    assert_eq!(bob.requests_shutdown(None, 60).await.unwrap().progress, Open);
    assert_eq!(
        lead.answers_shutdown("s2", Some("now not")).await.unwrap().progress,
        Rejected
    );
    // Bob has stopped, and is not waited for; the leader is.
    assert_eq!(bob.requests_shutdown(None, 60).await.unwrap().progress, Open);
    assert_eq!(lead.answers_shutdown("s3", None).await.unwrap().progress, Closed);
}

async fn a_leader_that_has_stopped_and_is_away_keeps_no_team_open(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.requests_shutdown(None, 60).await.unwrap();
    bob.answers_shutdown("s1", Some("not yet")).await.unwrap();
    is_silent_for_an_hour(&lead, "lead").await;
    assert_eq!(bob.requests_shutdown(None, 60).await.unwrap().progress, Closed);
}

/// A member that had stopped was "not a member".
async fn a_stopped_member_gets_no_second_request_and_cannot_become_the_leader(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    bob.requests_shutdown(Some("bob"), 60).await.unwrap();
    let stopped = TeamRefusal::HasStopped {
        handle: "bob".to_owned(),
        team: "alpha".to_owned(),
    };
    assert_eq!(lead.hands_over("BOB").await, Err(stopped.clone()));
    assert_eq!(lead.requests_shutdown(Some("bob"), 60).await.unwrap_err(), stopped);
}

/// A member that joined again was given tasks, which nobody released once the team was closed.
async fn an_approval_is_final_while_the_shutdown_is_open_even_after_a_rejoin(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    lead.requests_shutdown(None, 60).await.unwrap();
    assert_eq!(bob.answers_shutdown("s1", None).await.unwrap().progress, Open);
    let restarted = world.mate("bob/two", "alpha");
    for mate in [&bob, &restarted] {
        mate.joins("bob").await.unwrap();
        let refused = [mate.claims("t1").await.err(), mate.takes_next().await.err()];
        for refusal in refused {
            assert!(
                matches!(&refusal, Some(TeamRefusal::ShuttingDown { id, .. }) if id == "s1"),
                "{refusal:?}"
            );
        }
    }
    assert!(matches!(
        restarted.answers_shutdown("s1", Some("After all")).await,
        Err(TeamRefusal::Answered { .. })
    ));
    // Once it was rejected, who joined again works on.
    let over = eve.answers_shutdown("s1", Some("Not yet")).await.unwrap();
    assert_eq!(over.progress, Rejected);
    restarted.claims("t1").await.unwrap();
    // And a team that closes has no claims left.
    lead.joins("lead").await.unwrap();
    lead.requests_shutdown(None, 60).await.unwrap();
    restarted.answers_shutdown("s2", None).await.unwrap();
    restarted.joins("bob").await.unwrap();
    assert_eq!(eve.answers_shutdown("s2", None).await.unwrap().progress, Closed);
    let claims = keys_of_claims(&lead).await;
    assert_eq!(claims, 0);
}

async fn keys_of_claims(mate: &Mate<'_>) -> i64 {
    let leases = coord_teams_state::tasks::keys::leases(&mate.world.repo, &mate.team);
    mate.world.number(["ZCARD", &leases]).await
}

/// The answer of who left stood for whoever had the handle next.
async fn a_new_member_under_a_freed_handle_answers_for_itself(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    lead.requests_shutdown(None, 60).await.unwrap();
    bob.answers_shutdown("s1", None).await.unwrap();
    bob.leaves().await.unwrap();
    let new = world.mate("ann", "alpha");
    new.joins("bob").await.unwrap();
    assert_eq!(new.waits().await.shutdown.unwrap().id, "s1");
    assert!(matches!(new.claims("t1").await, Err(TeamRefusal::ShuttingDown { .. })));
    assert_eq!(eve.answers_shutdown("s1", None).await.unwrap().progress, Open);
    assert_eq!(new.answers_shutdown("s1", None).await.unwrap().progress, Closed);
}

/// States of shutdowns, with who is to stop and who did it.
async fn shutdown_events(world: &World) -> Vec<(String, Option<String>, String)> {
    let events = world.events().await;
    let changes = events
        .iter()
        .filter(|(_, event)| event["type"] == "shutdown_changed")
        .map(|(_, event)| {
            let text = |name: &str| event[name].as_str().map(str::to_owned);
            (text("state").unwrap(), text("target"), text("handle").unwrap())
        });
    changes.collect()
}

fn change(state: &str, target: Option<&str>, handle: &str) -> (String, Option<String>, String) {
    (state.to_owned(), target.map(str::to_owned), handle.to_owned())
}

/// It had stopped, and neither an event nor a message told of it.
async fn a_request_for_the_same_shutdown_is_a_visible_approval(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    assert_eq!(bob.requests_shutdown(Some("bob"), 60).await.unwrap().progress, Stopped);
    eve.requests_shutdown(None, 60).await.unwrap();
    assert_eq!(lead.requests_shutdown(None, 60).await.unwrap().progress, Closed);
    assert_eq!(
        shutdown_events(&world).await,
        [
            change("requested", Some("bob"), "lead"),
            change("approved", Some("bob"), "bob"),
            change("approved", Some("bob"), "bob"),
            change("requested", None, "eve"),
            change("approved", None, "lead"),
            change("closed", None, "lead"),
        ]
    );
    let approvals_read = async |mate: &Mate<'_>| {
        let messages = mate.reads(None).await.unwrap().messages;
        let approvals = messages
            .iter()
            .filter(|message| message.kind == MessageType::ShutdownApproved);
        approvals.map(|message| message.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(approvals_read(&lead).await, ["Agent bob approved shutdown"]);
    assert_eq!(approvals_read(&eve).await, ["Agent lead approved team shutdown"]);
}

/// The event of the end named nobody, as that of the whole team.
async fn the_end_of_a_shutdown_names_the_member_that_left(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.requests_shutdown(Some("bob"), 60).await.unwrap();
    bob.leaves().await.unwrap();
    assert_eq!(
        shutdown_events(&world).await,
        [
            change("requested", Some("bob"), "lead"),
            change("approved", Some("bob"), "bob")
        ]
    );
}

/// All in one run held the store up for 400 ms, with 20,000 claims.
async fn a_shutdown_of_many_claims_is_forced_member_by_member(world: World) {
    let (lead, [bob, _eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    // As if both had claimed 600 more.
    let team = keys::team(&world.repo, &lead.team);
    for name in ["bob", "eve"] {
        let field = format!("={name}");
        let stored = world.command(["HGET", &team, &field]).await;
        let mut member: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
        let more: Vec<String> = (0..600).map(|number| format!("gone{number}")).collect();
        member["claims"] = format!("{} {}", member["claims"].as_str().unwrap(), more.join(" ")).into();
        world.command(["HSET", &team, &field, &member.to_string()]).await;
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
