//! The extensions that a build links, by its features. Each table has one row for each of them. No other crate of the
//! server names an extension.

use std::sync::{Arc, LazyLock};

use axum::Router;
use tokio::sync::watch;

use coord_http::{Endpoint, endpoint, function};
use coord_server::app::App;
use coord_server::extension::{Extension, Extensions};
use coord_server::settings::Settings;
use coord_settings::{ConfigError, Environment};

#[cfg(feature = "intents")]
pub use coord_intents_server as intents;
#[cfg(feature = "teams")]
pub use coord_teams_server as teams;

/// The tables of routes of the extensions.
const TABLES: &[&[Endpoint]] = &[
    #[cfg(feature = "intents")]
    coord_intents_server::ENDPOINTS,
    #[cfg(feature = "teams")]
    coord_teams_server::ENDPOINTS,
];

static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let tables = [&[endpoint::ENDPOINTS], TABLES, &[endpoint::operation::ENDPOINTS]];
    tables.concat().concat()
});

/// All endpoints of this build.
pub fn endpoints() -> &'static [Endpoint] {
    &ENDPOINTS
}

/// The extensions of this build, with their settings from `environment`.
///
/// # Errors
/// When a variable has an invalid value.
#[cfg_attr(
    not(any(feature = "intents", feature = "teams")),
    expect(unused_variables, clippy::unnecessary_wraps, reason = "no extension reads it")
)]
pub fn register(environment: Environment<'_>) -> Result<Extensions, ConfigError> {
    let extensions: Vec<Arc<dyn Extension>> = vec![
        #[cfg(feature = "intents")]
        Arc::new(coord_intents_server::Intents::from_env(environment)?),
        #[cfg(feature = "teams")]
        Arc::new(coord_teams_server::Teams::from_env(environment)?),
    ];
    Ok(Extensions::of(extensions))
}

/// The extensions of this build, with the default settings.
pub fn registered() -> Extensions {
    register(&|_| None).expect("the defaults are valid")
}

/// Registers the stored state of the extensions of this build, for a process that opens a store without a server.
pub fn register_state() {
    registered();
}

/// The default settings, with the extensions of this build.
pub fn default_settings() -> Settings {
    Settings {
        extensions: registered(),
        ..Settings::default()
    }
}

/// The router of the function that serves `endpoint`. See [`function::function_router`].
pub fn function_router(endpoint: Endpoint, environment: Environment<'_>) -> Router {
    function::function_router(endpoint, endpoints(), register, environment)
}

/// The OpenAPI document of this build.
pub fn document() -> serde_json::Value {
    let mut parts = endpoint::documents();
    #[cfg(feature = "intents")]
    parts.extend(coord_intents_server::documents());
    #[cfg(feature = "teams")]
    parts.extend(coord_teams_server::documents());
    parts.extend(endpoint::operation::documents());
    coord_http::document(parts)
}

/// Changes whenever this process has appended to a ledger. Never changes in a build without ledgers.
pub fn appended(app: &App) -> watch::Receiver<u64> {
    #[cfg(feature = "intents")]
    return coord_intents_server::Intents::of(app).appended();
    #[cfg(not(feature = "intents"))]
    {
        let _ = app;
        watch::channel(0).1
    }
}
