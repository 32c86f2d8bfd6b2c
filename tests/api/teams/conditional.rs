//! `If-None-Match`: a board that has not changed is not sent again; by the clock alone, an expired claim changes it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coord_domain::team::TeamName;
use serde_json::json;

use crate::answer::Answer;
use crate::api::{Api, REPO_URL};

async fn get(api: &Api, path: &str, tag: &str) -> Answer {
    let path = format!("{path}?repo_url={REPO_URL}&team=alpha");
    api.get(&path, &[("x-coord-user", "eve"), ("if-none-match", tag)]).await
}

fn tag(answer: &Answer) -> String {
    answer.header("etag").unwrap().to_owned()
}

// rule: teams#not-modified
#[tokio::test]
async fn a_board_that_has_not_changed_is_not_sent_again() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    for path in ["/api/tasks", "/api/teams/alpha"] {
        let first = get(&api, path, "\"none\"").await;
        assert_eq!(first.status, 200, "{path}");
        let known = tag(&first);
        let again = get(&api, path, &format!("\"other\", {known}")).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}");
        assert_eq!(tag(&again), known);
        for (name, value) in [
            ("cache-control", "private, no-cache"),
            ("vary", "authorization, x-api-key, x-coord-agent, accept-encoding"),
        ] {
            assert_eq!(again.header(name), Some(value), "{path}");
            assert_eq!(first.header(name), Some(value), "{path}");
        }
    }
    let before = tag(&get(&api, "/api/tasks", "").await);
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    let after = get(&api, "/api/tasks", &before).await;
    assert_eq!(after.status, 200);
    // Another question has another answer, and so has a member, who is told what waits.
    let filtered = format!("/api/tasks?repo_url={REPO_URL}&team=alpha&status=pending");
    let tagged = tag(&after);
    let other = api
        .get(&filtered, &[("x-coord-user", "eve"), ("if-none-match", &tagged)])
        .await;
    assert_eq!(other.status, 200);
    let own = format!("/api/tasks?repo_url={REPO_URL}&team=alpha");
    let headers = [
        ("x-coord-user", "bob"),
        ("x-coord-agent", "one"),
        ("if-none-match", tagged.as_str()),
    ];
    assert_eq!(api.get(&own, &headers).await.status, 200);
}

#[tokio::test]
async fn a_claim_that_expires_changes_the_etag_of_the_board_without_a_write() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    // As if it had been claimed long ago: two seconds are left.
    let tasks = coord_teams_state::tasks::keys::tasks(&crate::api::repo(), &TeamName::parse("alpha").unwrap());
    let stored = api.command(["HGET", &tasks, "t1"]).await.unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut task: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    task["expires"] = json!(u64::try_from(now.as_millis()).unwrap() + 2000);
    api.command(["HSET", &tasks, "t1", &task.to_string()]).await;
    let held = get(&api, "/api/tasks", "").await;
    assert_eq!(held.json()["tasks"][0]["lease"]["state"], json!("held"));
    let known = tag(&held);
    // time: the claim expires.
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let lapsed = get(&api, "/api/tasks", &known).await;
    assert_eq!(lapsed.status, 200);
    assert_eq!(lapsed.json()["tasks"][0]["lease"]["state"], json!("lapsed"));
}
