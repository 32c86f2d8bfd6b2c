//! Repositories without a remote.

use std::sync::Arc;

use coord_git::GitSource;
use coord_sources::Source;
use coord_state as state;
use coord_test_support::git::Repo;
use serde_json::json;

use super::{World, sweep};
use crate::api::Api;

with_a_clone!(repositories_without_a_remote_do_not_collide_in_one_store_and_are_swept);

/// In folders of one name, served by two machines over one store: two repositories, each under the name that its banner prints.
async fn repositories_without_a_remote_do_not_collide_in_one_store_and_are_swept(world: World) {
    let store = &world.api.store;
    let mut served = Vec::new();
    for (user, machine) in [("ann", "one"), ("bob", "two")] {
        let folder = tempfile::tempdir().unwrap();
        let git = Repo::init(folder.path().join("Shop.git"), &[]);
        let head = git.commit(&[("src/auth.ts", "")]);
        let source = GitSource::open_shared(&[git.path().to_owned()], machine).unwrap();
        let repo = source.repositories().remove(0);
        let mut api = Api::serve_on(Arc::clone(store), folder, git, head.clone(), head, |app| {
            app.source = Some(Arc::new(source));
        })
        .await;
        for name in [repo.to_string(), format!("{repo}.git")] {
            let claimed = api
                .post_status(user, "WRITING", &["src/auth.ts"], json!({ "repo_url": name }))
                .await;
            assert_eq!(claimed.status, 200, "{}", claimed.json());
        }
        api.repo_url = repo.to_string().leak();
        served.push(api);
    }
    assert_ne!(served[0].repo(), served[1].repo());
    for api in &served {
        assert_eq!(api.held().await, 1, "{}", api.repo());
        api.expire_locks("src/auth.ts").await;
        api.command(["ZADD", state::expiry::keys::DUE, "1", api.repo().as_str()])
            .await;
    }
    assert_eq!(sweep(&world.api).await, 2);
    for api in &served {
        assert_eq!(api.held().await, 0, "{}", api.repo());
    }
}
