//! Teams are made, shown, joined, handed over, left and removed.

use serde_json::json;

use super::{assert_has, texts_of, wrong_field};
use crate::api::{Answer, Api};

#[tokio::test]
async fn a_team_is_shown_with_the_documented_members() {
    let api = Api::with_team().await;
    let listed = api.shows("eve", "teams", "").await;
    assert_has!(listed["teams"][0], { "name": "alpha", "leader": "lead", "memberCount": 3, "openTasks": 0 });
    let team = api.shows("eve", "teams/ALPHA", "").await["team"].clone();
    let members = team["members"].as_array().unwrap();
    assert_eq!(members.len(), 3);
    for (member, (handle, login)) in members.iter().zip([("lead", "ann"), ("one", "bob"), ("two", "bob")]) {
        assert_has!(member, { "agentId": handle, "login": login, "isLive": true, "unread": 0 });
    }
    assert_has!(members[0], { "agentName": "lead", "agentType": "agent" });
    api.writes_to("broadcast", "m").await;
    api.calls("bob/two", "messages/read", json!({ "cursor": 1 })).await;
    api.calls("eve/eve", "teams/alpha/join", json!({})).await;
    let seen_by_bob = api.shows("bob", "teams/alpha", "").await["team"]["members"].clone();
    for (handle, joined_after, read_to, is_yours) in [("lead", 0, 0, false), ("two", 0, 1, true), ("eve", 1, 1, false)]
    {
        let mut members = seen_by_bob.as_array().unwrap().iter();
        let member = members.find(|member| member["agentId"] == handle).unwrap();
        assert_has!(member, { "joinedAfter": joined_after, "readTo": read_to, "isYours": is_yours });
    }
    for time in [&team["created"], &members[1]["joinedAt"], &members[1]["lastSeen"]] {
        let time = time.as_str().unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    }
    assert_has!(team, { "shutdownApprovals": [], "isStrict": false });
}

#[tokio::test]
async fn a_name_is_one_whatever_its_case_and_a_bad_one_is_refused_in_the_documented_words() {
    let api = Api::with_team().await;
    let makes = async |name: &str| {
        let team = json!({ "name": name, "handle": "eve" });
        api.sends("eve", "teams", team).await
    };
    let again = makes("Alpha").await.expect("409 TEAM_EXISTS");
    assert_eq!(again["message"], "Team \"Alpha\" already exists");
    for name in ["", "a b", "a/b", "..", "a:b", "{a}", "a\u{1b}b", "größe"] {
        let refused = makes(name).await.expect("400 INVALID_FIELD");
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.contains("Team name must be alphanumeric with hyphens/underscores"),
            "{message}"
        );
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
    let missing = api.gets("eve", "teams/beta", "").await;
    let missing = missing.expect("404 UNKNOWN_TEAM");
    assert_eq!(missing["message"], "Team \"beta\" does not exist");
}

// rule: teams#handle
#[tokio::test]
async fn a_handle_is_the_agents_id_or_is_sent_and_belongs_to_one_login() {
    let api = Api::with_team().await;
    let path = "teams/alpha/join";
    let unnamed = api.sends("eve", path, json!({})).await;
    assert_eq!(wrong_field(&unnamed), "handle");
    let taken = json!({ "handle": "ONE" });
    api.refuses("eve", path, taken, "409 HANDLE_TAKEN").await;
    let joined = api.calls("eve", path, json!({ "handle": "scout" })).await;
    assert_eq!(joined["handle"], "scout");
    for handle in ["../x", "broadcast", ".a", ""] {
        let answer = api.sends("zoe", path, json!({ "handle": handle })).await;
        assert_eq!(wrong_field(&answer), "handle", "{handle}");
    }
}

// rule: teams#handle-taken-over
#[tokio::test]
async fn a_restarted_agent_takes_its_handle_over_and_the_old_one_is_superseded() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.claims_task("bob/one", "t1").await;
    let join = json!({ "handle": "one" });
    let taken = api.calls("bob/new", "teams/alpha/join", join).await;
    assert_has!(taken, { "handle": "one", "taken_over_from": "one" });
    let claim = json!({ "team": "alpha" });
    let old = api.sends("bob/one", "tasks/t1/claim", claim).await;
    old.expect("409 SUPERSEDED STOP");
    assert_eq!(api.claims_task("bob/new", "t1").await["task"]["owner"], "one");
}

#[tokio::test]
async fn a_leader_hands_over_and_leaves_and_a_team_without_live_members_is_removed() {
    let api = Api::with_team().await;
    let (team, leave) = ("teams/alpha", "teams/alpha/leave");
    api.refuses("ann/lead", leave, json!({}), "409 LEADER_STAYS").await;
    let hands_over = async |who: &str, to: &str| api.patches(who, team, json!({ "leader": to })).await;
    hands_over("bob/one", "two").await.expect("403 NOT_LEADER");
    let unknown = hands_over("ann/lead", "zoe").await.json();
    assert_eq!(
        unknown["message"],
        "Recipient \"zoe\" is not a member of team \"alpha\""
    );
    assert_eq!(hands_over("ann/lead", "ONE").await.status, 200);
    assert_eq!(api.team().await["leader"], "one");
    api.calls("ann/lead", leave, json!({})).await;
    let live = api.removes("bob/one", team, "").await.expect("409 MEMBERS_LIVE");
    assert!(live["message"].as_str().unwrap().contains("two"), "{live}");
    api.calls("bob/two", leave, json!({})).await;
    assert_eq!(api.removes("bob/one", team, "").await.status, 200);
    assert_eq!(api.shows("ann", "teams", "").await["teams"], json!([]));
}

/// Round trips to the store that the answer names.
fn round_trips(answer: &Answer) -> &str {
    let timing = answer.header("server-timing").unwrap();
    timing.split('"').nth(1).unwrap()
}

/// Each request looked the only team of the agent up before it ran.
#[tokio::test]
async fn a_request_that_leaves_its_team_out_takes_one_round_trip_once_the_team_is_known() {
    let api = Api::with_team().await;
    // The first claim in a repository puts it on the list of the sweep.
    api.adds(json!([{ "title": "Z" }])).await;
    api.claims_task("ann/lead", "t1").await;
    let first = api.sends("bob/one", "messages/read", json!({})).await;
    assert_eq!((first.status, round_trips(&first)), (200, "2 round trips"));
    for (path, body) in [
        ("tasks", json!({ "tasks": [{ "title": "A" }] })),
        ("tasks/next", json!({})),
        ("tasks/t2/claim", json!({})),
        ("tasks/t2/complete", json!({ "result": "r" })),
        ("messages", json!({ "to": ["lead"], "message": "m" })),
        ("messages/read", json!({})),
    ] {
        let answer = api.sends("bob/one", path, body).await;
        let found = (answer.status, round_trips(&answer));
        assert_eq!(found, (200, "1 round trip"), "{path}: {}", answer.json());
    }
}

// rule: teams#team-field
#[tokio::test]
async fn a_team_that_is_left_out_is_the_only_one_of_now() {
    let api = Api::with_team().await;
    let added = |title: &str| json!({ "tasks": [{ "title": title }] });
    let question = async |who: &str| {
        let refused = api.sends(who, "tasks", added("in none")).await.json();
        refused["message"].as_str().unwrap().to_owned()
    };
    let none = "team is required: you are in no team of this repository";
    let two = "team is required: you are in alpha, beta";
    assert_eq!(question("eve").await, none);
    api.calls("bob/one", "tasks", added("in alpha")).await;
    api.calls("ann/boss", "teams", json!({ "name": "beta" })).await;
    api.calls("bob/one", "teams/beta/join", json!({})).await;
    assert_eq!(question("bob/one").await, two);
    // Teams of other agents of the same login do not count.
    api.calls("bob/two", "tasks", added("by two")).await;
    api.calls("bob/one", "teams/beta/leave", json!({})).await;
    api.calls("bob/one", "tasks", added("in alpha, too")).await;
    api.calls("bob/one", "teams/beta/join", json!({})).await;
    api.calls("bob/one", "teams/alpha/leave", json!({})).await;
    api.calls("bob/one", "tasks", added("in beta")).await;
    api.calls("bob/one", "teams/beta/leave", json!({})).await;
    assert_eq!(question("bob/one").await, none);
    // The agent that made a team is in it.
    api.calls("bob/two", "teams", json!({ "name": "gamma" })).await;
    assert_eq!(question("bob/two").await, "team is required: you are in alpha, gamma");
    for (team, titles) in [
        ("alpha", &["in alpha", "by two", "in alpha, too"][..]),
        ("beta", &["in beta"]),
    ] {
        let listed = api.shows("ann", "tasks", &format!("&team={team}")).await;
        assert_eq!(texts_of(&listed["tasks"], "title"), titles, "{team}");
    }
}
