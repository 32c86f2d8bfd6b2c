//! The function behind `/api/mcp` and, by a rewrite, the metadata of its protected resource.

use axum::Extension;
use coord_extensions::function_router;
use coord_http::endpoint::operation::MCP;
use coord_http::function::start_logging;
use coord_runtime::after_response::AfterResponse;
use coord_settings::process_environment;
use coord_tools::protocol;
use tower::ServiceBuilder;
use vercel_runtime::AppState;
use vercel_runtime::axum::VercelLayer;

#[tokio::main]
async fn main() -> Result<(), vercel_runtime::Error> {
    start_logging();
    let router = function_router(MCP, &process_environment).layer(Extension(protocol()));
    let layers = ServiceBuilder::new()
        .layer(AfterResponse::new(AppState::wait_until))
        .layer(VercelLayer::new());
    vercel_runtime::run(layers.service(router)).await
}
