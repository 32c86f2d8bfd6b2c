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
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::args::ServeArgs;
use super::idle::{LastRequest, note_request};
use super::listen_address::DEFAULT_PORT;
use super::server::{Server, build};
#[cfg(feature = "intents")]
use super::syncing;
use super::{banner, fetch, listen};

/// Number of ports that the server tries, starting at the default one.
const PORT_ATTEMPTS: u16 = 100;

/// Time between two checks whether the store and the repositories still exist. The server grants nothing without them,
/// even between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Time between two sweeps for expired locks.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

impl ServeArgs {
    /// Serves until Ctrl-C, SIGTERM or SIGHUP. A second signal stops the server at once.
    ///
    /// # Errors
    /// When the server cannot start, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<()> {
        coord_runtime::logging::start_text("warn");
        let connections = ConnectionConfig::from_env(&process_environment)?;
        listen::raise_file_limit(connections.max_connections);
        let slots = listen::ConnectionSlots::new(listen::within_file_limit(connections));
        let localhost = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = bind(self.listen.or(self.port.map(localhost))).await?;
        let address = listener.local_addr()?;
        // From here on, because a large or slow store takes a while to open.
        let mut signals = Signals::caught();
        let mut server = tokio::select! {
            server = build(&self, address) => server?,
            // A return would wait for the thread that opens the store. The server has answered nothing yet, and the
            // next start opens the store as after a crash.
            () = signals.next() => std::process::exit(0),
        };
        let idle = wait_until_idle(&self, &mut server);
        let lost = wait_until_lost(server.embedded_store.clone(), server.local_source.clone());
        let store = Arc::clone(&server.store);
        // Logs a warning about promises that the store does not keep.
        tokio::spawn(async move { store.promises().await });
        report_start(address, &server);
        let sweeper = tokio::spawn(sweep_forever(
            Arc::clone(&server.store),
            Arc::clone(&server.builds),
            Arc::clone(&server.announcement),
            server.extensions.clone(),
        ));
        let (stop, stopped) = watch::channel(());
        let mut tasks = vec![tokio::spawn(listen::serve_within(
            listen::Bounds::default(),
            slots,
            listener,
            std::mem::take(&mut server.router),
            until_stopped(stopped.clone()),
        ))];
        let fetcher = start_fetcher(&mut server, &stopped);
        #[cfg(feature = "intents")]
        tasks.extend(start_syncers(&mut server, address, &stopped)?);
        tasks.extend(fetcher);
        let mut failure = None;
        tokio::select! {
            () = signals.next() => {}
            () = idle => print_text("\nNobody needs this server any more.\n"),
            reason = lost => {
                tracing::error!("{reason}: this server ends");
                // If a command has started this server, the next command starts another one.
                failure = self.exit_when_idle.is_none().then_some(reason);
            }
        }
        print_text("\nStopping: requests in flight are finished; a second Ctrl-C stops at once.\n");
        tokio::spawn(async move {
            signals.next().await;
            // The exit status that a shell reports after Ctrl-C. Every answered write is on the disk.
            std::process::exit(130);
        });
        sweeper.abort();
        server.events.close();
        drop(stop);
        server.builds.stop().await;
        for task in tasks {
            task.await?;
        }
        match failure {
            Some(reason) => bail!("{reason}: start coord serve again where it is now"),
            None => Ok(()),
        }
    }
}

/// Completes with a sentence when the store or a served repository was deleted or replaced: the new one may have
/// another server.
async fn wait_until_lost(store: Option<EmbeddedStore>, source: Option<Arc<GitSource>>) -> String {
    let mut was_lost = false;
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let lost_store = store.as_ref().filter(|store| store.is_lost());
        let store_reason = lost_store.map(|store| format!("{} was deleted or replaced", store.describe()));
        let reason = store_reason.or_else(|| source.as_ref().and_then(|source| source.lost_reason()));
        match reason {
            // Only the second check in a row counts, so that a disk can be mounted again in between.
            Some(reason) if was_lost => return reason,
            reason => was_lost = reason.is_some(),
        }
    }
}

/// Completes when the server has been idle for the time of `--exit-when-idle`; never without this option.
fn wait_until_idle(args: &ServeArgs, server: &mut Server) -> impl Future<Output = ()> + use<> {
    let limit = args.exit_when_idle.map(|seconds| Duration::from_secs(seconds.into()));
    let last_request = limit.map(|limit| (LastRequest::now(), limit));
    if let Some((last_request, _)) = &last_request {
        let layer = axum::middleware::from_fn_with_state(last_request.clone(), note_request);
        server.router = std::mem::take(&mut server.router).layer(layer);
    }
    let events = Arc::clone(&server.events);
    let folders = args.repo.clone();
    let is_gone = move || !folders.is_empty() && folders.iter().all(|folder| !folder.exists());
    async move {
        match last_request {
            Some((last_request, limit)) => {
                last_request
                    .wait_until_idle(limit, || events.is_watched(), is_gone)
                    .await;
            }
            None => std::future::pending().await,
        }
    }
}

/// Prints the banner, and logs the clones with a separate server.
fn report_start(address: SocketAddr, server: &Server) {
    print_text(&banner::render(
        address,
        &server.store.describe(),
        &server.served,
        &server.rivals,
    ));
    for rival in &server.rivals {
        tracing::warn!("{}; to fix it: {}", rival.sentence, rival.fix);
    }
}

async fn until_stopped(mut stopped: watch::Receiver<()>) {
    // An error means that the sender was dropped, which is a stop as well.
    let _ = stopped.changed().await;
}

/// Starts to fetch the served clones, with `--fetch`.
fn start_fetcher(server: &mut Server, stopped: &watch::Receiver<()>) -> Option<JoinHandle<()>> {
    let (source, interval) = server.local_source.take().zip(server.fetch_interval)?;
    let builds = Arc::clone(&server.builds);
    let on_fetched = move || builds.recheck_all();
    let stop = until_stopped(stopped.clone());
    Some(tokio::spawn(fetch::keep_current(source, interval, stop, on_fetched)))
}

/// Starts to keep the files of the clones current, with `--sync`.
#[cfg(feature = "intents")]
fn start_syncers(
    server: &mut Server,
    address: SocketAddr,
    stopped: &watch::Receiver<()>,
) -> anyhow::Result<Vec<JoinHandle<()>>> {
    let mut syncers = Vec::new();
    for clone in std::mem::take(&mut server.synced_clones) {
        let (events, ledger_changes) = (Arc::clone(&server.events), server.ledger_changes.clone());
        let client = syncing::client(address)?;
        let stop = until_stopped(stopped.clone());
        syncers.push(tokio::spawn(syncing::keep_current(
            clone,
            client,
            events,
            ledger_changes,
            stop,
        )));
    }
    Ok(syncers)
}

/// Prints to the terminal, and ignores a closed one (`coord serve | head`).
fn print_text(text: &str) {
    let mut terminal = std::io::stdout();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

async fn bind(listen: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    if let Some(address) = listen {
        return TcpListener::bind(address).await.with_context(|| {
            format!("cannot listen on {address}; without --listen and --port, coord serve takes the next free port")
        });
    }
    for port in DEFAULT_PORT..DEFAULT_PORT + PORT_ATTEMPTS {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).with_context(|| format!("cannot listen on 127.0.0.1:{port}")),
        }
    }
    bail!(
        "no port from {DEFAULT_PORT} to {} is free; name one with --listen",
        DEFAULT_PORT + PORT_ATTEMPTS - 1
    )
}

async fn sweep_forever(
    store: Arc<dyn Store>,
    builds: Arc<BackgroundBuilds>,
    announcement: Arc<Announcement>,
    extensions: Extensions,
) {
    let mut interval = tokio::time::interval(SWEEP_INTERVAL);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        builds.recheck_all();
        let announcement = Arc::clone(&announcement);
        tokio::task::spawn_blocking(move || announcement.renew());
        match sweep_due(&*store, &extensions).await {
            Ok(report) => tracing::debug!(?report, "swept"),
            Err(error) => tracing::warn!(%error, "expired locks could not be swept"),
        }
    }
}
