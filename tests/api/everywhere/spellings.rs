//! Spellings of a repository and of a path.

use coord_domain::RepoId;
use coord_state as state;
use serde_json::json;

use super::{URL, World, sweep, warnings};

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
    for (url, path) in [
        ("HTTPS://127.0.0.1/Acme/Widgets.Git", "src/auth.ts"),
        ("ssh://git@127.0.0.1:443/acme/widgets.git", "src/auth.ts"),
        ("git@127.0.0.1:acme/widgets", "src/auth.ts"),
        ("https://127.0.0.1/acme/widgets.git/\n", "src/auth.ts"),
        ("127.0.0.1/acme/widgets", "src/auth.ts"),
        (URL, "./src//auth.ts"),
        (URL, "gro\u{308}\u{df}e.md"),
    ] {
        let more = json!({ "repo_url": url });
        let answer = api.post_status("bob", "WRITING", &[path], more).await;
        assert_eq!(answer.outcome(), "409 LOCK_CONFLICT WAIT", "{url} {path:?}");
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
        assert_eq!(answer.expect("400")["field"], "file_paths", "{path:?}");
    }
    assert_eq!(api.held().await, 2);
    let other_case = api.post_status("bob", "READING", &["src/Db.ts"], json!({})).await;
    other_case.expect("200");
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
        api.granted(user, "READING", &["src/auth.ts"], more).await;
    }
    assert_eq!(api.stored("src/auth.ts").await.len(), 2, "both under one name");
    api.expire_locks("src/auth.ts").await;
    let id = RepoId::parse(URL).unwrap();
    api.command(["ZADD", state::expiry::keys::DUE, "1", id.as_str()]).await;
    assert_eq!((sweep(api).await, api.held().await), (2, 0));
}
