//! The function behind `/api/cron_cleanup`.

use coord_extensions::function_router;
use coord_http::endpoint::operation::CRON_CLEANUP;
use coord_http::function::start_logging;
use coord_settings::process_environment;
use tower::ServiceBuilder;
use vercel_runtime::axum::VercelLayer;

#[tokio::main]
async fn main() -> Result<(), vercel_runtime::Error> {
    start_logging();
    let router = function_router(CRON_CLEANUP, &process_environment);
    vercel_runtime::run(ServiceBuilder::new().layer(VercelLayer::new()).service(router)).await
}
