//! A repository that is renamed on GitHub, whose webhook has delivered its pushes and not that.

use std::time::{SystemTime, UNIX_EPOCH};

use coord_domain::RepoId;
use coord_state as state;
use serde_json::{Value, json};

use super::World;
use crate::api::{Api, main_branch};

with_github!(a_renamed_repository_is_refused_by_its_old_name_once_any_answer_shows_the_new_one);

const OLD: &str = "https://127.0.0.1/acme/gizmos";

async fn a_renamed_repository_is_refused_by_its_old_name_once_any_answer_shows_the_new_one(world: World) {
    let (api, github) = (&world.api, world.github().unwrap());
    let old = RepoId::parse(OLD).unwrap();
    let (webhook, head) = (
        state::heads::keys::webhook(&old),
        state::heads::keys::head(&old, &main_branch()),
    );
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
        .to_string();
    api.command(["SET", &webhook, &now, "EX", "86400"]).await;
    api.command(["HSET", &head, "commit", &api.head, "checked_at", &now])
        .await;
    github.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let elsewhere = world.another_process().await;
    let by_old_name = async |api: &Api, user: &str, status: &str, more: Value| {
        let mut more = more;
        more["repo_url"] = json!(OLD);
        api.post_status(user, status, &["src/auth.ts"], more).await
    };
    // Its head counts for an hour, and GitHub has been asked nothing.
    let claimed = by_old_name(api, "ann", "WRITING", json!({})).await;
    assert_eq!(claimed.status, 200, "{}", claimed.json());
    assert_eq!(github.requested_paths(), Vec::<String>::new());

    // A commit that the store does not know: the answer comes from the new place.
    let pushed = world.push(&[("src/auth.ts", "export {};\n")]);
    let more = json!({ "repo_url": OLD, "agent_head": pushed });
    let checked = api.check("bob", &["src/db.ts"], more).await;
    for answer in [
        checked,
        by_old_name(&elsewhere, "cid", "WRITING", json!({})).await,
        by_old_name(api, "ann", "WRITING", json!({})).await,
        by_old_name(api, "ann", "OPEN", json!({ "new_repo_head": pushed })).await,
    ] {
        let body = answer.json();
        assert_eq!(
            (answer.status, &body["error"]),
            (404, &json!("UNKNOWN_REPOSITORY")),
            "{body}"
        );
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("was renamed to 127.0.0.1/acme/widgets"), "{message}");
    }
    // From then on the old name is refused without a request to GitHub, and its held files can be released.
    github.seen();
    let refused = by_old_name(api, "dan", "WRITING", json!({})).await;
    assert_eq!((refused.status, github.requested_paths()), (404, Vec::new()));
    let abandoned = by_old_name(api, "ann", "OPEN", json!({ "abandon": true })).await;
    assert_eq!(abandoned.status, 200, "{}", abandoned.json());
    let claimed = api
        .post_status("bob", "WRITING", &["src/auth.ts"], json!({ "agent_head": pushed }))
        .await;
    assert_eq!(claimed.status, 200, "{}", claimed.json());
}
