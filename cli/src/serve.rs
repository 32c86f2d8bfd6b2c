//! `coord serve`: everything on one machine.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::Router;
use coord::app::{App, credentials};
use coord::auth::{Authenticator, Credentials};
use coord::builds::background::BackgroundBuilds;
use coord::builds::head_observer::HeadObserver;
use coord::domain::UserId;
use coord::http::Endpoint;
use coord::settings::{LockConfig, Settings, env_vars, process_environment, secret};
use coord::store::Store;
use coord::store::redis::RedisStore;
use coord::store::upstash::UpstashStore;
use coord::sweep::sweep_due;
use secrecy::SecretString;
use tokio::net::TcpListener;

use crate::announcement::Announcement;
use crate::banner::{self, Served};
use crate::cli::ServeArgs;
use crate::fetch;
use crate::listen;
use crate::listen_address::DEFAULT_PORT;
use crate::local_guard::require_local_host;
use crate::page;
use crate::signals::Signals;
use crate::sources::{self, OpenSources};
use crate::upstash_listen;
use coord_embedded::{EmbeddedStore, OpenError};
use coord_git::{GitSource, Opened};

/// How many ports from the default one on are tried.
const PORTS: u16 = 100;

/// How often expired locks are swept.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// A server that is ready to run.
pub struct Server {
    /// What `coord serve` answers.
    pub router: Router,
    /// Says beside an embedded store where this process listens; it goes before the store is closed.
    pub announcement: Option<Announcement>,
    /// The state.
    pub store: Arc<dyn Store>,
    /// What keeps the graphs up to date.
    pub keeper: Arc<BackgroundBuilds>,
    /// The repositories on this machine, and how often they are fetched.
    pub fetching: Option<(Arc<GitSource>, Duration)>,
    /// What is served.
    pub served: Vec<Served>,
}

/// Runs `coord serve` until Ctrl-C, SIGTERM or SIGHUP. A second one of these ends it at once.
///
/// # Errors
/// When it cannot start, with a sentence for the terminal.
pub async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    coord::logging::start_text("warn");
    listen::raise_file_limit();
    let store_token = match args.upstash_listen {
        Some(_) => Some(
            secret(&process_environment, env_vars::COORD_STORE_TOKEN).with_context(|| {
                format!(
                    "set {} to what clients of --upstash-listen must show",
                    env_vars::COORD_STORE_TOKEN
                )
            })?,
        ),
        None => None,
    };
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = bind(args.listen.or(args.port.map(local))).await?;
    let address = listener.local_addr()?;
    let store_listener = match args.upstash_listen {
        Some(address) => Some(
            TcpListener::bind(address)
                .await
                .with_context(|| format!("cannot listen on {address} (--upstash-listen)"))?,
        ),
        None => None,
    };
    let server = build(&args, address).await?;
    let store = Arc::clone(&server.store);
    // It warns of what is not promised.
    tokio::spawn(async move { store.promises().await });
    let mut signals = Signals::caught();
    say(&banner::text(address, &server.store.describe(), &server.served));
    let sweeper = tokio::spawn(sweep_forever(Arc::clone(&server.store), Arc::clone(&server.keeper)));
    let (stop, stopped) = tokio::sync::watch::channel(());
    let until_stopped = move || {
        let mut stopped = stopped.clone();
        async move {
            // An error means that the sender is gone, which is as good a reason to stop.
            let _ = stopped.changed().await;
        }
    };
    let store_server = match store_listener.zip(store_token) {
        Some((listener, token)) => {
            let address = listener.local_addr()?;
            say(&format!("  store    http://{address} (Upstash's REST protocol)\n\n"));
            let router = upstash_listen::router(Arc::clone(&server.store), token);
            // Longer than our own client keeps an idle connection, so that it never sends on one that is just being ended.
            let bounds = listen::Bounds {
                head_time: Duration::from_secs(30),
                ..listen::Bounds::default()
            };
            Some(tokio::spawn(listen::serve_within(
                bounds,
                listener,
                router,
                until_stopped(),
            )))
        }
        None => None,
    };
    let main_server = tokio::spawn(listen::serve(listener, server.router, until_stopped()));
    let fetcher = server.fetching.map(|(source, every)| {
        let keeper = Arc::clone(&server.keeper);
        let fetched = move || keeper.look_again();
        tokio::spawn(fetch::keep_current(source, every, until_stopped(), fetched))
    });
    signals.next().await;
    say("\nStopping: requests in flight are finished; once more ends it at once.\n");
    tokio::spawn(async move {
        signals.next().await;
        // As a shell says that Ctrl-C has ended a program. What was answered is on the disk.
        std::process::exit(130);
    });
    sweeper.abort();
    drop(stop);
    server.keeper.stop().await;
    main_server.await?;
    if let Some(store_server) = store_server {
        store_server.await?;
    }
    if let Some(fetcher) = fetcher {
        fetcher.await?;
    }
    Ok(())
}

/// Writes to the terminal, where there still is one: whoever read may be gone (`coord serve | head`).
fn say(text: &str) {
    let mut terminal = std::io::stdout();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

/// Puts a server together; `address` is where it will listen.
///
/// # Errors
/// When a repository, the store or a setting cannot be used.
pub async fn build(args: &ServeArgs, address: SocketAddr) -> anyhow::Result<Server> {
    let settings = settings(args)?;
    let OpenSources {
        source,
        people,
        webhook,
        local,
        opened,
        served,
    } = sources::open(args).await?;
    let authenticator = authenticator(address, credentials(&settings, people))?;
    let is_open = matches!(authenticator, Authenticator::Local { .. });
    let (store, announcement) = open_store(args, address, &opened, &served)?;
    let builder = format!("{}-{}", std::process::id(), started_at());
    let keeper = BackgroundBuilds::start(Arc::clone(&store), Arc::clone(&source), builder, settings.graph_limits);
    for repository in &served {
        if let Some(branch) = &repository.branch
            && let Ok(head) = source.head(&repository.repo, branch).await
        {
            keeper.saw_head(&repository.repo, branch, &head);
        }
    }
    let app = App {
        source: Some(source),
        webhook,
        head_observer: Some(Arc::clone(&keeper) as Arc<dyn HeadObserver>),
        ..App::new(&settings, Arc::clone(&store), authenticator)
    };
    let mut router = coord::http::routes(app, &Endpoint::ALL).merge(page::router());
    if is_open {
        router = router.merge(page::served_list(&served));
        router = router.layer(axum::middleware::from_fn(require_local_host));
    }
    Ok(Server {
        router: coord::http::around(settings.edge, router),
        announcement,
        store,
        keeper,
        fetching: local.zip(args.fetch.map(|seconds| Duration::from_secs(seconds.into()))),
        served,
    })
}

fn started_at() -> u128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos())
}

async fn bind(listen: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    if let Some(address) = listen {
        return TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"));
    }
    for port in DEFAULT_PORT..DEFAULT_PORT + PORTS {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).with_context(|| format!("cannot listen on 127.0.0.1:{port}")),
        }
    }
    bail!(
        "no port from {DEFAULT_PORT} to {} is free; name one with --listen",
        DEFAULT_PORT + PORTS - 1
    )
}

/// Those of the environment, with what the command line sets instead.
fn settings(args: &ServeArgs) -> anyhow::Result<Settings> {
    let mut settings = Settings::from_env(&process_environment)?;
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
                "{address} can be reached from other machines, and without {}, {} or {} nobody who calls could be told \
                 from anybody else; set one of them, serve repositories of GitHub (--github), whose tokens it knows, or \
                 listen on 127.0.0.1",
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

/// The store, and where it is embedded what says so to others.
fn open_store(
    args: &ServeArgs,
    address: SocketAddr,
    opened: &[Opened],
    served: &[Served],
) -> anyhow::Result<(Arc<dyn Store>, Option<Announcement>)> {
    if let Some(url) = &args.redis {
        return Ok((Arc::new(RedisStore::connect(url).context("--redis")?), None));
    }
    if let Some(url) = &args.upstash {
        let token: SecretString = secret(&process_environment, env_vars::UPSTASH_REDIS_REST_TOKEN)
            .with_context(|| format!("set {} to the token for --upstash", env_vars::UPSTASH_REDIS_REST_TOKEN))?;
        return Ok((Arc::new(UpstashStore::new(url, token).context("--upstash")?), None));
    }
    let folder = match (&args.data_dir, opened.first()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(repository)) => repository.git_folder.join("coord"),
        (None, None) => state_folder(served)?,
    };
    make_folder(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let path = folder.join("store.redb");
    match EmbeddedStore::open(&path) {
        Ok(store) => Ok((Arc::new(store), Some(Announcement::write(&folder, address)))),
        Err(OpenError::InUse(path)) => {
            let path = path.display();
            match Announcement::read(&folder) {
                Some(first) => bail!(
                    "another coord serve listens on {first}, and keeps the locks of these repositories in {path}: use that one, or stop it first"
                ),
                None => bail!("another process keeps the locks of these repositories in {path}: stop it first"),
            }
        }
        Err(error) => Err(error).with_context(|| format!("cannot open the store {}", path.display())),
    }
}

/// Makes `folder`, for its owner alone, if it is not there.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.recursive(true).create(folder)
}

/// The folder of the user's for the state of repositories that have no folder on this machine, one for each first one: two
/// processes cannot share a store.
fn state_folder(served: &[Served]) -> anyhow::Result<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = set("XDG_STATE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".local").join("state")));
    let (Some(base), Some(first)) = (base, served.first()) else {
        bail!("name a folder for the store with --data-dir");
    };
    Ok(base.join("coord").join(first.repo.as_str()))
}

async fn sweep_forever(store: Arc<dyn Store>, keeper: Arc<BackgroundBuilds>) {
    let mut interval = tokio::time::interval(SWEEP_EVERY);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        keeper.look_again();
        match sweep_due(&*store).await {
            Ok(report) => tracing::debug!(?report, "swept"),
            Err(error) => tracing::warn!(%error, "expired locks could not be swept"),
        }
    }
}
