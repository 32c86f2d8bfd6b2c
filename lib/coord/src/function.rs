//! A deployed function: everything from the environment. It reads heads from GitHub where the environment says anything of
//! GitHub, and builds import graphs when it has answered; otherwise it knows what a server has reported to the store.
//!
//! A setting that is missing or wrong does not keep the process from starting, for then its caller would get the platform's
//! own error page: every request is answered 503 with a sentence that names the variable.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use bytes::Bytes;
use futures::stream::BoxStream;
use secrecy::SecretString;

use crate::app::{App, credentials};
use crate::auth::{AuthError, Authenticator, JwtVerifier, People, Verdict};
use crate::builds::deferred::DeferredBuilds;
use crate::builds::head_observer::HeadObserver;
use crate::domain::RepoId;
use crate::http::{Endpoint, Webhook, router};
use crate::logging;
use crate::settings::Settings;
use crate::settings::environment::{ConfigError, Environment, long_secret};
use crate::settings::variables::env_vars;
use crate::source::github::{GithubConfig, GithubSource};
use crate::source::{Source, Sources};
use crate::store::{Request, Store, StoreError, Value, connect};

/// The router of the function that serves `endpoint`, and what is rewritten to it. It builds graphs only inside of an
/// [`AfterAnswer`](crate::after_answer::AfterAnswer).
pub fn function_router(endpoint: Endpoint, environment: Environment<'_>) -> Router {
    router(function_app(environment), &endpoint.of_function())
}

fn function_app(environment: Environment<'_>) -> App {
    let mut app = configured(environment).unwrap_or_else(|error| misconfigured(environment, error));
    app.edge.is_behind_proxy = true;
    app
}

fn configured(environment: Environment<'_>) -> Result<App, ConfigError> {
    let settings = Settings::from_env(environment)?;
    let store = connect::from_env(environment).unwrap_or_else(|error| Arc::new(NoStore(error.to_string())));
    let (mut webhook, mut builds) = (None, None);
    let (source, people) = match github(environment) {
        Some(Ok(source)) => {
            let secret = settings.webhook_secret.clone();
            webhook = secret.map(|secret| Arc::new(Webhook::new(secret, source.host())));
            // What they ask is no part of what a request costs.
            let untimed = Arc::clone(&source) as Arc<dyn Source>;
            let deferred = DeferredBuilds::new(Arc::clone(&store), untimed, settings.graph_limits);
            builds = Some(Arc::new(deferred) as Arc<dyn HeadObserver>);
            (
                Some(Sources::of([Arc::clone(&source) as Arc<dyn Source>])),
                Some(source as Arc<dyn People>),
            )
        }
        Some(Err(problem)) => {
            let nobody = Arc::new(NoPeople(problem.clone())) as Arc<dyn People>;
            (Some(Sources::not_configured(problem)), Some(nobody))
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

/// Answers every request with what is wrong with the settings.
fn misconfigured(environment: Environment<'_>, error: ConfigError) -> App {
    let store = Arc::new(NoStore(error.to_string()));
    let authenticator = match JwtVerifier::from_env(environment) {
        // Tokens of GitHub's cannot be verified as things are, and to say that one is wrong would be wrong.
        Ok(jwt) if !GithubConfig::is_in(environment) => Authenticator::by_jwt(jwt),
        Ok(_) => Authenticator::Misconfigured(error),
        Err(error) => Authenticator::Misconfigured(error),
    };
    let settings = Settings {
        cron_secret: long_secret(environment, env_vars::CRON_SECRET).ok().flatten(),
        ..Settings::default()
    };
    App::new(&settings, store, authenticator)
}

/// Repositories on GitHub, where the environment says anything of it; what is wrong with what it says.
fn github(environment: Environment<'_>) -> Option<Result<Arc<GithubSource>, String>> {
    GithubConfig::is_in(environment).then(|| {
        let config = GithubConfig::from_env(environment).map_err(|error| error.to_string())?;
        GithubSource::new(config).map(Arc::new)
    })
}

/// Stands in the place of what knows the holders of tokens where it could not be configured, and says why.
struct NoPeople(String);

#[async_trait]
impl People for NoPeople {
    async fn verify(&self, _: &SecretString, _: &RepoId) -> Result<Verdict, AuthError> {
        Err(AuthError::Unavailable(self.0.clone()))
    }

    async fn verify_anybody(&self, _: &RepoId) -> Result<Verdict, AuthError> {
        Err(AuthError::Unavailable(self.0.clone()))
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
    logging::start_json("info");
}
