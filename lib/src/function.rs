//! A deployed function: everything from the environment, no source of its own.
//!
//! A setting that is missing or wrong does not keep the process from starting, for then its caller would get the platform's
//! own error page: every request is answered 503 with a sentence that names the variable.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use bytes::Bytes;
use futures::stream::BoxStream;

use crate::auth::{Authenticator, JwtVerifier};
use crate::config::{Environment, LockConfig, env_vars, secret};
use crate::http::{AppState, Endpoint, router};
use crate::store::{Request, Store, StoreError, Value, connect};

/// The router of the function that serves `endpoint`.
pub fn function_router(endpoint: Endpoint, environment: Environment<'_>) -> Router {
    router(function_state(environment), &[endpoint])
}

fn function_state(environment: Environment<'_>) -> AppState {
    let locks = LockConfig::from_env(environment);
    let store = match &locks {
        Ok(_) => connect::from_env(environment),
        Err(error) => Err(StoreError::NotConfigured(error.to_string())),
    };
    let verifier = secret(environment, env_vars::COORD_JWT_SECRET).map(|secret| JwtVerifier::hs256(&secret));
    AppState {
        store: store.unwrap_or_else(|error| Arc::new(NoStore(error.to_string()))),
        source: None,
        authenticator: Arc::new(Authenticator::Jwt(verifier)),
        locks: locks.unwrap_or_default(),
        cron_secret: secret(environment, env_vars::CRON_SECRET),
        head_observer: None,
        graph_cache: Arc::default(),
    }
}

/// Stands in the place of a store that could not be configured, and says why.
struct NoStore(String);

#[async_trait]
impl Store for NoStore {
    async fn run(&self, _batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        Err(StoreError::NotConfigured(self.0.clone()))
    }

    async fn subscribe(&self, _channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        Err(StoreError::NotConfigured(self.0.clone()))
    }

    fn describe(&self) -> String {
        "no store".to_owned()
    }
}

/// Sends structured logs, one JSON object a line, to standard output. `RUST_LOG` sets the level; `info` by default.
pub fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // A second call would fail, and would change nothing.
    let _ = tracing_subscriber::fmt().json().with_env_filter(filter).try_init();
}
