//! Accepting connections: bounded in number and in time, and ended gently.

mod stream;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use coord::http::PeerAddress;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use stream::ImpatientStream;

/// Connections open at once; more wait to be accepted.
const MOST_CONNECTIONS: usize = 4096;

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
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let (stop, stopped) = watch::channel(());
    tokio::pin!(shutdown);
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
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
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
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                // It never changes: it ends.
                _ = stopped.changed() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended badly");
            }
            drop(place);
        });
    }
    drop((listener, stop));
    let all = places.acquire_many(MOST_CONNECTIONS as u32);
    if tokio::time::timeout(SHUTDOWN_TIME, all).await.is_err() {
        tracing::warn!("requests still in flight after {SHUTDOWN_TIME:?} are cut off");
    }
}
