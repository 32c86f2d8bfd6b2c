//! `GET /api/cron_cleanup`.

use std::sync::Arc;

use coord::source::Source;
use coord::state;
use coord::store::Store;
use coord_git::GitSource;
use insta::assert_json_snapshot;
use secrecy::SecretString;
use serde_json::json;

use crate::api::{Answer, Api};
use coord_test_support::git::Repo;
use coord_test_support::waiting::until;

async fn start() -> Api {
    Api::start_with(|state| state.cron_secret = Some(SecretString::from("the secret of the cron"))).await
}

async fn sweep(api: &Api, authorization: &str) -> Answer {
    api.get("/api/cron_cleanup", &[("authorization", authorization)]).await
}

const RIGHT: &str = "Bearer the secret of the cron";

#[tokio::test]
async fn what_expired_is_swept_and_counted() {
    let api = start().await;
    assert_eq!(
        sweep(&api, RIGHT).await.json(),
        json!({ "repositories": 0, "expired": 0, "is_complete": true })
    );
    api.claim("ann", "WRITING", &["src/auth.ts", "src/db.ts"]).await;
    api.claim("bob", "READING", &["README.md"]).await;
    api.lapse("src/auth.ts").await;
    api.lapse("src/db.ts").await;
    api.command(["ZADD", state::expiry::keys::DUE, "1", crate::api::repo().as_str()])
        .await;
    let answer = sweep(&api, RIGHT).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json(),
        json!({ "repositories": 1, "expired": 2, "is_complete": true })
    );
    assert_eq!(api.held().await, 1);
    assert_eq!(sweep(&api, RIGHT).await.json()["expired"], 0);
}

#[tokio::test]
async fn without_the_secret_nothing_is_swept() {
    let api = start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.lapse("src/auth.ts").await;
    for wrong in [
        "Bearer the secret of the cro",
        "Bearer",
        "Bearer ",
        "the secret of the cron",
        "Basic the secret of the cron",
        "Bearer undefined",
        "",
    ] {
        let answer = sweep(&api, wrong).await;
        assert_eq!(answer.status, 401, "{wrong}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"coord\""));
    }
    assert_json_snapshot!(api.get("/api/cron_cleanup", &[]).await.snapshot());
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn where_no_secret_is_set_the_sweep_refuses_to_run() {
    let api = Api::start().await;
    for authorization in ["", "Bearer ", "Bearer undefined", "Bearer null", RIGHT] {
        assert_eq!(sweep(&api, authorization).await.status, 401, "{authorization}");
    }
    assert_json_snapshot!(sweep(&api, RIGHT).await.snapshot());
}

/// A repository whose folder was called `x.git`, named by its banner, is claimed, expires and is swept.
#[tokio::test]
async fn a_repository_that_is_named_with_git_at_the_end_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let git = Repo::init(folder.path().join("Shop.git"), &["--bare"]);
    let here = Repo::at(folder.path());
    here.git(&["clone", "--quiet", "Shop.git", "work"]);
    let work = Repo::at(folder.path().join("work"));
    work.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let head = work.commit(&[("src/auth.ts", "")]);
    work.git(&["push", "--quiet", "origin", "main"]);
    let served = GitSource::open(&[git.path().to_owned()]).unwrap().repositories();
    let name = served[0].as_str().to_owned();
    let api = Api::serve(folder, git, head.clone(), head, |state| {
        state.cron_secret = Some(SecretString::from("the secret of the cron"));
        // Long enough to be seen, short enough to wait for.
        state.locks.ttl_seconds = 1;
    })
    .await;
    for (user, repo_url) in [("ann", name.clone()), ("bob", format!("{name}.git"))] {
        let more = json!({ "repo_url": repo_url });
        let claimed = api.tell(user, "READING", &["src/auth.ts"], more).await;
        assert_eq!(claimed.status, 200, "{}", claimed.json());
    }
    let locks = state::locks::keys::locks(&served[0]);
    let held = async || api.command(["HLEN", &locks]).await.unwrap().as_int();
    assert_eq!(held().await, Some(1), "both under one name");
    let mut expired = 0;
    until("both are swept", async || {
        expired += sweep(&api, RIGHT).await.json()["expired"].as_u64().unwrap();
        expired == 2
    })
    .await;
    assert_eq!(held().await, Some(0));
}

/// Two repositories without a remote, in folders of one name, served by two machines over one store: two repositories, each under
/// the name that its banner prints.
#[tokio::test]
async fn repositories_without_a_remote_do_not_collide_in_one_store() {
    let mut shared: Option<Arc<dyn Store>> = None;
    let mut held = Vec::new();
    for (user, machine) in [("ann", "one"), ("bob", "two")] {
        let folder = tempfile::tempdir().unwrap();
        let git = Repo::init(folder.path().join("shop"), &[]);
        let head = git.commit(&[("src/auth.ts", "")]);
        let source = GitSource::open_shared(&[git.path().to_owned()], machine).unwrap();
        let repo = source.repositories().remove(0);
        let api = Api::serve(folder, git, head.clone(), head, |state| {
            state.source = Some(Arc::new(source));
            state.store = shared.take().unwrap_or_else(|| Arc::clone(&state.store));
        })
        .await;
        let more = json!({ "repo_url": repo.as_str() });
        let claimed = api.tell(user, "WRITING", &["src/auth.ts"], more).await;
        assert_eq!((claimed.status, claimed.json()["success"].as_bool()), (200, Some(true)));
        shared = Some(Arc::clone(&api.store));
        held.push((api, repo));
    }
    assert_ne!(held[0].1, held[1].1);
    for (_, repo) in &held {
        let locked = held[0]
            .0
            .command(["HLEN", &state::locks::keys::locks(repo)])
            .await
            .unwrap();
        assert_eq!(locked.as_int(), Some(1), "{repo}");
    }
}
