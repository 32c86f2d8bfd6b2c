//! The function behind `/api/github_webhook`.

use coord::config::process_environment;
use coord::function::{function_router, start_logging};
use coord::http::Endpoint;
use tower::ServiceBuilder;
use vercel_runtime::axum::VercelLayer;

#[tokio::main]
async fn main() -> Result<(), vercel_runtime::Error> {
    start_logging();
    let router = function_router(Endpoint::GithubWebhook, &process_environment);
    vercel_runtime::run(ServiceBuilder::new().layer(VercelLayer::new()).service(router)).await
}
