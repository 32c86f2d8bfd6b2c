//! Every answer to a member says what waits for it in its teams.

use serde_json::{Value, json};

use crate::api::Api;

/// The warnings about teams of a check, a claim and a release of one file, which must agree.
async fn team_warnings(api: &Api, who: &str) -> Vec<String> {
    let work = |more: Value| {
        let mut body = json!({ "branch": "main", "file_paths": ["src/told.ts"], "agent_head": api.head });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let post =
        |status: &str| work(json!({ "status": status, "message": "Try what is told", "abandon": status == "OPEN" }));
    let answers = [
        api.does_in_team(who, "/api/check_status", work(json!({}))).await,
        api.does_in_team(who, "/api/post_status", post("WRITING")).await,
        api.does_in_team(who, "/api/post_status", post("OPEN")).await,
        // A repeated release is answered as the first was, with what waits now.
        api.does_in_team(who, "/api/post_status", post("OPEN")).await,
    ];
    let all = answers.map(|answer| {
        let teams: Vec<coord_protocol::Membership> =
            serde_json::from_value(answer.get("your_teams").cloned().unwrap_or(json!([]))).unwrap();
        let warnings = answer["warnings"].as_array().unwrap().iter();
        let texts = warnings.map(|warning| warning.as_str().unwrap().to_owned());
        let texts = texts
            .filter(|text| text.starts_with("UNREAD") || text.starts_with("SHUTDOWN"))
            .collect::<Vec<_>>();
        // Fields and warnings say the same.
        let of_fields: Vec<String> = teams.iter().flat_map(coord_protocol::Membership::warnings).collect();
        assert_eq!(of_fields, texts, "{answer}");
        texts
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0].clone()
}

#[tokio::test]
async fn a_member_is_warned_unread_until_it_has_read_its_messages() {
    let api = Api::with_team().await;
    assert_eq!(team_warnings(&api, "bob/one").await, [""; 0]);
    for to in ["one", "broadcast"] {
        let sent = json!({ "to": [to], "message": "Hello" });
        api.does_in_team("ann/lead", "/api/messages", sent).await;
    }
    assert_eq!(
        team_warnings(&api, "bob/one").await,
        ["UNREAD: 2 messages wait for you, 'one' of team 'alpha'."]
    );
    assert_eq!(
        team_warnings(&api, "bob/two").await,
        ["UNREAD: A message waits for you, 'two' of team 'alpha'."]
    );
    // Neither the sender of a broadcast, nor another agent of the same login, nor one outside of the team.
    for other in ["ann/lead", "bob/else", "bob"] {
        assert_eq!(team_warnings(&api, other).await, [""; 0], "{other}");
    }
    let read = api.does_in_team("bob/one", "/api/messages/read", json!({})).await;
    let proof = json!({ "cursor": read["cursor"] });
    api.does_in_team("bob/one", "/api/messages/read", proof).await;
    assert_eq!(team_warnings(&api, "bob/one").await, [""; 0]);
}

#[tokio::test]
async fn a_member_is_warned_shutdown_requested_until_it_has_answered() {
    let api = Api::with_team().await;
    let path = "/api/teams/alpha/shutdown";
    let body = json!({ "step": "request", "target": "one", "reason": "Enough" });
    let request = api.does_in_team("ann/lead", path, body).await;
    let requested = "SHUTDOWN_REQUESTED: 'lead' asks you, 'one' of team 'alpha', to stop (shutdown s1): read your messages, and approve or reject.";
    assert_eq!(
        team_warnings(&api, "bob/one").await,
        [requested, "UNREAD: A message waits for you, 'one' of team 'alpha'."]
    );
    assert_eq!(team_warnings(&api, "bob/two").await, [""; 0]);
    let reject = json!({ "step": "reject", "reason": "Not yet", "shutdown_id": request["shutdown_id"] });
    api.does_in_team("bob/one", path, reject).await;
    assert_eq!(
        team_warnings(&api, "bob/one").await,
        ["UNREAD: A message waits for you, 'one' of team 'alpha'."]
    );
}

// rule: teams#waiting
#[tokio::test]
async fn responses_about_locks_list_the_teams_of_a_member_and_none_for_others() {
    let api = Api::with_team().await;
    api.does_in_team(
        "ann/lead",
        "/api/messages",
        json!({ "to": ["one"], "message": "Hello" }),
    )
    .await;
    let request = json!({ "step": "request", "target": "one", "reason": "Enough" });
    api.does_in_team("ann/lead", "/api/teams/alpha/shutdown", request).await;
    let work = json!({ "branch": "main", "file_paths": ["src/told.ts"], "agent_head": api.head });
    let mut checked = api.does_in_team("bob/one", "/api/check_status", work.clone()).await;
    let respond_by = checked["your_teams"][0]["shutdown"]["respond_by"].take();
    assert!(respond_by.as_str().unwrap().ends_with('Z'), "{respond_by}");
    assert_eq!(
        checked["your_teams"],
        json!([{
            "team": "alpha", "handle": "one", "unread": 2,
            "shutdown": { "id": "s1", "target": "one", "by": "lead", "reason": "Enough", "respond_by": null },
        }])
    );
    // Refused claims have them, too: WAIT, PULL, and a release with PUSH.
    let claim = |head: &str, status: &str| json!({ "branch": "main", "file_paths": ["src/told.ts"], "agent_head": head, "status": status, "message": "Telling" });
    let refused = async |claim: Value, command: &str| {
        let refused = api.sends("bob/one", "/api/post_status", claim).await.json();
        assert_eq!(refused["orchestration"]["action"], json!(command), "{refused}");
        assert_eq!(refused["your_teams"][0]["unread"], json!(2), "{refused}");
    };
    api.does_in_team("ann/lead", "/api/post_status", claim(&api.head, "WRITING"))
        .await;
    refused(claim(&api.head, "WRITING"), "WAIT").await;
    let mut given_back = claim(&api.head, "OPEN");
    given_back["abandon"] = json!(true);
    api.does_in_team("ann/lead", "/api/post_status", given_back).await;
    refused(claim(&"0".repeat(40), "WRITING"), "PULL").await;
    api.does_in_team("bob/one", "/api/post_status", claim(&api.head, "WRITING"))
        .await;
    let mut unpushed = claim(&api.head, "OPEN");
    unpushed["new_repo_head"] = json!("1".repeat(40));
    refused(unpushed, "PUSH").await;
    let stranger = api.does_in_team("eve", "/api/check_status", work).await;
    assert_eq!(stranger.get("your_teams"), None);
}

// rule: teams#waiting
#[tokio::test]
async fn every_response_about_teams_warns_a_member_of_what_waits() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B" }])).await;
    api.does_in_team("ann/lead", "/api/tasks/t1/claim", json!({})).await;
    api.does_in_team(
        "ann/lead",
        "/api/messages",
        json!({ "to": ["one"], "message": "Hello" }),
    )
    .await;
    let request = json!({ "step": "request", "target": "one" });
    api.does_in_team("ann/lead", "/api/teams/alpha/shutdown", request).await;
    let by = |who: &'static str| {
        let (user, agent) = who.split_once('/').unwrap();
        [("x-coord-user", user), ("x-coord-agent", agent)]
    };
    let mut responses = Vec::new();
    for path in [
        "/api/tasks?team=alpha",
        "/api/tasks/t1?team=alpha",
        "/api/teams/alpha?",
        "/api/messages?team=alpha",
    ] {
        let path = format!("{path}&repo_url={}", crate::api::REPO_URL);
        let path = path.replace("?&", "?");
        responses.push((path.clone(), api.get(&path, &by("bob/one")).await));
        let stranger = api.get(&path, &[("x-coord-user", "eve")]).await.json();
        assert_eq!(
            (stranger.get("unread"), stranger.get("shutdown")),
            (None, None),
            "{path}"
        );
    }
    for (path, more) in [
        ("/api/messages", json!({ "to": ["two"], "message": "Hello" })),
        ("/api/tasks", json!({ "tasks": [{ "title": "C" }] })),
        // Refusals: a task of another member; no task while a shutdown asks; no such task.
        ("/api/tasks/t1/claim", json!({})),
        ("/api/tasks/next", json!({})),
        ("/api/tasks/none/release", json!({})),
        (
            "/api/teams/alpha/shutdown",
            json!({ "step": "approve", "shutdown_id": "s9" }),
        ),
    ] {
        responses.push((path.to_owned(), api.sends("bob/one", path, more).await));
    }
    for (path, answer) in responses {
        let answer = answer.json();
        assert_eq!(
            (&answer["unread"], &answer["shutdown"]["id"], &answer["shutdown"]["by"]),
            (&json!(2), &json!("s1"), &json!("lead")),
            "{path}: {answer}"
        );
    }
    let listed = api
        .get(&format!("/api/teams?repo_url={}", crate::api::REPO_URL), &by("bob/one"))
        .await
        .json();
    assert_eq!(
        (
            &listed["your_teams"][0]["unread"],
            &listed["your_teams"][0]["shutdown"]["id"]
        ),
        (&json!(2), &json!("s1"))
    );
    // The answer to an answer has it no more, and neither has that to who has read.
    let reject = json!({ "step": "reject", "reason": "Not yet", "shutdown_id": "s1" });
    let rejected = api.does_in_team("bob/one", "/api/teams/alpha/shutdown", reject).await;
    assert_eq!((&rejected["unread"], rejected.get("shutdown")), (&json!(2), None));
}

// rule: teams#shutdown-answer
#[tokio::test]
async fn an_approving_member_learns_which_work_is_unpushed() {
    let api = Api::with_team().await;
    let work = json!({
        "branch": "main", "file_paths": ["src/told.ts"], "agent_head": api.head, "status": "WRITING", "message": "Try"
    });
    api.does_in_team("bob/one", "/api/post_status", work).await;
    let request = json!({ "step": "request", "target": "one" });
    api.does_in_team("ann/lead", "/api/teams/alpha/shutdown", request).await;
    let approve = json!({ "step": "approve", "shutdown_id": "s1" });
    let approved = api.does_in_team("bob/one", "/api/teams/alpha/shutdown", approve).await;
    assert_eq!(
        (
            &approved["shutdown_state"],
            &approved["unpushed"],
            &approved["unpushed_count"]
        ),
        (
            &json!("stopped"),
            &json!([{ "branch": "main", "file_path": "src/told.ts" }]),
            &json!(1)
        )
    );
    let orchestration = &approved["orchestration"];
    assert_eq!(orchestration["action"], json!("PUSH"));
    assert!(
        orchestration["reason"].as_str().unwrap().contains("'src/told.ts'"),
        "{orchestration}"
    );
}
