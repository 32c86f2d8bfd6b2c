//! The head of a branch is what was pushed.

use serde_json::json;

use super::{World, refusal, refused};

everywhere!(an_unpushed_commit_is_no_head_and_a_pushed_one_is);

async fn an_unpushed_commit_is_no_head_and_a_pushed_one_is(world: World) {
    let api = &world.api;
    let check = async |at: &str| {
        let checked = api
            .check("bob", &["README.md"], json!({ "agent_head": at }))
            .await
            .json();
        assert_eq!(checked["repo_head_ref"], world.head_ref());
        let head = checked["repo_head"].as_str().unwrap().to_owned();
        (checked["orchestration"]["action"].as_str().unwrap().to_owned(), head)
    };
    let action = |action: &str, head: &str| (action.to_owned(), head.to_owned());
    assert_eq!(check(&api.head).await, action("PROCEED", &api.head));
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let own = api.git.commit(&[("src/auth.ts", "export {};\n")]);
    assert_eq!(check(&api.head).await, action("PROCEED", &api.head), "nobody pulls it");
    let open = world.open("ann", &["src/auth.ts"], &own).await;
    assert_eq!(refused(&open), refusal(409, "NOT_PUSHED", "PUSH"), "{}", open.json());
    assert_eq!(open.json()["repo_head_ref"], world.head_ref());
    let reason = open.json()["orchestration"]["reason"].to_string();
    let way_out = "if you have pushed, run git fetch there, or serve it with coord serve --fetch 30";
    assert_eq!(reason.contains(way_out), world.github().is_none(), "{reason}");

    api.git.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let open = world.open("ann", &["src/auth.ts"], &own).await;
    assert_eq!((open.status, api.held().await), (200, 0), "{}", open.json());
    assert_eq!(check(&api.head).await, action("PULL", &own));
    let next = world.others_push(&[("notes.md", "Somebody else's\n")]).await;
    assert_eq!(check(&own).await, action("PULL", &next));
    assert_eq!(check(&next).await, action("PROCEED", &next));
}
