//! Starts and stops `coord serve`.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use coord_agent::announcement::Announcement;
use coord_agent::signals::Signals;
use coord_builds::background::BackgroundBuilds;
use coord_builds::head_observer::HeadObserver;
use coord_embedded::EmbeddedStore;
use coord_git::GitSource;
use coord_server::extension::Extensions;
use coord_server::sweep::sweep_due;
use coord_settings::connections::ConnectionConfig;
use coord_settings::process_environment;
use coord_store::Store;
use tokio::net::TcpListener;

use super::args::ServeArgs;
use super::idle::{LastRequest, note_request};
use super::listen_address::DEFAULT_PORT;
use super::server::{Server, build};
#[cfg(feature = "intents")]
use super::syncing;
use super::{banner, fetch, listen};

/// Number of ports that are tried, starting at the default one.
const PORTS: u16 = 100;

/// Interval of looks whether store and repositories are there; nothing is granted without them, whenever the look is.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Interval of sweeps for expired locks.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

impl ServeArgs {
    /// Serves until Ctrl-C, SIGTERM or SIGHUP. A second one of these ends it at once.
    ///
    /// # Errors
    /// When it cannot start, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<()> {
        serve(self).await
    }
}

async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    coord_runtime::logging::start_text("warn");
    let connections = ConnectionConfig::from_env(&process_environment)?;
    listen::raise_file_limit(connections.most);
    let places = listen::Places::new(listen::within_file_limit(connections));
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = bind(args.listen.or(args.port.map(local))).await?;
    let address = listener.local_addr()?;
    // From here on, because a large or slow store takes a while to open.
    let mut signals = Signals::caught();
    let mut server = tokio::select! {
        server = build(&args, address) => server?,
        // A return would wait for the thread that opens the store. Nothing was answered yet, and the next start opens it as
        // after a crash.
        () = signals.next() => std::process::exit(0),
    };
    let idle = idle(&args, &mut server);
    let lost = wait_until_lost(server.file.clone(), server.local.clone());
    let store = Arc::clone(&server.store);
    // Logs a warning about promises that the store does not keep.
    tokio::spawn(async move { store.promises().await });
    say(&banner::text(
        address,
        &server.store.describe(),
        &server.served,
        &server.rivals,
    ));
    for rival in &server.rivals {
        tracing::warn!("{}; to fix it: {}", rival.sentence, rival.fix);
    }
    let sweeper = tokio::spawn(sweep_forever(
        Arc::clone(&server.store),
        Arc::clone(&server.keeper),
        Arc::clone(&server.announcement),
        server.extensions.clone(),
    ));
    let (stop, stopped) = tokio::sync::watch::channel(());
    let until_stopped = move || {
        let mut stopped = stopped.clone();
        async move {
            // An error means that the sender is gone, which stops it as well.
            let _ = stopped.changed().await;
        }
    };
    let main_server = tokio::spawn(listen::serve_within(
        listen::Bounds::default(),
        places,
        listener,
        server.router,
        until_stopped(),
    ));
    let fetcher = server.fetching.map(|(source, every)| {
        let keeper = Arc::clone(&server.keeper);
        let fetched = move || keeper.look_again();
        tokio::spawn(fetch::keep_current(source, every, until_stopped(), fetched))
    });
    #[cfg(feature = "intents")]
    let mut syncers = Vec::new();
    #[cfg(feature = "intents")]
    for clone in server.synced {
        let (events, appended) = (Arc::clone(&server.events), server.appended.clone());
        let client = syncing::client(address)?;
        syncers.push(tokio::spawn(syncing::keep_current(
            clone,
            client,
            events,
            appended,
            until_stopped(),
        )));
    }
    let mut lost_why = None;
    tokio::select! {
        () = signals.next() => {}
        () = idle => say("\nNobody needs this server any more.\n"),
        why = lost => {
            tracing::error!("{why}: this server ends");
            // A server that commands start is started again by the next one.
            lost_why = args.exit_when_idle.is_none().then_some(why);
        }
    }
    say("\nStopping: requests in flight are finished; a second Ctrl-C stops at once.\n");
    tokio::spawn(async move {
        signals.next().await;
        // The exit status that a shell reports after Ctrl-C. Everything that was answered is on the disk.
        std::process::exit(130);
    });
    sweeper.abort();
    server.events.close();
    drop(stop);
    server.keeper.stop().await;
    main_server.await?;
    #[cfg(feature = "intents")]
    for syncer in syncers {
        syncer.await?;
    }
    if let Some(fetcher) = fetcher {
        fetcher.await?;
    }
    match lost_why {
        Some(why) => bail!("{why}: start coord serve again where it is now"),
        None => Ok(()),
    }
}

/// Completes when the store or what is served was deleted or replaced, with a sentence: what is there now may have another server.
async fn wait_until_lost(store: Option<EmbeddedStore>, source: Option<Arc<GitSource>>) -> String {
    let mut was_lost = false;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let of_store = store.as_ref().filter(|store| store.is_lost());
        let of_store = of_store.map(|store| format!("{} was deleted or replaced", store.describe()));
        let lost = of_store.or_else(|| source.as_ref().and_then(|source| source.lost_reason()));
        match lost {
            // A disk that is mounted again has a moment.
            Some(why) if was_lost => return why,
            lost => was_lost = lost.is_some(),
        }
    }
}

/// Completes when the server has been idle for as long as the command line says; without that, never.
fn idle(args: &ServeArgs, server: &mut Server) -> impl Future<Output = ()> + use<> {
    let limit = args.exit_when_idle.map(|seconds| Duration::from_secs(seconds.into()));
    let last = limit.map(|limit| (LastRequest::now(), limit));
    if let Some((last, _)) = &last {
        let noting = axum::middleware::from_fn_with_state(last.clone(), note_request);
        server.router = std::mem::take(&mut server.router).layer(noting);
    }
    let events = Arc::clone(&server.events);
    let folders = args.repo.clone();
    let is_gone = move || !folders.is_empty() && folders.iter().all(|folder| !folder.exists());
    async move {
        match last {
            Some((last, limit)) => last.passed(limit, || events.is_watched(), is_gone).await,
            None => std::future::pending().await,
        }
    }
}

/// Prints to the terminal, and ignores a closed one (`coord serve | head`).
fn say(text: &str) {
    let mut terminal = std::io::stdout();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

async fn bind(listen: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    if let Some(address) = listen {
        return TcpListener::bind(address).await.with_context(|| {
            format!("cannot listen on {address}; without --listen and --port, coord serve takes the next free port")
        });
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

async fn sweep_forever(
    store: Arc<dyn Store>,
    keeper: Arc<BackgroundBuilds>,
    announcement: Arc<Announcement>,
    extensions: Extensions,
) {
    let mut interval = tokio::time::interval(SWEEP_EVERY);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        keeper.look_again();
        let announcement = Arc::clone(&announcement);
        tokio::task::spawn_blocking(move || announcement.renew());
        match sweep_due(&*store, &extensions).await {
            Ok(report) => tracing::debug!(?report, "swept"),
            Err(error) => tracing::warn!(%error, "expired locks could not be swept"),
        }
    }
}
