//! Builds a server from the command line and the environment.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use axum::http::HeaderValue;
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use coord_agent::announcement::Announcement;
use coord_agent::rivals::{self, Rival};
use coord_auth::{Authenticator, Credentials};
use coord_builds::background::BackgroundBuilds;
use coord_builds::head_observer::HeadObserver;
use coord_domain::UserId;
use coord_embedded::EmbeddedStore;
use coord_events::EventHub;
use coord_git::GitSource;
use coord_server::app::{App, credentials};
use coord_server::extension::Extensions;
use coord_server::settings::Settings;
use coord_settings::{LockConfig, env_vars, process_environment};
use coord_sources::Source;
use coord_store::Store;
use tokio::sync::watch;
use tower::ServiceBuilder;

use super::args::ServeArgs;
use super::banner::ServedRepository;
use super::joined_clones::{JoinedClones, read_joined};
use super::local_guard::require_local_caller;
use super::own_requests::refuse_misdirected;
use super::page;
use super::sources::{self, OpenSources};
use super::store::{OpenStore, open_store};
#[cfg(feature = "intents")]
use super::syncing::{self, SyncedClone};

/// A server that is ready to run.
pub struct Server {
    /// All routes of `coord serve`.
    pub router: Router,
    /// The files with the address; dropped before the store is closed.
    pub announcement: Arc<Announcement>,
    pub store: Arc<dyn Store>,
    /// The same store, if it is a file on this machine.
    pub embedded_store: Option<EmbeddedStore>,
    /// The repositories on this machine.
    pub local_source: Option<Arc<GitSource>>,
    /// Clones of these with a separate server.
    pub rivals: Vec<Rival>,
    /// Live events; closed before the router is stopped.
    pub events: Arc<EventHub>,
    /// The builds that keep graphs up to date.
    pub builds: Arc<BackgroundBuilds>,
    /// The extensions, which take part in sweeps.
    pub extensions: Extensions,
    /// The interval of `git fetch`; `None` without `--fetch`.
    pub fetch_interval: Option<Duration>,
    /// The working copies whose files are kept current.
    #[cfg(feature = "intents")]
    pub synced_clones: Vec<SyncedClone>,
    /// Changes whenever this process has appended to a ledger.
    pub ledger_changes: watch::Receiver<u64>,
    pub served: Vec<ServedRepository>,
}

/// Builds a server; `address` is the address that it will listen on.
///
/// # Errors
/// When a repository, the store or a setting cannot be used.
pub async fn build(args: &ServeArgs, address: SocketAddr) -> anyhow::Result<Server> {
    let settings = settings(args)?;
    let OpenSources {
        source,
        people,
        webhook,
        local_source,
        opened,
        served,
    } = sources::open(args).await?;
    check_allowed(&settings, &served)?;
    #[cfg(feature = "intents")]
    let synced_clones = syncing::clones(args, address, &opened)?;
    #[cfg(feature = "intents")]
    let served = with_sync_notes(served, &synced_clones);
    let authenticator = authenticator(address, credentials(&settings, people))?;
    let local_user = match &authenticator {
        Authenticator::Local { user, .. } => Some(user.clone()),
        _ => None,
    };
    coord_extensions::register_state();
    let OpenStore {
        store,
        embedded_store,
        announcement,
    } = open_store(args, address, &opened, &served).await?;
    if let Some(source) = &local_source {
        source.keep_names();
    }
    let rivals = opened.iter().filter(|opened| opened.has_remote());
    let rivals = rivals
        .flat_map(|opened| rivals::of(&opened.repo, &opened.git_folder, address))
        .collect();
    let builder = format!("{}-{}", std::process::id(), started_at());
    let builds = BackgroundBuilds::start(Arc::clone(&store), Arc::clone(&source), builder, settings.graph_limits);
    build_served(&builds, &*source, &served).await;
    let app = App {
        source: Some(source),
        webhook,
        head_observer: Some(Arc::clone(&builds) as Arc<dyn HeadObserver>),
        ..App::new(&settings, Arc::clone(&store), authenticator)
    };
    let (events, ledger_changes) = (Arc::clone(&app.events), coord_extensions::appended(&app));
    let mut router = coord_http::routes(app, coord_extensions::endpoints()).merge(page::router());
    let (mut local_edge, mut joined_clones) = (None, None);
    if let Some(user) = &local_user {
        router = router.merge(page::served_list(&served, user));
        local_edge = Some(Arc::new(settings.edge.clone()));
        joined_clones = local_source
            .as_ref()
            .and_then(|source| JoinedClones::of(source, &opened));
    }
    let own_name = HeaderValue::try_from(announcement.instance())?;
    let layers = ServiceBuilder::new()
        .layer(from_fn_with_state(own_name, refuse_misdirected))
        .option_layer(local_edge.map(|edge| from_fn_with_state(edge, require_local_caller)))
        .option_layer(joined_clones.map(|joined| from_fn_with_state(joined, read_joined)))
        .layer(Extension(coord_tools::protocol()));
    let router = router.layer(layers);
    Ok(Server {
        router: coord_http::wrap_router(settings.edge, coord_extensions::endpoints(), router),
        announcement: Arc::new(announcement),
        store,
        embedded_store,
        local_source,
        rivals,
        events,
        builds,
        extensions: settings.extensions,
        fetch_interval: args.fetch.map(|seconds| Duration::from_secs(seconds.into())),
        #[cfg(feature = "intents")]
        synced_clones,
        ledger_changes,
        served,
    })
}

/// Checks that the settings allow all served repositories.
fn check_allowed(settings: &Settings, served: &[ServedRepository]) -> anyhow::Result<()> {
    if let Some(allowed) = &settings.repositories
        && let Some(unlisted) = served.iter().find(|served| !allowed.includes(&served.repo))
    {
        bail!(
            "{} is not among the repositories of {}: add it there, or unset the variable",
            unlisted.repo,
            env_vars::COORD_REPOSITORIES
        );
    }
    Ok(())
}

/// Adds a note to the repositories of `synced_clones`.
#[cfg(feature = "intents")]
fn with_sync_notes(mut served: Vec<ServedRepository>, synced_clones: &[SyncedClone]) -> Vec<ServedRepository> {
    for repository in &mut served {
        if synced_clones.iter().any(|clone| clone.repo == repository.repo) {
            repository.notes.push(".orchestration/ is kept current".to_owned());
        }
    }
    served
}

/// Starts the builds of the branches that the page shows first.
async fn build_served(builds: &BackgroundBuilds, source: &dyn Source, served: &[ServedRepository]) {
    for repository in served {
        if let Some(branch) = &repository.branch
            && let Ok(head) = source.head(&repository.repo, branch).await
        {
            builds.saw_head(&repository.repo, branch, &head);
        }
    }
}

fn started_at() -> u128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos())
}

/// The settings of the environment, overridden by the command line.
fn settings(args: &ServeArgs) -> anyhow::Result<Settings> {
    let mut settings = Settings::from_env(&process_environment, coord_extensions::register)?;
    if let Some(seconds) = args.lock_ttl {
        if !(1..=LockConfig::MAX_TTL_SECONDS).contains(&seconds) {
            bail!("--lock-ttl must be from 1 to {} seconds", LockConfig::MAX_TTL_SECONDS);
        }
        settings.locks.ttl_seconds = seconds;
    }
    Ok(settings)
}

fn authenticator(address: SocketAddr, credentials: Credentials) -> anyhow::Result<Authenticator> {
    if !address.ip().is_loopback() {
        if !credentials.can_verify() {
            bail!(
                "{address} can be reached from other machines, so callers must be verified: set {}, {} or {}, serve \
                 repositories of GitHub (--github), which verifies its tokens, or listen on 127.0.0.1",
                env_vars::COORD_JWT_SECRET,
                env_vars::COORD_JWT_PUBLIC_KEY,
                env_vars::COORD_JWT_JWKS_URL
            );
        }
        return Ok(Authenticator::ByCredential(credentials));
    }
    let user = whoami::username()
        .ok()
        .and_then(|name| UserId::parse(&name.replace(char::is_whitespace, "_")).ok());
    let user = user.map_or_else(|| UserId::parse("local"), Ok)?;
    Ok(Authenticator::Local { user, credentials })
}
