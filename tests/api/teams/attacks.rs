//! Callers cannot speak for others, read others' inboxes, or leave their repository.

use std::sync::Arc;

use coord_git::GitSource;
use coord_sources::{Source, Sources};
use coord_test_support::git::Repo;
use serde_json::{Value, json};

use super::error;
use crate::api::{Api, REPO_URL};

// rule: teams#handle
#[tokio::test]
async fn no_field_changes_the_identity_of_a_caller() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let forged = json!({
        "to": ["two"], "message": "x", "from": "lead", "login": "ann", "owner": "lead", "handle": "lead",
    });
    api.does_in_team("bob/one", "/api/messages", forged).await;
    let inbox = api
        .does_in_team("bob/two", "/api/messages/read", json!({ "handle": "one" }))
        .await;
    assert_eq!(
        (&inbox["messages"][0]["from"], &inbox["messages"][0]["login"]),
        (&json!("one"), &json!("bob"))
    );
    let claimed = api
        .does_in_team("bob/one", "/api/tasks/t1/claim", json!({ "owner": "lead" }))
        .await;
    assert_eq!(claimed["task"]["owner"], json!("one"));
}

// rule: teams#team-readers
#[tokio::test]
async fn a_caller_that_is_no_member_can_only_read_the_board() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let team = json!({ "team": "alpha" });
    for (path, more) in [
        ("/api/tasks", json!({ "tasks": [{}] })),
        ("/api/tasks/next", json!({})),
        ("/api/tasks/t1/claim", json!({})),
        ("/api/tasks/t1/complete", json!({})),
        ("/api/tasks/t1/release", json!({})),
        ("/api/messages", json!({ "to": ["one"], "message": "x" })),
        ("/api/messages/read", json!({})),
        ("/api/teams/alpha/leave", json!({})),
        ("/api/teams/alpha/shutdown", json!({ "step": "request" })),
    ] {
        let mut body = more;
        body.as_object_mut().unwrap().extend(team.as_object().unwrap().clone());
        let refused = api.sends("eve/one", path, body).await;
        assert_eq!(
            error(&refused),
            (
                403,
                "NOT_A_MEMBER".to_owned(),
                "\"one\" is not a member of team \"alpha\"".to_owned()
            ),
            "{path}"
        );
    }
    let changed = api
        .patches("eve/one", "/api/tasks/t1", json!({ "team": "alpha", "title": "B" }))
        .await;
    assert_eq!(error(&changed).1, "NOT_A_MEMBER");
    let removed = api.removes("eve/one", "/api/tasks/t1", "&team=alpha").await;
    assert_eq!(error(&removed).1, "NOT_A_MEMBER");
    assert_eq!(
        api.shows("eve", "/api/tasks/t1", "&team=alpha").await["task"]["title"],
        json!("A")
    );
}

#[tokio::test]
async fn no_member_approves_for_another() {
    let api = Api::with_team().await;
    let path = "/api/teams/alpha/shutdown";
    let request = api
        .does_in_team(
            "bob/two",
            path,
            json!({ "step": "request", "reason": "The day is over" }),
        )
        .await;
    let id = request["shutdown_id"].clone();
    let forged = json!({
        "step": "approve", "shutdown_id": id, "handle": "lead", "from": "lead", "target": "lead", "user": "ann",
        "approvals": ["lead"],
    });
    let approved = api.does_in_team("bob/one", path, forged).await;
    assert_eq!(approved["shutdown_state"], json!("open"), "the leader has not answered");
    assert_eq!(
        api.shows("eve", "/api/teams/alpha", "").await["team"]["shutdownApprovals"],
        json!(["one", "two"])
    );
    let force = json!({ "step": "force", "shutdown_id": id });
    assert_eq!(error(&api.sends("bob/one", path, force).await).1, "NOT_LEADER");
}

#[tokio::test]
async fn the_token_and_the_cursor_of_another_are_of_no_use() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let claimed = api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    let token = &claimed["task"]["lease"]["token"];
    for path in ["/api/tasks/t1/complete", "/api/tasks/t1/release"] {
        let refused = api.sends("bob/two", path, json!({ "token": token })).await;
        assert_eq!(
            (error(&refused).0, error(&refused).1.as_str()),
            (409, "CLAIM_LOST"),
            "{path}"
        );
    }
    assert_eq!(
        api.shows("eve", "/api/tasks/t1", "&team=alpha").await["task"]["lease"]["token"],
        *token
    );
    for to in ["one", "two", "one"] {
        api.does_in_team("ann/lead", "/api/messages", json!({ "to": [to], "message": to }))
            .await;
    }
    // The other's last cursor marks nothing of the other's, and gives nothing of it.
    let inbox = api
        .does_in_team("bob/two", "/api/messages/read", json!({ "cursor": 0, "handle": "one" }))
        .await;
    assert_eq!(
        (&inbox["cursor"], inbox["messages"].as_array().unwrap().len()),
        (&json!(2), 1)
    );
    let inbox = api
        .does_in_team("bob/two", "/api/messages/read", json!({ "cursor": 3 }))
        .await;
    assert_eq!(inbox["messages"], json!([]));
    let inbox = api.does_in_team("bob/one", "/api/messages/read", json!({})).await;
    assert_eq!(
        (&inbox["unread"], inbox["messages"].as_array().unwrap().len()),
        (&json!(2), 2)
    );
}

#[tokio::test]
async fn names_in_paths_and_fields_reach_nothing_else() {
    let api = Api::with_team().await;
    for name in ["..%2f..%2fx", "a%20b", "%7Ba%7D", "a%3Ab", "a%0Ab"] {
        let team = api.gets("eve", &format!("/api/teams/{name}"), "").await;
        assert_eq!((team.status, &team.json()["field"]), (400, &json!("team")), "{name}");
        let task = api.gets("eve", &format!("/api/tasks/{name}"), "&team=alpha").await;
        assert_eq!((task.status, &task.json()["field"]), (400, &json!("id")), "{name}");
    }
    let other = json!({ "repo_url": "https://github.com/acme/other.git", "team": "alpha", "tasks": [{}] });
    let refused = api.sends("ann/lead", "/api/tasks", other).await;
    assert_eq!(
        (error(&refused).0, error(&refused).1.as_str()),
        (404, "UNKNOWN_REPOSITORY")
    );
}

/// A ring named new tasks by their places, also where they had names.
#[tokio::test]
async fn a_cycle_of_new_tasks_is_named_in_the_words_of_the_request() {
    let api = Api::with_team().await;
    let ring = json!({ "tasks": [
        { "ref": "pool", "dependencies": ["docs-1"] }, { "id": "docs-1", "ref": "docs", "dependencies": ["pool"] },
    ] });
    let refused = api.sends("ann/lead", "/api/tasks", ring).await;
    let (_, code, sentence) = error(&refused);
    assert_eq!(code, "CIRCULAR_DEPENDENCY");
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
        let refused = api
            .sends("ann/lead", "/api/tasks", json!({ "tasks": [{ "id": id }] }))
            .await;
        assert_eq!((refused.status, &refused.json()["field"]), (400, &json!("id")), "{id}");
    }
    assert_eq!(
        api.adds(json!([{ "id": "t999999998" }, {}, {}])).await,
        ["t999999998", "t999999999", "t1000000000"]
    );
    api.does_in_team("bob/one", "/api/tasks/t1000000000/claim", json!({}))
        .await;
}

/// 256 KiB of tasks or messages, and the little that is around them.
const MOST_BYTES_OF_PAGE: usize = 256 * 1024 + 16 * 1024;

#[tokio::test]
async fn large_tasks_and_messages_come_in_pages_of_a_bounded_size() {
    let api = Api::with_team().await;
    let files: Vec<String> = (0..250)
        .map(|number| format!("src/{number}/{}.ts", "x".repeat(200)))
        .collect();
    for _ in 0..4 {
        let tasks: Vec<_> = (0..10).map(|_| json!({ "files": files })).collect();
        api.adds(json!(tasks)).await;
        let sent = json!({ "to": ["one"], "message": "y".repeat(16_000) });
        for _ in 0..10 {
            api.does_in_team("ann/lead", "/api/messages", sent.clone()).await;
        }
    }
    let (mut ids, mut after) = (Vec::new(), 0);
    loop {
        let page = api
            .gets("eve", "/api/tasks", &format!("&team=alpha&limit=500&after={after}"))
            .await;
        assert!(page.bytes.len() < MOST_BYTES_OF_PAGE, "{}", page.bytes.len());
        let tasks = page.json()["tasks"].as_array().unwrap().clone();
        ids.extend(tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()));
        match page.json()["next"].as_u64() {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(ids, (1..=40).map(|number| format!("t{number}")).collect::<Vec<_>>());
    let history = api.gets("eve", "/api/messages", "&team=alpha&limit=500").await;
    assert!(history.bytes.len() < MOST_BYTES_OF_PAGE && history.json()["earlier"].is_u64());
    // An inbox, followed by its cursor: all, once and in order.
    let (mut ids, mut more) = (Vec::new(), json!({ "limit": 500 }));
    while ids.len() < 40 {
        let page = api.sends("bob/one", "/api/messages/read", more).await;
        assert!(page.bytes.len() < MOST_BYTES_OF_PAGE, "{}", page.bytes.len());
        let page = page.json();
        let messages = page["messages"].as_array().unwrap();
        assert!(!messages.is_empty(), "{ids:?}");
        assert_eq!(page["has_more"], json!(ids.len() + messages.len() < 40));
        ids.extend(messages.iter().map(|message| message["id"].as_u64().unwrap()));
        more = json!({ "limit": 500, "cursor": page["cursor"] });
    }
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
    // A filter that lets nothing pass looks at a bounded part of the log.
    let none = api.shows("eve", "/api/messages", "&team=alpha&task=t1").await;
    assert_eq!(none["messages"], json!([]));
}

/// Texts of quotes take twice as much in JSON as in the store.
#[tokio::test]
async fn a_task_with_many_long_results_has_a_response_of_a_bounded_size() {
    let api = Api::with_team().await;
    let text = "\"".repeat(16_000);
    let before: Vec<_> = (0..8).map(|_| json!({})).collect();
    let ids = api.adds(json!(before)).await;
    for id in &ids {
        let path = format!("/api/tasks/{id}");
        api.does_in_team("bob/one", &format!("{path}/claim"), json!({})).await;
        api.does_in_team("bob/one", &format!("{path}/complete"), json!({ "result": text }))
            .await;
    }
    let after = json!([{ "dependencies": ids, "description": text }]);
    let [after] = &api.adds(after).await[..] else {
        panic!("one task")
    };
    let shown = api.gets("eve", &format!("/api/tasks/{after}"), "&team=alpha").await;
    assert!(shown.bytes.len() < MOST_BYTES_OF_PAGE, "{}", shown.bytes.len());
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
    let send = async |url: &str, who: &str, path: &str, mut more: Value| {
        more["repo_url"] = json!(url);
        api.sends(who, path, more).await
    };
    // The same team, handles and ids in both; only what is in them differs.
    for (url, title) in [(REPO_URL, "Of the shop"), (OTHER_URL, "Of the other")] {
        send(url, "ann/lead", "/api/teams", json!({ "name": "alpha" })).await;
        let tasks = json!({ "team": "alpha", "tasks": [{ "title": title, "description": title }] });
        assert_eq!(send(url, "ann/lead", "/api/tasks", tasks).await.status, 200);
    }
    for who in ["bob/one", "bob/two"] {
        let joined = send(REPO_URL, who, "/api/teams/alpha/join", json!({})).await;
        assert_eq!(joined.status, 200);
    }
    let sent = json!({ "to": ["broadcast"], "message": "Of the shop" });
    assert_eq!(send(REPO_URL, "ann/lead", "/api/messages", sent).await.status, 200);
    let claimed = send(REPO_URL, "bob/one", "/api/tasks/t1/claim", json!({})).await.json();
    let token = claimed["task"]["lease"]["token"].clone();
    assert_eq!(claimed["task"]["title"], json!("Of the shop"));
    // A member here is nobody there, with the token and the cursor of here, too.
    for (path, more) in [
        ("/api/tasks/t1/claim", json!({})),
        ("/api/tasks/t1/complete", json!({ "token": token })),
        ("/api/tasks/t1/release", json!({ "token": token })),
        ("/api/tasks/next", json!({})),
        ("/api/messages", json!({ "to": ["lead"], "message": "x" })),
        ("/api/messages/read", json!({ "cursor": 1 })),
        ("/api/teams/alpha/shutdown", json!({ "step": "request" })),
        ("/api/teams/alpha/leave", json!({})),
    ] {
        let mut more = more;
        more["team"] = json!("alpha");
        let refused = send(OTHER_URL, "bob/one", path, more).await;
        assert_eq!(error(&refused).1, "NOT_A_MEMBER", "{path}");
    }
    let headers = [("x-coord-user", "eve")];
    let there = async |path: &str| {
        api.get(&format!("{path}?repo_url={OTHER_URL}&team=alpha"), &headers)
            .await
            .json()
    };
    let task = there("/api/tasks/t1").await["task"].clone();
    assert_eq!(
        (&task["title"], &task["status"], &task["owner"]),
        (&json!("Of the other"), &json!("pending"), &Value::Null)
    );
    assert_eq!(there("/api/messages").await["messages"], json!([]));
    let inbox = send(OTHER_URL, "ann/lead", "/api/messages/read", json!({}))
        .await
        .json();
    assert_eq!((&inbox["messages"], &inbox["cursor"]), (&json!([]), &json!(0)));
    // A shutdown here closes nothing there, and who leads here deletes nothing there.
    let request = send(
        REPO_URL,
        "ann/lead",
        "/api/teams/alpha/shutdown",
        json!({ "step": "request" }),
    )
    .await
    .json();
    assert_eq!(request["shutdown_state"], json!("open"));
    let team = there("/api/teams/alpha").await["team"].clone();
    assert_eq!(
        (&team["shutdown"], team["members"].as_array().unwrap().len()),
        (&Value::Null, 1)
    );
    let done = json!({ "token": token });
    assert_eq!(
        send(REPO_URL, "bob/one", "/api/tasks/t1/complete", done).await.status,
        200
    );
    assert_eq!(there("/api/tasks/t1").await["task"]["status"], json!("pending"));
}
