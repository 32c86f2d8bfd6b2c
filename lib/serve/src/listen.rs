//! Accepts connections, bounded in number and in time, with a graceful shutdown.
//!
//! - `slots`: how many connections may be open, and which of them is closed for a new one
//! - `stream`, `tracked_body`: a connection and its bodies, as they wait for the client

mod slots;
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

pub use slots::ConnectionSlots;
use slots::{ConnectionSlot, Phase};
use stream::ImpatientStream;
use tracked_body::TrackedBody;

/// Open files for other uses: repositories, the store, outgoing connections. At most a quarter of the limit.
const OTHER_FILES: usize = 256;

/// The response to a client whose connection is refused.
const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Time during which the server still reads requests after the start of a shutdown, so that it answers those that have
/// arrived.
const LAST_READS_TIMEOUT: Duration = Duration::from_millis(50);

/// The pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The shortest time between two log lines about the same kind of failure.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Time that running requests have to finish after the start of a shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits of one connection. The router bounds bodies and responses.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The longest time for the whole head of a request to arrive, and so also for a connection to stay idle between
    /// two requests.
    pub head_time: Duration,
    /// The greatest number of bytes of a head. A longer one gets 431. So do more than a hundred headers, which is
    /// hyper's own limit.
    pub head_bytes: usize,
    /// The longest time during which the client may read nothing of a response.
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
    let slots = ConnectionSlots::new(within_file_limit(ConnectionConfig::default()));
    serve_within(Bounds::default(), slots, listener, router, shutdown).await;
}

/// [`serve`] with other bounds, and with slots that several listeners can share.
pub async fn serve_within(
    bounds: Bounds,
    slots: Arc<ConnectionSlots>,
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let open = watch::Sender::new(());
    let (stop, stopped) = watch::channel(());
    let server = ConnectionServer::new(bounds, router, stopped);
    tokio::pin!(shutdown);
    let (mut failure_log, mut refusal_log) = (LogLimiter::default(), LogLimiter::default());
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // There are no file descriptors left, or the client has gone: neither ends the server.
                    if failure_log.is_due() {
                        tracing::warn!(%error, "a connection could not be accepted (logged once a minute at most)");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        match slots.take(peer.ip(), open.subscribe()) {
            Ok(slot) => server.start(stream, peer, slot),
            Err(limit) => {
                // Connections do not queue for a slot: the next one to be accepted may get one.
                let _ = stream.try_write(REFUSAL);
                if refusal_log.is_due() {
                    let (address, variable) = (peer.ip(), limit.variable());
                    tracing::warn!(%address, variable, "a connection is refused: there are too many (logged once a minute at most)");
                }
            }
        }
        // So that a connection that was cut off is closed before the next one is opened.
        tokio::task::yield_now().await;
    }
    // Serves the connections that the system has accepted so far.
    while let Some(Ok((stream, peer))) = listener.accept().now_or_never() {
        if let Ok(slot) = slots.take(peer.ip(), open.subscribe()) {
            server.start(stream, peer, slot);
        }
    }
    drop(listener);
    tokio::time::sleep(LAST_READS_TIMEOUT).await;
    drop(stop);
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, open.closed()).await.is_err() {
        tracing::warn!("requests still in flight after {SHUTDOWN_TIMEOUT:?} are cut off");
    }
}

/// Serves the accepted connections.
struct ConnectionServer {
    http: Builder,
    write_time: Duration,
    router: Router,
    /// Closes at the start of a shutdown.
    stopped: watch::Receiver<()>,
}

impl ConnectionServer {
    fn new(bounds: Bounds, router: Router, stopped: watch::Receiver<()>) -> Self {
        // Not hyper-util's `auto`: it waits without limit for the first bytes, to detect the version of HTTP.
        let mut http = Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(bounds.head_time)
            .max_header_size(bounds.head_bytes)
            .max_buf_size(bounds.head_bytes);
        ConnectionServer {
            http,
            write_time: bounds.write_time,
            router,
            stopped,
        }
    }

    /// Starts to serve one connection, on another task.
    fn start(&self, stream: TcpStream, peer: SocketAddr, slot: Arc<ConnectionSlot>) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let peer = PeerAddress(peer.ip());
        let router = TowerToHyperService::new(self.router.clone());
        let request_slot = Arc::clone(&slot);
        let service = service_fn(move |request: Request<Incoming>| respond(&router, request, peer, &request_slot));
        let stream = ImpatientStream::new(stream, self.write_time, Arc::clone(slot.cutoff()));
        let has_read = stream.has_read();
        let connection = self
            .http
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut stopped = self.stopped.clone();
        tokio::spawn(async move {
            tokio::pin!(connection);
            let result = tokio::select! {
                result = connection.as_mut() => result,
                // A newer connection takes its place.
                () = poll_fn(|context| slot.cutoff().poll(context)) => return,
                // The value never changes; the channel closes.
                _ = stopped.changed() => {
                    if !has_read.load(Ordering::Relaxed) {
                        // A browser has opened it in advance; there is no request to finish.
                        return;
                    }
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = result {
                tracing::debug!(%error, "a connection failed");
            }
        });
    }
}

/// The response of `router`. Updates the phase of `slot` on the way.
fn respond(
    router: &TowerToHyperService<Router>,
    request: Request<Incoming>,
    peer: PeerAddress,
    slot: &Arc<ConnectionSlot>,
) -> impl Future<Output = Result<axum::http::Response<TrackedBody<Body>>, std::convert::Infallible>> + use<> {
    slot.begin_request(!request.body().is_end_stream());
    let mut request = request.map(|body| Body::new(TrackedBody::new(body, slot, Phase::Working)));
    request.extensions_mut().insert(peer);
    let connection: Arc<dyn OpenConnection> = Arc::clone(slot) as _;
    request.extensions_mut().insert(Connection::new(connection));
    let response = router.call(request);
    let slot = Arc::clone(slot);
    async move {
        let response = response.await?;
        slot.enter_phase(Phase::Responding);
        Ok(response.map(|body| TrackedBody::new(body, &slot, Phase::Idle)))
    }
}

/// Limits one kind of log line to one in [`LOG_INTERVAL`].
#[derive(Default)]
struct LogLimiter {
    last_logged: Option<Instant>,
}

impl LogLimiter {
    fn is_due(&mut self) -> bool {
        let is_due = self.last_logged.is_none_or(|at| at.elapsed() >= LOG_INTERVAL);
        if is_due {
            self.last_logged = Some(Instant::now());
        }
        is_due
    }
}

/// `config`, with no more connections than the limit of open files allows in addition to other uses.
pub fn within_file_limit(config: ConnectionConfig) -> ConnectionConfig {
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let available_files = files - OTHER_FILES.min(files / 4);
        return ConnectionConfig {
            max_connections: config.max_connections.min(available_files).max(1),
            ..config
        };
    }
    config
}

/// Raises the limit of open files to the need of `max_connections`, or to its maximum. Many systems start with 1,024,
/// for programs that use `select`.
pub fn raise_file_limit(max_connections: usize) {
    #[cfg(not(unix))]
    let _ = max_connections;
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let needed = max_connections.saturating_add(OTHER_FILES) as u64;
        let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
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
