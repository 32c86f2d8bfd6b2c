//! Callers cannot speak for others, read others' inboxes, or leave their repository.

use std::sync::Arc;

use coord_git::GitSource;
use coord_sources::{Source, Sources};
use coord_test_support::git::Repo;
use serde_json::{Value, json};

use super::{assert_has, texts_of, with, wrong_field};
use crate::api::{Api, REPO_URL};

// rule: teams#handle
#[tokio::test]
async fn no_field_changes_the_identity_of_a_caller() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let forged = json!({
        "to": ["two"], "message": "x", "from": "lead", "login": "ann", "owner": "lead", "handle": "lead",
    });
    api.calls("bob/one", "messages", forged).await;
    let inbox = api.calls("bob/two", "messages/read", json!({ "handle": "one" })).await;
    assert_has!(inbox["messages"][0], { "from": "one", "login": "bob" });
    let claim = json!({ "owner": "lead" });
    let claimed = api.calls("bob/one", "tasks/t1/claim", claim).await;
    assert_eq!(claimed["task"]["owner"], "one");
}

// rule: teams#team-readers
#[tokio::test]
async fn a_caller_that_is_no_member_can_only_read_the_board() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    for (path, more) in [
        ("tasks", json!({ "tasks": [{}] })),
        ("tasks/next", json!({})),
        ("tasks/t1/claim", json!({})),
        ("tasks/t1/complete", json!({})),
        ("tasks/t1/release", json!({})),
        ("messages", json!({ "to": ["one"], "message": "x" })),
        ("messages/read", json!({})),
        ("teams/alpha/leave", json!({})),
        ("teams/alpha/shutdown", json!({ "step": "request" })),
    ] {
        let more = with(json!({ "team": "alpha" }), more);
        let refused = api.refuses("eve/one", path, more, "403 NOT_A_MEMBER").await;
        assert_eq!(
            refused["message"], "\"one\" is not a member of team \"alpha\"",
            "{path}"
        );
    }
    let edit = json!({ "team": "alpha", "title": "B" });
    let edited = api.patches("eve/one", "tasks/t1", edit).await;
    edited.expect("403 NOT_A_MEMBER");
    let removed = api.removes("eve/one", "tasks/t1", "&team=alpha").await;
    removed.expect("403 NOT_A_MEMBER");
    assert_eq!(api.task("t1").await["title"], "A");
}

#[tokio::test]
async fn no_member_approves_for_another() {
    let api = Api::with_team().await;
    let path = "teams/alpha/shutdown";
    let request = json!({ "step": "request", "reason": "The day is over" });
    let id = api.calls("bob/two", path, request).await["shutdown_id"].clone();
    let forged = json!({
        "step": "approve", "shutdown_id": id, "handle": "lead", "from": "lead", "target": "lead", "user": "ann",
        "approvals": ["lead"],
    });
    let approved = api.calls("bob/one", path, forged).await;
    assert_eq!(approved["shutdown_state"], "open", "the leader has not answered");
    assert_eq!(api.team().await["shutdownApprovals"], json!(["one", "two"]));
    let force = json!({ "step": "force", "shutdown_id": id });
    api.refuses("bob/one", path, force, "403 NOT_LEADER").await;
}

#[tokio::test]
async fn the_token_and_the_cursor_of_another_are_of_no_use() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let token = api.claims_task("bob/one", "t1").await["task"]["lease"]["token"].clone();
    for path in ["tasks/t1/complete", "tasks/t1/release"] {
        let forged = json!({ "token": token });
        api.refuses("bob/two", path, forged, "409 CLAIM_LOST").await;
    }
    assert_eq!(api.task("t1").await["lease"]["token"], token);
    for to in ["one", "two", "one"] {
        api.writes_to(to, to).await;
    }
    // The other's last cursor marks nothing of the other's, and gives nothing of it.
    let read = async |who: &str, more: Value| api.calls(who, "messages/read", more).await;
    let inbox = read("bob/two", json!({ "cursor": 0, "handle": "one" })).await;
    assert_eq!(inbox["cursor"], 2);
    assert_eq!(texts_of(&inbox["messages"], "message"), ["two"]);
    let inbox = read("bob/two", json!({ "cursor": 3 })).await;
    assert_eq!(inbox["messages"], json!([]));
    let inbox = read("bob/one", json!({})).await;
    assert_eq!(inbox["unread"], 2);
    assert_eq!(texts_of(&inbox["messages"], "message"), ["one", "one"]);
}

#[tokio::test]
async fn names_in_paths_and_fields_reach_nothing_else() {
    let api = Api::with_team().await;
    for name in ["..%2f..%2fx", "a%20b", "%7Ba%7D", "a%3Ab", "a%0Ab"] {
        let team = api.gets("eve", &format!("teams/{name}"), "").await;
        assert_eq!(wrong_field(&team), "team", "{name}");
        let task = api.gets("eve", &format!("tasks/{name}"), "&team=alpha").await;
        assert_eq!(wrong_field(&task), "id", "{name}");
    }
    let other = json!({ "repo_url": OTHER_URL, "team": "alpha", "tasks": [{}] });
    api.refuses("ann/lead", "tasks", other, "404 UNKNOWN_REPOSITORY").await;
}

/// A ring named new tasks by their places, also where they had names.
#[tokio::test]
async fn a_cycle_of_new_tasks_is_named_in_the_words_of_the_request() {
    let api = Api::with_team().await;
    let ring = json!({ "tasks": [
        { "ref": "pool", "dependencies": ["docs-1"] }, { "id": "docs-1", "ref": "docs", "dependencies": ["pool"] },
    ] });
    let refused = api.refuses("ann/lead", "tasks", ring, "409 CIRCULAR_DEPENDENCY").await;
    let sentence = refused["message"].as_str().unwrap();
    assert!(
        sentence.ends_with(" pool -> docs-1 -> pool") || sentence.ends_with(" docs-1 -> pool -> docs-1"),
        "{sentence}"
    );
}

/// One such id made the next ones unreadable, and the team unusable.
#[tokio::test]
async fn an_id_with_a_number_that_is_too_long_is_refused() {
    let api = Api::with_team().await;
    for id in ["t1000000000", "t20000000000", "t99999999999999", "T99999999999999"] {
        let task = json!({ "tasks": [{ "id": id }] });
        let answer = api.sends("ann/lead", "tasks", task).await;
        assert_eq!(wrong_field(&answer), "id", "{id}");
    }
    assert_eq!(
        api.adds(json!([{ "id": "t999999998" }, {}, {}])).await,
        ["t999999998", "t999999999", "t1000000000"]
    );
    api.claims_task("bob/one", "t1000000000").await;
}

/// 256 KiB of tasks or messages, and the little that is around them.
const MAX_PAGE_BYTES: usize = 256 * 1024 + 16 * 1024;

#[tokio::test]
async fn large_tasks_and_messages_come_in_pages_of_a_bounded_size() {
    let api = Api::with_team().await;
    let file = |number| format!("src/{number}/{}.ts", "x".repeat(200));
    let files: Vec<String> = (0..250).map(file).collect();
    let text = "y".repeat(16_000);
    for _ in 0..4 {
        api.adds(json!(vec![json!({ "files": files }); 10])).await;
        for _ in 0..10 {
            api.writes_to("one", &text).await;
        }
    }
    let (mut ids, mut after) = (Vec::new(), Some(0));
    while let Some(number) = after {
        let page = api
            .gets("eve", "tasks", &format!("&team=alpha&limit=500&after={number}"))
            .await;
        assert!(page.bytes.len() < MAX_PAGE_BYTES, "{}", page.bytes.len());
        let page = page.json();
        ids.extend(texts_of(&page["tasks"], "id").into_iter().map(str::to_owned));
        after = page["next"].as_u64();
    }
    assert_eq!(ids, (1..=40).map(|number| format!("t{number}")).collect::<Vec<_>>());
    let history = api.gets("eve", "messages", "&team=alpha&limit=500").await;
    assert!(history.bytes.len() < MAX_PAGE_BYTES && history.json()["earlier"].is_u64());
    // An inbox, followed by its cursor: all, once and in order.
    let (mut ids, mut more) = (Vec::new(), json!({ "limit": 500 }));
    while ids.len() < 40 {
        let page = api.sends("bob/one", "messages/read", more).await;
        assert!(page.bytes.len() < MAX_PAGE_BYTES, "{}", page.bytes.len());
        let page = page.json();
        let messages = page["messages"].as_array().unwrap();
        assert!(!messages.is_empty(), "{ids:?}");
        assert_eq!(page["has_more"], ids.len() + messages.len() < 40);
        ids.extend(messages.iter().map(|message| message["id"].as_u64().unwrap()));
        more = json!({ "limit": 500, "cursor": page["cursor"] });
    }
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
    // A filter that lets nothing pass looks at a bounded part of the log.
    let none = api.shows("eve", "messages", "&team=alpha&task=t1").await;
    assert_eq!(none["messages"], json!([]));
}

/// Texts of quotes take twice as much in JSON as in the store.
#[tokio::test]
async fn a_task_with_many_long_results_has_a_response_of_a_bounded_size() {
    let api = Api::with_team().await;
    let text = "\"".repeat(16_000);
    let ids = api.adds(json!(vec![json!({}); 8])).await;
    for id in &ids {
        api.claims_task("bob/one", id).await;
        let done = json!({ "result": text });
        api.calls("bob/one", &format!("tasks/{id}/complete"), done).await;
    }
    api.adds(json!([{ "dependencies": ids, "description": text }])).await;
    let shown = api.gets("eve", "tasks/t9", "&team=alpha").await;
    assert!(shown.bytes.len() < MAX_PAGE_BYTES, "{}", shown.bytes.len());
    let shown = shown.json();
    let results = shown["dependency_results"].as_array().unwrap().len();
    assert!((1..8).contains(&results), "{results}");
    let warning = shown["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("RESULTS_LEFT_OUT: ") && warning.ends_with(&ids[7]),
        "{warning}"
    );
}

const OTHER_URL: &str = "https://github.com/acme/other.git";

/// Ids of tasks, locks, and texts are those of the repository that a request names, even if its teams have the same names.
#[tokio::test]
async fn a_team_of_another_repository_is_another_team() {
    let folder = tempfile::tempdir().unwrap();
    let [shop, other] = [("shop", REPO_URL), ("other", OTHER_URL)].map(|(name, url)| {
        let git = Repo::init(folder.path().join(name), &[]);
        git.git(&["remote", "add", "origin", url]);
        git.commit(&[("src/db.ts", "")]);
        git
    });
    let both = [shop.path().to_owned(), other.path().to_owned()];
    let sources: Arc<dyn Source> = Arc::new(GitSource::open(&both).unwrap());
    let head = shop.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let api = Api::serve(folder, shop, head.clone(), head, |app| {
        app.source = Some(Arc::new(Sources::of([sources])));
    })
    .await;
    let of_other = |more: Value| with(json!({ "repo_url": OTHER_URL, "team": "alpha" }), more);
    // The same team, handles and ids in both; only what is in them differs.
    for (url, title) in [(REPO_URL, "Of the shop"), (OTHER_URL, "Of the other")] {
        let team = json!({ "repo_url": url, "name": "alpha" });
        api.calls("ann/lead", "teams", team).await;
        let task = json!({ "title": title, "description": title });
        let tasks = json!({ "repo_url": url, "team": "alpha", "tasks": [task] });
        api.calls("ann/lead", "tasks", tasks).await;
    }
    for who in ["bob/one", "bob/two"] {
        api.calls(who, "teams/alpha/join", json!({})).await;
    }
    api.writes_to("broadcast", "Of the shop").await;
    let claimed = api.claims_task("bob/one", "t1").await;
    let token = claimed["task"]["lease"]["token"].clone();
    assert_eq!(claimed["task"]["title"], "Of the shop");
    // A member here is nobody there, with the token and the cursor of here, too.
    for (path, more) in [
        ("tasks/t1/claim", json!({})),
        ("tasks/t1/complete", json!({ "token": token })),
        ("tasks/t1/release", json!({ "token": token })),
        ("tasks/next", json!({})),
        ("messages", json!({ "to": ["lead"], "message": "x" })),
        ("messages/read", json!({ "cursor": 1 })),
        ("teams/alpha/shutdown", json!({ "step": "request" })),
        ("teams/alpha/leave", json!({})),
    ] {
        api.refuses("bob/one", path, of_other(more), "403 NOT_A_MEMBER").await;
    }
    let there = async |path: &str| {
        let path = format!("/api/{path}?repo_url={OTHER_URL}&team=alpha");
        api.get(&path, &[("x-coord-user", "eve")]).await.json()
    };
    assert_has!(there("tasks/t1").await["task"], { "title": "Of the other", "status": "pending", "owner": null });
    assert_eq!(there("messages").await["messages"], json!([]));
    let read = json!({ "repo_url": OTHER_URL });
    assert_has!(api.calls("ann/lead", "messages/read", read).await, { "messages": [], "cursor": 0 });
    // A shutdown here closes nothing there, and who leads here deletes nothing there.
    let request = json!({ "step": "request" });
    let request = api.calls("ann/lead", "teams/alpha/shutdown", request).await;
    assert_eq!(request["shutdown_state"], "open");
    let team = there("teams/alpha").await["team"].clone();
    assert_eq!(team["shutdown"], Value::Null);
    assert_eq!(team["members"].as_array().unwrap().len(), 1);
    let done = json!({ "token": token });
    api.calls("bob/one", "tasks/t1/complete", done).await;
    assert_eq!(there("tasks/t1").await["task"]["status"], "pending");
}
