//! The function behind `/api/health`.

use coord_extensions::function_router;
use coord_http::endpoint::operation::HEALTH;
use coord_http::function::start_logging;
use coord_settings::process_environment;
use tower::ServiceBuilder;
use vercel_runtime::axum::VercelLayer;

#[tokio::main]
async fn main() -> Result<(), vercel_runtime::Error> {
    start_logging();
    let router = function_router(HEALTH, &process_environment);
    vercel_runtime::run(ServiceBuilder::new().layer(VercelLayer::new()).service(router)).await
}
