//! Accepts connections, bounded in number and in time, with a graceful shutdown.

mod stream;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::Request;
use coord::http::{Connection, PeerAddress};
use futures::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use stream::ImpatientStream;

/// Most open connections, if the limit of open files allows that many; more wait to be accepted.
const MOST_CONNECTIONS: usize = 4096;

/// Open files kept for other uses: repositories, the store, outgoing connections. A quarter of a small limit.
const OTHER_FILES: usize = 256;

/// Time for which a server still reads requests after the start of a shutdown: requests that had arrived are answered.
const LAST_REQUESTS: Duration = Duration::from_millis(50);

/// The pause after a connection could not be accepted, and the interval of log lines about it.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const ACCEPT_LOG: Duration = Duration::from_secs(60);

/// Time that running requests have to finish after the start of a shutdown.
const SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// Limits of one connection. The router bounds bodies and responses.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Longest time for the whole head of a request to arrive, and so also for a connection to stay idle between two
    /// requests.
    pub head_time: Duration,
    /// Most bytes of a head. A longer one gets 431, and so do more than a hundred headers, hyper's own limit.
    pub head_bytes: usize,
    /// Longest time that the client may read nothing of a response.
    pub write_time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            head_time: Duration::from_secs(10),
            head_bytes: 64 * 1024,
            write_time: Duration::from_secs(20),
        }
    }
}

/// Serves `router` until `shutdown` completes, then lets running requests finish.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    serve_within(Bounds::default(), listener, router, shutdown).await;
}

/// [`serve`] with other bounds.
pub async fn serve_within(bounds: Bounds, listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    // Not hyper-util's `auto`: it waits without limit for the first bytes, to detect the version of HTTP.
    let mut http = Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(bounds.head_time)
        .max_header_size(bounds.head_bytes)
        .max_buf_size(bounds.head_bytes);
    let most = most_connections();
    let places = Arc::new(Semaphore::new(most));
    let (stop, stopped) = watch::channel(());
    let serve_one = |stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let peer = PeerAddress(peer.ip());
        let place = Connection::guarded_by(Arc::new(place));
        let router = TowerToHyperService::new(router.clone());
        let counted = place.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(counted.clone());
            router.call(request)
        });
        let stream = ImpatientStream::new(stream, bounds.write_time);
        let has_read = stream.has_read();
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                // The value never changes; the channel closes.
                _ = stopped.changed() => {
                    if !has_read.load(Ordering::Relaxed) {
                        // Opened in advance, as browsers do, and without a request to finish.
                        return;
                    }
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection failed");
            }
            drop(place);
        });
    };
    tokio::pin!(shutdown);
    let mut logged_at: Option<Instant> = None;
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut shutdown => break,
        };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // No file descriptors left, or a client that has gone: neither ends the server.
                    if logged_at.is_none_or(|at| at.elapsed() >= ACCEPT_LOG) {
                        tracing::warn!(%error, "a connection could not be accepted (logged once a minute at most)");
                        logged_at = Some(Instant::now());
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        // An error only where the semaphore is closed, which never happens.
        let Ok(place) = place else { break };
        serve_one(stream, peer, place);
    }
    // Connections that the system has accepted so far are still served.
    while let (Ok(place), Some(Ok((stream, peer)))) = (
        Arc::clone(&places).try_acquire_owned(),
        listener.accept().now_or_never(),
    ) {
        serve_one(stream, peer, place);
    }
    drop(listener);
    tokio::time::sleep(LAST_REQUESTS).await;
    drop(stop);
    let all = places.acquire_many(most as u32);
    if tokio::time::timeout(SHUTDOWN_TIME, all).await.is_err() {
        tracing::warn!("requests still in flight after {SHUTDOWN_TIME:?} are cut off");
    }
}

/// Most connections: the limit of open files, minus those kept for other uses.
fn most_connections() -> usize {
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        return MOST_CONNECTIONS.min(files - OTHER_FILES.min(files / 4)).max(1);
    }
    MOST_CONNECTIONS
}

/// Raises the limit of open files to its maximum; many systems start with 1,024 for programs that use `select`.
pub fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = (MOST_CONNECTIONS + OTHER_FILES) as u64;
        let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        if limit.current.is_some_and(|current| current < raised) {
            let limit = Rlimit {
                current: Some(raised),
                maximum: limit.maximum,
            };
            if let Err(error) = setrlimit(Resource::Nofile, limit) {
                tracing::debug!(%error, "the limit of open files could not be raised");
            }
        }
    }
}
