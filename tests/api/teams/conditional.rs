//! `If-None-Match`: a board that has not changed is not sent again; by the clock alone, an expired claim changes it.

use std::time::Duration;

use serde_json::json;

use super::in_milliseconds;
use crate::api::{Answer, Api, REPO_URL};

async fn get(api: &Api, path: &str, tag: &str) -> Answer {
    let path = format!("/api/{path}repo_url={REPO_URL}&team=alpha");
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
    for path in ["tasks?", "teams/alpha?"] {
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
    let before = tag(&get(&api, "tasks?", "").await);
    api.claims_task("bob/one", "t1").await;
    let after = get(&api, "tasks?", &before).await;
    assert_eq!(after.status, 200);
    // Another query has another response, and so has a member, who also gets what waits.
    let tagged = tag(&after);
    assert_eq!(get(&api, "tasks?status=pending&", &tagged).await.status, 200);
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
    api.claims_task("bob/one", "t1").await;
    // As if it had been claimed long ago: two seconds are left.
    api.alters("t1", json!({ "expires": in_milliseconds(2000) })).await;
    let held = get(&api, "tasks?", "").await;
    assert_eq!(held.json()["tasks"][0]["lease"]["state"], "held");
    let known = tag(&held);
    // time: the claim expires.
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let expired = get(&api, "tasks?", &known).await;
    assert_eq!(expired.status, 200);
    assert_eq!(expired.json()["tasks"][0]["lease"]["state"], "lapsed");
}
