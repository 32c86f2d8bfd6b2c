//! `GET /api/cron_cleanup`.

use coord_state as state;
use insta::assert_json_snapshot;
use secrecy::SecretString;
use serde_json::json;

use crate::api::{Answer, Api};

async fn start() -> Api {
    Api::start_with(|state| state.cron_secret = Some(SecretString::from("the secret of the cron"))).await
}

async fn sweep(api: &Api, authorization: &str) -> Answer {
    api.get("/api/cron_cleanup", &[("authorization", authorization)]).await
}

const RIGHT: &str = "Bearer the secret of the cron";

#[tokio::test]
async fn expired_locks_are_swept_and_counted() {
    let api = start().await;
    let swept = async || sweep(&api, RIGHT).await.expect("200");
    assert_eq!(
        swept().await,
        json!({ "repositories": 0, "expired": 0, "is_complete": true })
    );
    api.claim("ann", "WRITING", &["src/auth.ts", "src/db.ts"]).await;
    api.claim("bob", "READING", &["README.md"]).await;
    api.expire_locks("src/auth.ts").await;
    api.expire_locks("src/db.ts").await;
    api.command(["ZADD", state::expiry::keys::DUE, "1", api.repo().as_str()])
        .await;
    assert_eq!(
        swept().await,
        json!({ "repositories": 1, "expired": 2, "is_complete": true })
    );
    assert_eq!(api.held().await, 1);
    assert_eq!(swept().await["expired"], 0);
}

#[tokio::test]
async fn without_the_secret_nothing_is_swept() {
    let api = start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.expire_locks("src/auth.ts").await;
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
