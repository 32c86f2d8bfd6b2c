//! Accepting connections: bounded in number and in time, and ended gently.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

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
    /// Most bytes of a head. More is answered 431.
    pub head_bytes: usize,
    /// Most headers. More are answered 431.
    pub headers: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            head_time: Duration::from_secs(10),
            head_bytes: 64 * 1024,
            headers: 100,
        }
    }
}

/// Serves `router` until `shutdown` completes, then lets requests in flight finish.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    serve_within(Bounds::default(), listener, router, shutdown).await;
}

/// The same with other bounds.
pub async fn serve_within(bounds: Bounds, listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let mut http = Builder::new(TokioExecutor::new()).http1_only();
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_time)
        .max_buf_size(bounds.head_bytes)
        .max_headers(bounds.headers);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    tokio::pin!(shutdown);
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = &mut shutdown => break,
        };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
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
        let service = TowerToHyperService::new(router.clone());
        let connection = http
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended badly");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(SHUTDOWN_TIME, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests still in flight after {SHUTDOWN_TIME:?} are cut off");
    }
}
