//! Work that a function does after its response. The platform may freeze a function's process once the response is out,
//! unless the runtime knows which futures to wait for. The runtime passes a context with each request.
//! [`AfterResponse`] wraps the service that gets both, and the code that handles the request calls [`defer`].

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::mutex::lock;

/// Time from the start of a request within which its deferred work must end. A function's `maxDuration` in
/// `vercel.json` counts from the same instant, and leaves time to record in the store how the work ended.
pub const TIME_LIMIT: Duration = Duration::from_secs(270);

tokio::task_local! {
    static PENDING: Arc<Pending>;
}

/// The deferred work of one request.
struct Pending {
    work: Mutex<Vec<BoxFuture<'static, ()>>>,
    allotted: TimeAllotment,
}

/// The time that deferred work has.
#[derive(Clone, Copy, Debug)]
pub struct TimeAllotment {
    /// Start of the request.
    pub began: Instant,
    /// Deadline of the work.
    pub end_by: Instant,
}

/// Defers `work` until the current request has its response. Returns false, and drops `work`, if no [`AfterResponse`]
/// waits for it, or if the current task is not that of the request.
pub fn defer<F>(work: impl FnOnce(TimeAllotment) -> F) -> bool
where
    F: Future<Output = ()> + Send + 'static,
{
    let add_work = |pending: &Arc<Pending>| {
        let mut futures = lock(&pending.work);
        futures.push(work(pending.allotted).boxed());
    };
    PENDING.try_with(add_work).is_ok()
}

/// Passes deferred work to the runtime once the request has a response or was cancelled. This is the outermost layer.
#[derive(Clone, Copy, Debug)]
pub struct AfterResponse<W> {
    wait_until: W,
    time_limit: Duration,
}

impl<W> AfterResponse<W> {
    /// `wait_until` gets the context of a request, and a future that the runtime must run to its end.
    pub fn new(wait_until: W) -> Self {
        AfterResponse {
            wait_until,
            time_limit: TIME_LIMIT,
        }
    }

    /// Replaces [`TIME_LIMIT`].
    pub fn within(self, time_limit: Duration) -> Self {
        AfterResponse { time_limit, ..self }
    }
}

impl<S, W: Clone> Layer<S> for AfterResponse<W> {
    type Service = AfterResponseService<S, W>;

    fn layer(&self, inner: S) -> Self::Service {
        AfterResponseService {
            inner,
            layer: self.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct AfterResponseService<S, W> {
    inner: S,
    layer: AfterResponse<W>,
}

impl<S, W, C, R> Service<(C, R)> for AfterResponseService<S, W>
where
    S: Service<(C, R)>,
    S::Future: Send + 'static,
    W: Fn(&C, BoxFuture<'static, ()>) + Clone + Send + 'static,
    C: Clone + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, (context, request): (C, R)) -> Self::Future {
        let began = Instant::now();
        let pending = Arc::new(Pending {
            work: Mutex::default(),
            allotted: TimeAllotment {
                began,
                end_by: began + self.layer.time_limit,
            },
        });
        let handover = WorkHandover {
            pending: Arc::clone(&pending),
            context: context.clone(),
            wait_until: self.layer.wait_until.clone(),
        };
        let response = PENDING.sync_scope(Arc::clone(&pending), || self.inner.call((context, request)));
        Box::pin(async move {
            // Dropped once the response is ready, or when the client disconnects before that.
            let _handover = handover;
            PENDING.scope(pending, response).await
        })
    }
}

/// Passes the deferred work to the runtime when dropped.
struct WorkHandover<C, W: Fn(&C, BoxFuture<'static, ()>)> {
    pending: Arc<Pending>,
    context: C,
    wait_until: W,
}

impl<C, W: Fn(&C, BoxFuture<'static, ()>)> Drop for WorkHandover<C, W> {
    fn drop(&mut self) {
        let work = std::mem::take(&mut *lock(&self.pending.work));
        for future in work {
            (self.wait_until)(&self.context, future);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::path::Path;

    use tokio::sync::mpsc;
    use tower::service_fn;

    use super::*;

    type Runtime = mpsc::UnboundedSender<BoxFuture<'static, ()>>;

    fn wait_until(runtime: &Runtime, work: BoxFuture<'static, ()>) {
        runtime.send(work).unwrap();
    }

    #[tokio::test]
    async fn deferred_work_is_handed_over_once_the_answer_is_ready() {
        let (runtime, mut handed) = mpsc::unbounded_channel();
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let inner = service_fn(move |(_, request): (Runtime, &'static str)| {
            let sender = sender.clone();
            async move {
                let work_sender = sender.clone();
                assert!(defer(|_| async move { work_sender.send("deferred").unwrap() }));
                tokio::task::yield_now().await;
                sender.send(request).unwrap();
                Ok::<_, Infallible>(())
            }
        });
        let mut service = AfterResponse::new(wait_until).layer(inner);
        service.call((runtime.clone(), "answered")).await.unwrap();
        handed.try_recv().unwrap().await;
        assert_eq!(
            [receiver.try_recv(), receiver.try_recv()],
            [Ok("answered"), Ok("deferred")]
        );
        // The same for a cancelled request.
        let mut given_up = service.call((runtime, "never"));
        assert!(futures::poll!(&mut given_up).is_pending());
        assert!(handed.try_recv().is_err());
        drop(given_up);
        handed.try_recv().unwrap().await;
        assert_eq!(receiver.try_recv(), Ok("deferred"));
    }

    #[tokio::test]
    async fn nothing_is_deferred_where_nothing_waits() {
        assert!(!defer(|_| async { panic!("nobody runs it") }));
    }

    #[tokio::test]
    async fn the_time_counts_from_the_beginning_of_the_request() {
        const PAUSE: Duration = Duration::from_millis(50);
        let (runtime, _handed) = mpsc::unbounded_channel();
        let inner = service_fn(async |_: (Runtime, ())| {
            let mut left = None;
            tokio::time::sleep(PAUSE).await;
            defer(|allotted| {
                left = Some((allotted.end_by - allotted.began, allotted.end_by - Instant::now()));
                async {}
            });
            Ok::<_, Infallible>(left)
        });
        let limit = Duration::from_secs(60);
        let layer = AfterResponse::new(wait_until).within(limit);
        let (whole, left) = layer.layer(inner).call((runtime, ())).await.unwrap().unwrap();
        assert_eq!(whole, limit);
        assert!(left <= limit - PAUSE, "{left:?}");
    }

    /// A store call may take 8 s. Recording how the work ended is one call; the limit leaves room for two.
    #[test]
    fn functions_that_defer_work_may_run_for_longer_than_it_takes() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let settings = std::fs::read_to_string(root.join("vercel.json")).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
        let mut limits = BTreeMap::new();
        for function in std::fs::read_dir(root.join("api")).unwrap() {
            let name = function.unwrap().file_name().into_string().unwrap();
            let main = std::fs::read_to_string(root.join("api").join(&name)).unwrap();
            if main.contains("AfterResponse") {
                let limit = settings["functions"][format!("api/{name}")]["maxDuration"].as_u64();
                limits.insert(name, Duration::from_secs(limit.unwrap()));
            }
        }
        assert!(limits.contains_key("graph.rs"), "{limits:?}");
        let least = TIME_LIMIT + Duration::from_secs(16);
        let short: Vec<_> = limits.iter().filter(|(_, limit)| **limit < least).collect();
        assert!(short.is_empty(), "{short:?}");
    }
}
