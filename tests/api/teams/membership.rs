//! Teams are made, shown, joined, handed over, left and removed.

use serde_json::json;

use super::error;
use crate::api::Api;

#[tokio::test]
async fn a_team_is_shown_with_the_documented_members() {
    let api = Api::with_team().await;
    let listed = api.shows("eve", "/api/teams", "").await;
    let summary = &listed["teams"][0];
    assert_eq!(
        (
            &summary["name"],
            &summary["leader"],
            &summary["memberCount"],
            &summary["openTasks"]
        ),
        (&json!("alpha"), &json!("lead"), &json!(3), &json!(0))
    );
    let team = api.shows("eve", "/api/teams/ALPHA", "").await["team"].clone();
    let members = team["members"].as_array().unwrap();
    let shown: Vec<_> = members
        .iter()
        .map(|member| (member["agentId"].as_str().unwrap(), member["login"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [("lead", "ann"), ("one", "bob"), ("two", "bob")]);
    assert_eq!(
        (&members[0]["agentName"], &members[0]["agentType"]),
        (&json!("lead"), &json!("agent"))
    );
    assert!(
        members
            .iter()
            .all(|member| member["isLive"] == true && member["unread"] == 0)
    );
    api.does_in_team(
        "ann/lead",
        "/api/messages",
        json!({ "to": ["broadcast"], "message": "m" }),
    )
    .await;
    api.does_in_team("bob/two", "/api/messages/read", json!({ "cursor": 1 }))
        .await;
    api.does_in_team("eve/eve", "/api/teams/alpha/join", json!({})).await;
    let seen_by_bob = api.shows("bob", "/api/teams/alpha", "").await["team"]["members"].clone();
    let marks = |handle: &str| {
        let members = seen_by_bob.as_array().unwrap().iter();
        let member = members.clone().find(|member| member["agentId"] == handle).unwrap();
        ["joinedAfter", "readTo", "isYours"].map(|field| member[field].clone())
    };
    assert_eq!(marks("lead"), [json!(0), json!(0), json!(false)]);
    assert_eq!(marks("two"), [json!(0), json!(1), json!(true)]);
    assert_eq!(marks("eve"), [json!(1), json!(1), json!(false)]);
    for time in [&team["created"], &members[1]["joinedAt"], &members[1]["lastSeen"]] {
        let time = time.as_str().unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    }
    assert_eq!(
        (&team["shutdownApprovals"], &team["isStrict"]),
        (&json!([]), &json!(false))
    );
}

#[tokio::test]
async fn a_name_is_one_whatever_its_case_and_a_bad_one_is_refused_in_the_documented_words() {
    let api = Api::with_team().await;
    let again = api
        .sends("eve", "/api/teams", json!({ "name": "Alpha", "handle": "eve" }))
        .await;
    assert_eq!(
        error(&again),
        (
            409,
            "TEAM_EXISTS".to_owned(),
            "Team \"Alpha\" already exists".to_owned()
        )
    );
    for name in ["", "a b", "a/b", "..", "a:b", "{a}", "a\u{1b}b", "größe"] {
        let refused = api
            .sends("eve", "/api/teams", json!({ "name": name, "handle": "eve" }))
            .await;
        let (status, code, message) = error(&refused);
        assert_eq!((status, code.as_str()), (400, "INVALID_FIELD"), "{name:?}");
        assert!(
            message.contains("Team name must be alphanumeric with hyphens/underscores"),
            "{message}"
        );
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
    let missing = api.gets("eve", "/api/teams/beta", "").await;
    assert_eq!(
        error(&missing),
        (
            404,
            "UNKNOWN_TEAM".to_owned(),
            "Team \"beta\" does not exist".to_owned()
        )
    );
}

// rule: teams#handle
#[tokio::test]
async fn a_handle_is_the_agents_id_or_is_sent_and_belongs_to_one_login() {
    let api = Api::with_team().await;
    let unnamed = api.sends("eve", "/api/teams/alpha/join", json!({})).await;
    assert_eq!((unnamed.status, &unnamed.json()["field"]), (400, &json!("handle")));
    let taken = api
        .sends("eve", "/api/teams/alpha/join", json!({ "handle": "ONE" }))
        .await;
    assert_eq!(error(&taken).1, "HANDLE_TAKEN");
    let joined = api
        .does_in_team("eve", "/api/teams/alpha/join", json!({ "handle": "scout" }))
        .await;
    assert_eq!(joined["handle"], json!("scout"));
    for handle in ["../x", "broadcast", ".a", ""] {
        let refused = api
            .sends("zoe", "/api/teams/alpha/join", json!({ "handle": handle }))
            .await;
        assert_eq!(
            (refused.status, &refused.json()["field"]),
            (400, &json!("handle")),
            "{handle}"
        );
    }
}

// rule: teams#handle-taken-over
#[tokio::test]
async fn a_restarted_agent_takes_its_handle_over_and_the_old_one_is_superseded() {
    let api = Api::with_team().await;
    let id = &api.adds(json!([{ "title": "A" }])).await[0];
    let claim = format!("/api/tasks/{id}/claim");
    api.does_in_team("bob/one", &claim, json!({})).await;
    let taken = api
        .does_in_team("bob/new", "/api/teams/alpha/join", json!({ "handle": "one" }))
        .await;
    assert_eq!(
        (&taken["handle"], &taken["taken_over_from"]),
        (&json!("one"), &json!("one"))
    );
    let old = api.sends("bob/one", &claim, json!({ "team": "alpha" })).await;
    assert_eq!((error(&old).0, error(&old).1.as_str()), (409, "SUPERSEDED"));
    assert_eq!(old.json()["orchestration"]["action"], json!("STOP"));
    let renewed = api.does_in_team("bob/new", &claim, json!({})).await;
    assert_eq!(renewed["task"]["owner"], json!("one"));
}

#[tokio::test]
async fn a_leader_hands_over_and_leaves_and_a_team_without_live_members_is_removed() {
    let api = Api::with_team().await;
    let stays = api.sends("ann/lead", "/api/teams/alpha/leave", json!({})).await;
    assert_eq!(error(&stays).1, "LEADER_STAYS");
    let no_leader = api
        .patches("bob/one", "/api/teams/alpha", json!({ "leader": "two" }))
        .await;
    assert_eq!((error(&no_leader).0, error(&no_leader).1.as_str()), (403, "NOT_LEADER"));
    let unknown = api
        .patches("ann/lead", "/api/teams/alpha", json!({ "leader": "zoe" }))
        .await;
    assert_eq!(error(&unknown).2, "Recipient \"zoe\" is not a member of team \"alpha\"");
    assert_eq!(
        api.patches("ann/lead", "/api/teams/alpha", json!({ "leader": "ONE" }))
            .await
            .status,
        200
    );
    assert_eq!(
        api.shows("ann", "/api/teams/alpha", "").await["team"]["leader"],
        json!("one")
    );
    api.does_in_team("ann/lead", "/api/teams/alpha/leave", json!({})).await;
    let live = api.removes("bob/one", "/api/teams/alpha", "").await;
    assert_eq!(error(&live).1, "MEMBERS_LIVE");
    assert!(error(&live).2.contains("two"), "{}", error(&live).2);
    api.does_in_team("bob/two", "/api/teams/alpha/leave", json!({})).await;
    assert_eq!(api.removes("bob/one", "/api/teams/alpha", "").await.status, 200);
    assert_eq!(api.shows("ann", "/api/teams", "").await["teams"], json!([]));
}

// rule: teams#team-field
#[tokio::test]
async fn a_member_of_exactly_one_team_may_omit_the_team() {
    let api = Api::with_team().await;
    let added = json!({ "tasks": [{ "title": "A" }] });
    let nobody = api.sends("eve", "/api/tasks", added.clone()).await;
    assert_eq!(
        error(&nobody).2,
        "team is required: you are in no team of this repository"
    );
    api.does_in_team("bob/one", "/api/teams", json!({ "name": "beta" }))
        .await;
    let two = api.sends("bob/one", "/api/tasks", added.clone()).await;
    assert_eq!(error(&two).2, "team is required: you are in alpha, beta");
    api.does_in_team("bob/two", "/api/tasks", added).await;
    assert_eq!(
        api.shows("bob", "/api/tasks", "&team=alpha").await["tasks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// Round trips to the store that the answer names.
fn round_trips(answer: &crate::api::Answer) -> &str {
    let timing = answer.header("server-timing").unwrap();
    timing.split('"').nth(1).unwrap()
}

/// Each request looked the only team of the agent up before it ran.
#[tokio::test]
async fn a_request_that_leaves_its_team_out_takes_one_round_trip_once_the_team_is_known() {
    let api = Api::with_team().await;
    // The first claim in a repository puts it on the list of the sweep.
    api.adds(json!([{ "title": "Z" }])).await;
    api.does_in_team("ann/lead", "/api/tasks/t1/claim", json!({})).await;
    let first = api.sends("bob/one", "/api/messages/read", json!({})).await;
    assert_eq!((first.status, round_trips(&first)), (200, "2 round trips"));
    for (path, body) in [
        ("/api/tasks", json!({ "tasks": [{ "title": "A" }] })),
        ("/api/tasks/next", json!({})),
        ("/api/tasks/t2/claim", json!({})),
        ("/api/tasks/t2/complete", json!({ "result": "r" })),
        ("/api/messages", json!({ "to": ["lead"], "message": "m" })),
        ("/api/messages/read", json!({})),
    ] {
        let answer = api.sends("bob/one", path, body).await;
        assert_eq!(
            (answer.status, round_trips(&answer)),
            (200, "1 round trip"),
            "{path}: {}",
            answer.json()
        );
    }
}

#[tokio::test]
async fn a_team_that_is_left_out_is_the_only_one_of_now() {
    let api = Api::with_team().await;
    let added = |title: &str| json!({ "tasks": [{ "title": title }] });
    api.does_in_team("bob/one", "/api/tasks", added("in alpha")).await;
    api.does_in_team("ann/boss", "/api/teams", json!({ "name": "beta" }))
        .await;
    api.does_in_team("bob/one", "/api/teams/beta/join", json!({})).await;
    let two = api.sends("bob/one", "/api/tasks", added("in none")).await;
    assert_eq!(error(&two).2, "team is required: you are in alpha, beta");
    api.does_in_team("bob/one", "/api/teams/beta/leave", json!({})).await;
    api.does_in_team("bob/one", "/api/tasks", added("in alpha, too")).await;
    api.does_in_team("bob/one", "/api/teams/beta/join", json!({})).await;
    api.does_in_team("bob/one", "/api/teams/alpha/leave", json!({})).await;
    api.does_in_team("bob/one", "/api/tasks", added("in beta")).await;
    api.does_in_team("bob/one", "/api/teams/beta/leave", json!({})).await;
    let none = api.sends("bob/one", "/api/tasks", added("in none")).await;
    assert_eq!(
        error(&none).2,
        "team is required: you are in no team of this repository"
    );
    let titles = async |team: &str| {
        let listed = api.shows("ann", "/api/tasks", &format!("&team={team}")).await;
        let tasks = listed["tasks"].as_array().unwrap().iter();
        tasks
            .map(|task| task["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(titles("alpha").await, ["in alpha", "in alpha, too"]);
    assert_eq!(titles("beta").await, ["in beta"]);
}
