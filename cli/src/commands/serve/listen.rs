//! Accepting connections: bounded in number and in time, and ended gently.

mod stream;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::Request;
use coord::http::PeerAddress;
use futures::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use stream::ImpatientStream;

/// Connections open at once, where the system lets this process have as many; more wait to be accepted.
const MOST_CONNECTIONS: usize = 4096;

/// Files that the process may need besides: repositories, the store, connections to others. A quarter of few.
const OTHER_FILES: usize = 256;

/// For this long after it was told to stop, a server goes on reading requests: what had arrived by then is answered.
const LAST_REQUESTS: Duration = Duration::from_millis(50);

/// The pause after a connection could not be accepted, and how often that is logged.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const ACCEPT_LOG: Duration = Duration::from_secs(60);

/// Longest time that requests in flight have to finish after a shutdown began.
const SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// What one connection may take. The bounds of bodies and of answers are the router's.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Longest time for the whole head of a request to arrive, however it trickles, and so also for a connection to stay idle
    /// between two requests.
    pub head_time: Duration,
    /// Most bytes of a head. More is answered 431, and so are more than a hundred headers, which is hyper's own limit.
    pub head_bytes: usize,
    /// Longest time that the other side may take nothing of an answer.
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

/// Serves `router` until `shutdown` completes, then lets requests in flight finish.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    serve_within(Bounds::default(), listener, router, shutdown).await;
}

/// The same with other bounds.
pub async fn serve_within(bounds: Bounds, listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    // Not hyper-util's `auto`: it waits without end for the first bytes, to see which version of HTTP they are.
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
        let router = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
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
                // It never changes: it ends.
                _ = stopped.changed() => {
                    if !has_read.load(Ordering::Relaxed) {
                        // Opened in advance, as browsers do: there is nothing to finish.
                        return;
                    }
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended badly");
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
                    // Out of file descriptors, or a peer that is gone already: neither ends the server.
                    if logged_at.is_none_or(|at| at.elapsed() >= ACCEPT_LOG) {
                        tracing::warn!(%error, "a connection could not be accepted; this is said once a minute");
                        logged_at = Some(Instant::now());
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        // It is an error where the semaphore is closed, which nobody does.
        let Ok(place) = place else { break };
        serve_one(stream, peer, place);
    }
    // What the system has accepted for us by now has been promised an answer.
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

/// As many as the system lets this process open, and a few less.
fn most_connections() -> usize {
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        return MOST_CONNECTIONS.min(files - OTHER_FILES.min(files / 4)).max(1);
    }
    MOST_CONNECTIONS
}

/// Lets this process open as many files as it may; many systems begin with 1,024 for the sake of programs that use `select`.
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
