//! The head of a branch is what was pushed.

use serde_json::json;

use super::World;

everywhere!(an_unpushed_commit_is_no_head_and_a_pushed_one_is);

async fn an_unpushed_commit_is_no_head_and_a_pushed_one_is(world: World) {
    let api = &world.api;
    let check = async |at: &str, outcome: &str, head: &str| {
        let at = json!({ "agent_head": at });
        let checked = api.check("bob", &["README.md"], at).await.expect(outcome);
        assert_eq!(checked["repo_head_ref"], world.head_ref());
        assert_eq!(checked["repo_head"], head);
    };
    check(&api.head, "200 OK PROCEED", &api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let own = api.git.commit(&[("src/auth.ts", "export {};\n")]);
    // Nobody pulls it.
    check(&api.head, "200 OK PROCEED", &api.head).await;
    let kept = world.open("ann", &["src/auth.ts"], &own).await;
    assert_eq!(kept.expect("409 NOT_PUSHED PUSH")["repo_head_ref"], world.head_ref());
    let reason = kept.reason();
    let way_out = "if you have pushed, run git fetch there, or serve it with coord serve --fetch 30";
    assert_eq!(reason.contains(way_out), world.is_clone(), "{reason}");

    api.git.git(&["push", "--quiet", "origin", "HEAD:main"]);
    world.open("ann", &["src/auth.ts"], &own).await.expect("200");
    assert_eq!(api.held().await, 0);
    check(&api.head, "200 STALE PULL", &own).await;
    let next = world.others_push(&[("notes.md", "Somebody else's\n")]).await;
    check(&own, "200 STALE PULL", &next).await;
    check(&next, "200 OK PROCEED", &next).await;
}
