//! A function with a constant response, on the HTTP stack of the real ones: the cost of HTTP alone.

use std::net::SocketAddr;

use anyhow::Result;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use tokio::net::TcpListener;

/// As long as the response to a check of one free file.
const ANSWER: &str = r#"{"status":"OK","repo_head":"0123456789012345678901234567890123456789","locks":{},"held":{},"warnings":[],"orchestration":{"type":"orchestration","action":"PROCEED","command":null,"reason":"Nothing stands in the way"}}"#;

/// Serves until the process is ended.
pub async fn serve(address: SocketAddr) -> Result<()> {
    let router = Router::new()
        .route("/api/check_status", post(answer))
        .route("/api/post_status", post(answer));
    let listener = TcpListener::bind(address).await?;
    coord_serve::listen::serve(listener, router, std::future::pending()).await;
    Ok(())
}

async fn answer() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], ANSWER)
}
