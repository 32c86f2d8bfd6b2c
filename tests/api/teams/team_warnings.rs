//! Every answer to a member says what waits for it in its teams.

use serde_json::{Value, json};

use super::{assert_has, with};
use crate::api::{Api, REPO_URL};

/// A check of one file, from an up-to-date working copy.
fn check(api: &Api) -> Value {
    json!({ "branch": "main", "file_paths": ["src/told.ts"], "agent_head": api.head })
}

/// The same file with a status: `WRITING` or `OPEN`.
fn post(api: &Api, status: &str, more: Value) -> Value {
    let post = json!({ "status": status, "message": "Try what is told" });
    with(check(api), with(post, more))
}

/// The leader asks `bob/one` to stop: the shutdown `s1`.
async fn asks_to_stop(api: &Api) {
    let request = json!({ "step": "request", "target": "one", "reason": "Enough" });
    api.calls("ann/lead", "teams/alpha/shutdown", request).await;
}

/// The warnings about teams of a check, a claim and a release of one file, which must agree.
async fn team_warnings(api: &Api, who: &str) -> Vec<String> {
    let claim = post(api, "WRITING", json!({}));
    let release = post(api, "OPEN", json!({ "abandon": true }));
    let answers = [
        api.calls(who, "check_status", check(api)).await,
        api.calls(who, "post_status", claim).await,
        api.calls(who, "post_status", release.clone()).await,
        // A repeated release is answered as the first was, with what waits now.
        api.calls(who, "post_status", release).await,
    ];
    let all = answers.map(|answer| {
        let teams = answer.get("your_teams").cloned().unwrap_or(json!([]));
        let teams: Vec<coord_protocol::Membership> = serde_json::from_value(teams).unwrap();
        let mut texts: Vec<String> = serde_json::from_value(answer["warnings"].clone()).unwrap();
        texts.retain(|text| text.starts_with("UNREAD") || text.starts_with("SHUTDOWN"));
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
        api.writes_to(to, "Hello").await;
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
    let cursor = api.inbox("bob/one").await["cursor"].clone();
    let proof = json!({ "cursor": cursor });
    api.calls("bob/one", "messages/read", proof).await;
    assert_eq!(team_warnings(&api, "bob/one").await, [""; 0]);
}

#[tokio::test]
async fn a_member_is_warned_shutdown_requested_until_it_has_answered() {
    let api = Api::with_team().await;
    asks_to_stop(&api).await;
    let requested = "SHUTDOWN_REQUESTED: 'lead' asks you, 'one' of team 'alpha', to stop (shutdown s1): read your messages, and approve or reject.";
    let unread = "UNREAD: A message waits for you, 'one' of team 'alpha'.";
    assert_eq!(team_warnings(&api, "bob/one").await, [requested, unread]);
    assert_eq!(team_warnings(&api, "bob/two").await, [""; 0]);
    let reject = json!({ "step": "reject", "reason": "Not yet", "shutdown_id": "s1" });
    api.calls("bob/one", "teams/alpha/shutdown", reject).await;
    assert_eq!(team_warnings(&api, "bob/one").await, [unread]);
}

// rule: teams#waiting
#[tokio::test]
async fn responses_about_locks_list_the_teams_of_a_member_and_none_for_others() {
    let api = Api::with_team().await;
    api.writes_to("one", "Hello").await;
    asks_to_stop(&api).await;
    let mut checked = api.calls("bob/one", "check_status", check(&api)).await;
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
    let refused = async |status: &str, more: Value, command: &str| {
        let post = post(&api, status, more);
        let refused = api.sends("bob/one", "post_status", post).await.json();
        assert_has!(refused["orchestration"], { "action": command });
        assert_has!(refused["your_teams"][0], { "unread": 2 });
    };
    let claim = post(&api, "WRITING", json!({}));
    api.calls("ann/lead", "post_status", claim.clone()).await;
    refused("WRITING", json!({}), "WAIT").await;
    let release = post(&api, "OPEN", json!({ "abandon": true }));
    api.calls("ann/lead", "post_status", release).await;
    refused("WRITING", json!({ "agent_head": "0".repeat(40) }), "PULL").await;
    api.calls("bob/one", "post_status", claim).await;
    refused("OPEN", json!({ "new_repo_head": "1".repeat(40) }), "PUSH").await;
    let stranger = api.calls("eve", "check_status", check(&api)).await;
    assert_eq!(stranger.get("your_teams"), None);
}

// rule: teams#waiting
#[tokio::test]
async fn every_response_about_teams_warns_a_member_of_what_waits() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B" }])).await;
    api.claims_task("ann/lead", "t1").await;
    api.writes_to("one", "Hello").await;
    asks_to_stop(&api).await;
    let shown = async |path: &str, query: &str| {
        let path = format!("/api/{path}?repo_url={REPO_URL}{query}");
        let headers = [("x-coord-user", "bob"), ("x-coord-agent", "one")];
        api.get(&path, &headers).await.json()
    };
    let mut responses = Vec::new();
    for (path, query) in [
        ("tasks", "&team=alpha"),
        ("tasks/t1", "&team=alpha"),
        ("teams/alpha", ""),
        ("messages", "&team=alpha"),
    ] {
        responses.push((path, shown(path, query).await));
        let stranger = api.gets("eve", path, query).await.json();
        let (unread, shutdown) = (stranger.get("unread"), stranger.get("shutdown"));
        assert_eq!((unread, shutdown), (None, None), "{path}");
    }
    let approve = json!({ "step": "approve", "shutdown_id": "s9" });
    for (path, more) in [
        ("messages", json!({ "to": ["two"], "message": "Hello" })),
        ("tasks", json!({ "tasks": [{ "title": "C" }] })),
        // Refusals: a task of another member; no task while a shutdown asks; no such task.
        ("tasks/t1/claim", json!({})),
        ("tasks/next", json!({})),
        ("tasks/none/release", json!({})),
        ("teams/alpha/shutdown", approve),
    ] {
        responses.push((path, api.sends("bob/one", path, more).await.json()));
    }
    for (path, answer) in responses {
        assert_has!(answer, { "unread": 2, "shutdown": { "id": "s1", "by": "lead" } }, "{path}");
    }
    let listed = shown("teams", "").await;
    assert_has!(listed["your_teams"][0], { "unread": 2, "shutdown": { "id": "s1" } });
    // The response to an answer has the shutdown no more.
    let reject = json!({ "step": "reject", "reason": "Not yet", "shutdown_id": "s1" });
    let rejected = api.calls("bob/one", "teams/alpha/shutdown", reject).await;
    assert_eq!((&rejected["unread"], rejected.get("shutdown")), (&json!(2), None));
}

// rule: teams#shutdown-answer
#[tokio::test]
async fn an_approving_member_learns_which_work_is_unpushed() {
    let api = Api::with_team().await;
    let claim = post(&api, "WRITING", json!({}));
    api.calls("bob/one", "post_status", claim).await;
    asks_to_stop(&api).await;
    let approve = json!({ "step": "approve", "shutdown_id": "s1" });
    let approved = api.calls("bob/one", "teams/alpha/shutdown", approve).await;
    assert_has!(approved, {
        "shutdown_state": "stopped",
        "unpushed": [{ "branch": "main", "file_path": "src/told.ts" }],
        "unpushed_count": 1,
        "orchestration": { "action": "PUSH" },
    });
    let reason = approved["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.contains("'src/told.ts'"), "{reason}");
}
