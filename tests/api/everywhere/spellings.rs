//! Spellings of a repository and of a path.

use coord_domain::RepoId;
use coord_state as state;
use serde_json::json;

use super::{URL, World, refusal, refused, sweep, warnings};

everywhere!(
    spellings_of_a_repository_and_of_a_file_are_one_lock_or_refused,
    a_repository_that_is_named_with_git_at_the_end_is_swept,
);

// rule: locks#paths
async fn spellings_of_a_repository_and_of_a_file_are_one_lock_or_refused(world: World) {
    let api = &world.api;
    api.build_graph().await;
    api.claim("ann", "WRITING", &["src/auth.ts", "gr\u{f6}\u{df}e.md"])
        .await;
    for url in [
        "HTTPS://127.0.0.1/Acme/Widgets.Git",
        "ssh://git@127.0.0.1:443/acme/widgets.git",
        "git@127.0.0.1:acme/widgets",
        "https://127.0.0.1/acme/widgets.git/\n",
        "127.0.0.1/acme/widgets",
    ] {
        let answer = api
            .post_status("bob", "WRITING", &["src/auth.ts"], json!({ "repo_url": url }))
            .await;
        assert_eq!(
            refused(&answer),
            refusal(409, "LOCK_CONFLICT", "WAIT"),
            "{url}: {}",
            answer.json()
        );
    }
    for path in ["./src//auth.ts", "gro\u{308}\u{df}e.md"] {
        let answer = api.post_status("bob", "WRITING", &[path], json!({})).await;
        assert_eq!(
            refused(&answer),
            refusal(409, "LOCK_CONFLICT", "WAIT"),
            "{path:?}: {}",
            answer.json()
        );
    }
    for path in [
        "src/auth.ts\n",
        "src/auth.ts ",
        "\u{feff}src/auth.ts",
        "src/auth.ts\u{feff}",
        // It would be a line of its own where neighbors are stored.
        "new.ts\n>src/auth.ts",
        "src/\u{7}auth.ts",
        "src/auth.ts\u{200b}",
    ] {
        let answer = api.post_status("bob", "WRITING", &[path], json!({})).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (400, &json!("file_paths")),
            "{path:?}"
        );
    }
    assert_eq!(api.held().await, 2);
    let other_case = api.post_status("bob", "READING", &["src/Db.ts"], json!({})).await;
    assert_eq!(other_case.status, 200, "{}", other_case.json());
    let warning = warnings(&other_case, "CASE_DIFFERS");
    assert!(
        warning.contains("'src/Db.ts' is not tracked, and 'src/db.ts' is"),
        "{warning}"
    );
}

async fn a_repository_that_is_named_with_git_at_the_end_is_swept(world: World) {
    let api = &world.api;
    for (user, end) in [("ann", ".git"), ("bob", ".git.git")] {
        let more = json!({ "repo_url": format!("{URL}{end}") });
        let claimed = api.post_status(user, "READING", &["src/auth.ts"], more).await;
        assert_eq!(claimed.status, 200, "{}", claimed.json());
    }
    assert_eq!(api.stored("src/auth.ts").await.len(), 2, "both under one name");
    api.expire_locks("src/auth.ts").await;
    let id = RepoId::parse(URL).unwrap();
    api.command(["ZADD", state::expiry::keys::DUE, "1", id.as_str()]).await;
    assert_eq!((sweep(api).await, api.held().await), (2, 0));
}
