//! A deployed function, configured from the environment. With any setting of GitHub, it reads heads from GitHub and
//! builds import graphs after the response. Without one, it knows only the heads that a server has recorded in the
//! store.
//!
//! A missing or invalid setting does not stop the process, because callers would then get the platform's own error
//! page. Instead, every request gets a 503 with a sentence that names the variable.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use bytes::Bytes;
use futures::stream::BoxStream;
use secrecy::SecretString;

use crate::{Endpoint, Webhook, router};
use coord_auth::{AuthError, Authenticator, JwtVerifier, TokenVerifier, Verdict};
use coord_builds::deferred::DeferredBuilds;
use coord_builds::head_observer::HeadObserver;
use coord_domain::RepoId;
use coord_runtime::logging;
use coord_server::app::{App, credentials};
use coord_server::settings::{Register, Settings};
use coord_settings::environment::{ConfigError, Environment, long_secret};
use coord_settings::variables::env_vars;
use coord_sources::github::{GithubConfig, GithubSource};
use coord_sources::{Source, Sources};
use coord_store::{Request, Store, StoreError, Value, connect};

/// The router of the function that serves `endpoint` and those of `endpoints` that are rewritten to it, with the
/// extensions that `register` registers. Graphs are built only inside an
/// [`AfterResponse`](coord_runtime::after_response::AfterResponse).
pub fn function_router(
    endpoint: Endpoint,
    endpoints: &[Endpoint],
    register: Register,
    environment: Environment<'_>,
) -> Router {
    router(function_app(register, environment), &endpoint.of_function(endpoints))
}

fn function_app(register: Register, environment: Environment<'_>) -> App {
    let mut app = configure(register, environment).unwrap_or_else(|error| misconfigured_app(environment, error));
    app.edge.is_behind_proxy = true;
    app
}

fn configure(register: Register, environment: Environment<'_>) -> Result<App, ConfigError> {
    let settings = Settings::from_env(environment, register)?;
    let store = connect::from_env(environment).unwrap_or_else(|error| Arc::new(UnconfiguredStore(error.to_string())));
    let (mut webhook, mut builds) = (None, None);
    let (source, people) = match github_source(environment) {
        Some(Ok(source)) => {
            let secret = settings.webhook_secret.clone();
            webhook = secret.map(|secret| Arc::new(Webhook::new(secret, source.host())));
            // Builds use the untimed source: their calls are not part of a request.
            let untimed = Arc::clone(&source) as Arc<dyn Source>;
            let deferred = DeferredBuilds::new(Arc::clone(&store), untimed, settings.graph_limits);
            builds = Some(Arc::new(deferred) as Arc<dyn HeadObserver>);
            (
                Some(Sources::of([Arc::clone(&source) as Arc<dyn Source>])),
                Some(source as Arc<dyn TokenVerifier>),
            )
        }
        Some(Err(problem)) => {
            let verifier = Arc::new(UnconfiguredVerifier(problem.clone())) as Arc<dyn TokenVerifier>;
            (Some(Sources::not_configured(problem)), Some(verifier))
        }
        None => (None, None),
    };
    let authenticator = Authenticator::ByCredential(credentials(&settings, people));
    Ok(App {
        source: source.map(|source| Arc::new(source) as Arc<dyn Source>),
        webhook,
        head_observer: builds,
        ..App::new(&settings, store, authenticator)
    })
}

/// An app that responds to every request with the problem in the settings.
fn misconfigured_app(environment: Environment<'_>, error: ConfigError) -> App {
    let store = Arc::new(UnconfiguredStore(error.to_string()));
    let misconfigured = Some(error.clone());
    let authenticator = match JwtVerifier::from_env(environment) {
        // If GitHub is configured, its tokens cannot be verified now, and must not be rejected as invalid.
        Ok(jwt) if !GithubConfig::is_configured(environment) => Authenticator::by_jwt(jwt),
        Ok(_) => Authenticator::Misconfigured(error),
        Err(error) => Authenticator::Misconfigured(error),
    };
    let settings = Settings {
        cron_secret: long_secret(environment, env_vars::CRON_SECRET).ok().flatten(),
        ..Settings::default()
    };
    App {
        misconfigured,
        ..App::new(&settings, store, authenticator)
    }
}

/// GitHub as a source, if the environment has any setting of it; an error is a sentence about the settings.
fn github_source(environment: Environment<'_>) -> Option<Result<Arc<GithubSource>, String>> {
    GithubConfig::is_configured(environment).then(|| {
        let config = GithubConfig::from_env(environment).map_err(|error| error.to_string())?;
        GithubSource::new(config).map(Arc::new)
    })
}

/// Replaces a verifier of GitHub tokens that could not be configured; its error says why.
struct UnconfiguredVerifier(String);

#[async_trait]
impl TokenVerifier for UnconfiguredVerifier {
    async fn verify(&self, _: &SecretString, _: &RepoId) -> Result<Verdict, AuthError> {
        Err(AuthError::Unavailable(self.0.clone()))
    }

    async fn verify_without_token(&self, _: &RepoId) -> Result<Verdict, AuthError> {
        Err(AuthError::Unavailable(self.0.clone()))
    }
}

/// Replaces a store that could not be configured; its error says why.
struct UnconfiguredStore(String);

#[async_trait]
impl Store for UnconfiguredStore {
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

/// Logs one JSON object per line to standard output. `RUST_LOG` sets the level; the default is `info`.
pub fn start_logging() {
    logging::start_json("info");
}
