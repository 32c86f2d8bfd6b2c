//! Accepts connections, bounded in number and in time, with a graceful shutdown.
//!
//! - `places`: how many connections there may be, and which of them makes room for a new one
//! - `stream`, `tracked_body`: a connection and its bodies, as they wait for the client

mod places;
mod stream;
mod tracked_body;

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use coord_http::{Connection, OpenConnection, PeerAddress};
use coord_settings::connections::ConnectionConfig;
use futures::FutureExt;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub use places::Places;
use places::{ConnectionPlace, Phase};
use stream::ImpatientStream;
use tracked_body::TrackedBody;

/// Open files kept for other uses: repositories, the store, outgoing connections. A quarter of a small limit.
const OTHER_FILES: usize = 256;

/// The response to a client without a place.
const NO_PLACE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Time for which a server still reads requests after the start of a shutdown: requests that had arrived are answered.
const LAST_REQUESTS: Duration = Duration::from_millis(50);

/// The pause after a connection could not be accepted, and the interval of log lines about connections without a place.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const LOG_EVERY: Duration = Duration::from_secs(60);

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
    let places = Places::new(within_file_limit(ConnectionConfig::default()));
    serve_within(Bounds::default(), places, listener, router, shutdown).await;
}

/// [`serve`] with other bounds, and with places that several listeners share.
pub async fn serve_within(
    bounds: Bounds,
    places: Arc<Places>,
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    // Not hyper-util's `auto`: it waits without limit for the first bytes, to detect the version of HTTP.
    let mut http = Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(bounds.head_time)
        .max_header_size(bounds.head_bytes)
        .max_buf_size(bounds.head_bytes);
    let open = watch::Sender::new(());
    let (stop, stopped) = watch::channel(());
    let serve_one = |stream: TcpStream, peer: SocketAddr, place: Arc<ConnectionPlace>| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let peer = PeerAddress(peer.ip());
        let router = TowerToHyperService::new(router.clone());
        let of_requests = Arc::clone(&place);
        let service = service_fn(move |request: Request<Incoming>| answer(&router, request, peer, &of_requests));
        let stream = ImpatientStream::new(stream, bounds.write_time, Arc::clone(place.cut()));
        let has_read = stream.has_read();
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                // It makes room for another one.
                () = poll_fn(|context| place.cut().poll(context)) => return,
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
        });
    };
    tokio::pin!(shutdown);
    let (mut failed, mut refused) = (LogTimes::default(), LogTimes::default());
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // No file descriptors left, or a client that has gone: neither ends the server.
                    if failed.is_due() {
                        tracing::warn!(%error, "a connection could not be accepted (logged once a minute at most)");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        match places.take(peer.ip(), open.subscribe()) {
            Ok(place) => serve_one(stream, peer, place),
            Err(full) => {
                // Nobody waits for its turn: what is to be accepted next may find a place.
                let _ = stream.try_write(NO_PLACE);
                if refused.is_due() {
                    let (address, variable) = (peer.ip(), full.variable());
                    tracing::warn!(%address, variable, "a connection is refused: there are too many (logged once a minute at most)");
                }
            }
        }
        // So that a connection that has made room is closed before the next one is opened.
        tokio::task::yield_now().await;
    }
    // Connections that the system has accepted so far are still served.
    while let Some(Ok((stream, peer))) = listener.accept().now_or_never() {
        if let Ok(place) = places.take(peer.ip(), open.subscribe()) {
            serve_one(stream, peer, place);
        }
    }
    drop(listener);
    tokio::time::sleep(LAST_REQUESTS).await;
    drop(stop);
    if tokio::time::timeout(SHUTDOWN_TIME, open.closed()).await.is_err() {
        tracing::warn!("requests still in flight after {SHUTDOWN_TIME:?} are cut off");
    }
}

/// The response of `router`, while `place` follows what the connection waits for.
fn answer(
    router: &TowerToHyperService<Router>,
    request: Request<Incoming>,
    peer: PeerAddress,
    place: &Arc<ConnectionPlace>,
) -> impl Future<Output = Result<axum::http::Response<TrackedBody<Body>>, std::convert::Infallible>> + use<> {
    place.begin(!request.body().is_end_stream());
    let mut request = request.map(|body| Body::new(TrackedBody::new(body, place, Phase::Working)));
    request.extensions_mut().insert(peer);
    let connection: Arc<dyn OpenConnection> = Arc::clone(place) as _;
    request.extensions_mut().insert(Connection::new(connection));
    let answering = router.call(request);
    let place = Arc::clone(place);
    async move {
        let response = answering.await?;
        place.go_on(Phase::Responding);
        Ok(response.map(|body| TrackedBody::new(body, &place, Phase::Idle)))
    }
}

/// When something was logged last that is logged once a minute.
#[derive(Default)]
struct LogTimes(Option<Instant>);

impl LogTimes {
    fn is_due(&mut self) -> bool {
        let is_due = self.0.is_none_or(|at| at.elapsed() >= LOG_EVERY);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

/// `config`, with no more connections than the limit of open files leaves beside other uses.
pub fn within_file_limit(config: ConnectionConfig) -> ConnectionConfig {
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let most = config.most.min(files - OTHER_FILES.min(files / 4)).max(1);
        return ConnectionConfig { most, ..config };
    }
    config
}

/// Raises the limit of open files to what `most` connections need, or to its maximum; many systems start with 1,024 for programs
/// that use `select`.
pub fn raise_file_limit(most: usize) {
    #[cfg(not(unix))]
    let _ = most;
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = most.saturating_add(OTHER_FILES) as u64;
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
