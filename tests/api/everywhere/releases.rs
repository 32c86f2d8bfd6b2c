//! A release is answered once, and work can be thrown away in any case.

use serde_json::json;

use super::{World, warnings};

everywhere!(
    a_repeated_release_gets_the_same_response_and_frees_no_other_lock,
    a_release_that_is_answered_from_memory_gives_up_the_place_in_the_queue,
    abandoning_releases_the_rest_also_when_the_branch_is_gone,
);

// rule: locks#answered-once
async fn a_repeated_release_gets_the_same_response_and_frees_no_other_lock(world: World) {
    let api = &world.api;
    api.build_graph().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let pushed = world.push(&[("src/auth.ts", "import './db';\nexport {};\n")]);
    let first = world.open("ann", &["src/auth.ts"], &pushed).await;
    assert_eq!(first.status, 200, "{}", first.json());
    assert_eq!(first.json()["orphaned_dependencies"], json!(["src/page.ts"]));
    let bob = api
        .post_status("bob", "WRITING", &["src/auth.ts"], json!({ "agent_head": pushed }))
        .await;
    assert_eq!(bob.status, 200, "{}", bob.json());
    let again = world.open("ann", &["src/auth.ts"], &pushed).await;
    assert_eq!((again.status, again.json()), (200, first.json()));
    // Another request is told in words that this was released, and not that it was lost.
    let other = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "abandon": true }))
        .await;
    assert_eq!(other.status, 200, "{}", other.json());
    assert!(warnings(&other, "ALREADY_RELEASED").contains("You released 'src/auth.ts' "));
    assert_eq!(warnings(&other, "LOCK_"), "");
    assert_eq!(api.stored("src/auth.ts").await[0]["user_id"], "bob");
}

async fn a_release_that_is_answered_from_memory_gives_up_the_place_in_the_queue(world: World) {
    let api = &world.api;
    api.build_graph().await;
    let abandon = json!({ "abandon": true });
    api.claim("bob", "WRITING", &["notes.md"]).await;
    let first = api.post_status("bob", "OPEN", &["notes.md"], abandon.clone()).await;
    api.claim("ann", "WRITING", &["notes.md"]).await;
    let refused = api.post_status("bob", "WRITING", &["notes.md"], json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.json());
    let again = api.post_status("bob", "OPEN", &["notes.md"], abandon.clone()).await;
    assert_eq!((again.status, again.json()), (200, first.json()));
    api.post_status("ann", "OPEN", &["notes.md"], abandon).await;
    // Bob wants it no longer.
    let carol = api.post_status("carol", "WRITING", &["notes.md"], json!({})).await;
    assert_eq!(carol.status, 200, "{}", carol.json());
}

// rule: locks#abandon
async fn abandoning_releases_the_rest_also_when_the_branch_is_gone(world: World) {
    let api = &world.api;
    api.build_graph().await;
    api.claim("ann", "WRITING", &["src/auth.ts", "notes.md"]).await;
    api.expire_locks("notes.md").await;
    api.claim("bob", "WRITING", &["notes.md"]).await;
    let abandon = json!({ "abandon": true });
    let part = api
        .post_status("ann", "OPEN", &["src/auth.ts", "notes.md"], abandon.clone())
        .await;
    assert_eq!(part.status, 200, "{}", part.json());
    assert!(warnings(&part, "LOCK_LOST").contains("user 'bob' writes it now"));
    // For importers of abandoned work nothing has changed.
    assert_eq!(part.json()["orphaned_dependencies"], json!([]));
    assert_eq!(
        (api.held().await, &api.stored("notes.md").await[0]["user_id"]),
        (1, &json!("bob"))
    );

    world.origin.git(&["branch", "topic"]);
    world.fetch("topic").await;
    let on_topic = |mut more: serde_json::Value| {
        more["branch"] = json!("topic");
        more
    };
    let claimed = api
        .post_status("ann", "WRITING", &["README.md"], on_topic(json!({})))
        .await;
    assert_eq!(claimed.status, 200, "{}", claimed.json());
    world.origin.git(&["branch", "-D", "topic"]);
    world.fetch("topic").await;
    let open = on_topic(json!({ "new_repo_head": api.head }));
    let gone = api.post_status("ann", "OPEN", &["README.md"], open).await;
    assert_eq!((gone.status, &gone.json()["error"]), (404, &json!("UNKNOWN_BRANCH")));
    assert!(
        gone.json()["message"].to_string().contains("abandon"),
        "{}",
        gone.json()
    );
    world.requested_paths();
    let done = api.post_status("ann", "OPEN", &["README.md"], on_topic(abandon)).await;
    assert_eq!(world.requested_paths(), Vec::<String>::new());
    assert_eq!(
        (done.status, &done.json()["repo_head"]),
        (200, &json!(null)),
        "{}",
        done.json()
    );
    assert_eq!(api.held().await, 1);
}
