//! A release is answered once, and work can be thrown away in any case.

use serde_json::{Value, json};

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
    let first = world.open("ann", &["src/auth.ts"], &pushed).await.expect("200");
    assert_eq!(first["orphaned_dependencies"], json!(["src/page.ts"]));
    let at_pushed = json!({ "agent_head": pushed });
    api.granted("bob", "WRITING", &["src/auth.ts"], at_pushed).await;
    let again = world.open("ann", &["src/auth.ts"], &pushed).await;
    assert_eq!(again.expect("200"), first);
    // Another request is told in words that this was released, and not that it was lost.
    let other = api.abandon("ann", &["src/auth.ts"]).await;
    other.expect("200");
    assert!(warnings(&other, "ALREADY_RELEASED").contains("You released 'src/auth.ts' "));
    assert_eq!(warnings(&other, "LOCK_"), "");
    assert_eq!(api.stored("src/auth.ts").await[0]["user_id"], "bob");
}

async fn a_release_that_is_answered_from_memory_gives_up_the_place_in_the_queue(world: World) {
    let api = &world.api;
    api.build_graph().await;
    let file = &["notes.md"];
    api.claim("bob", "WRITING", file).await;
    let first = api.abandon("bob", file).await.expect("200");
    api.claim("ann", "WRITING", file).await;
    let refused = api.post_status("bob", "WRITING", file, json!({})).await;
    refused.expect("409");
    assert_eq!(api.abandon("bob", file).await.expect("200"), first);
    api.abandon("ann", file).await;
    // Bob wants it no longer.
    api.claim("carol", "WRITING", file).await;
}

// rule: locks#abandon
async fn abandoning_releases_the_rest_also_when_the_branch_is_gone(world: World) {
    let api = &world.api;
    api.build_graph().await;
    api.claim("ann", "WRITING", &["src/auth.ts", "notes.md"]).await;
    api.expire_locks("notes.md").await;
    api.claim("bob", "WRITING", &["notes.md"]).await;
    let part = api.abandon("ann", &["src/auth.ts", "notes.md"]).await;
    // For importers of abandoned work nothing has changed.
    assert_eq!(part.expect("200")["orphaned_dependencies"], json!([]));
    assert!(warnings(&part, "LOCK_LOST").contains("user 'bob' writes it now"));
    assert_eq!(api.held().await, 1);
    assert_eq!(api.stored("notes.md").await[0]["user_id"], "bob");

    world.origin.git(&["branch", "topic"]);
    world.fetch("topic").await;
    let on_topic = async |status: &str, mut more: Value| {
        more["branch"] = json!("topic");
        api.post_status("ann", status, &["README.md"], more).await
    };
    on_topic("WRITING", json!({})).await.expect("200");
    world.origin.git(&["branch", "-D", "topic"]);
    world.fetch("topic").await;
    let gone = on_topic("OPEN", json!({ "new_repo_head": api.head })).await;
    let message = gone.expect("404 UNKNOWN_BRANCH")["message"].to_string();
    assert!(message.contains("abandon"), "{message}");
    world.requested_paths();
    let done = on_topic("OPEN", json!({ "abandon": true })).await;
    assert_eq!(world.requested_paths(), Vec::<String>::new());
    assert_eq!(done.expect("200")["repo_head"], json!(null));
    assert_eq!(api.held().await, 1);
}
