//! The function behind `/api/events`.

use coord_extensions::function_router;
use coord_http::endpoint::EVENTS;
use coord_http::function::start_logging;
use coord_runtime::after_response::AfterResponse;
use coord_settings::process_environment;
use tower::ServiceBuilder;
use vercel_runtime::AppState;
use vercel_runtime::axum::VercelLayer;

#[tokio::main]
async fn main() -> Result<(), vercel_runtime::Error> {
    start_logging();
    let router = function_router(EVENTS, &process_environment);
    let layers = ServiceBuilder::new()
        .layer(AfterResponse::new(AppState::wait_until))
        .layer(VercelLayer::new());
    vercel_runtime::run(layers.service(router)).await
}
