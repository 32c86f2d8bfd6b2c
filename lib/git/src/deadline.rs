//! Work that may wait for a disk: on another thread, with a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use coord_sources::SourceError;

/// Time beyond the limit that the caller waits, so that the work can notice the deadline itself, and report details.
const GRACE: Duration = Duration::from_millis(500);

/// When work has to stop: at a time, or earlier if its caller has gone.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    time: Instant,
    limit: Duration,
    is_abandoned: Arc<AtomicBool>,
}

impl Deadline {
    pub(super) fn after(limit: Duration) -> Self {
        Deadline {
            time: Instant::now() + limit,
            limit,
            is_abandoned: Arc::default(),
        }
    }

    pub(super) fn has_passed(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed) || Instant::now() >= self.time
    }

    /// The error of work that has passed its deadline.
    pub(super) fn error(&self) -> SourceError {
        SourceError::Unreachable(format!("reading took longer than {} s", self.limit.as_secs()))
    }
}

/// Signals, when dropped, that the caller of the work has gone.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a thread for blocking work. A disk that hangs blocks that thread, and not the caller.
pub(super) async fn run<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(&Deadline) -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    let deadline = Deadline::after(limit);
    let _guard = CancelOnDrop(Arc::clone(&deadline.is_abandoned));
    let work_deadline = deadline.clone();
    let task = tokio::task::spawn_blocking(move || work(&work_deadline));
    match tokio::time::timeout(limit + GRACE, task).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => Err(SourceError::Unreachable(format!("reading stopped: {error}"))),
        Err(_) => Err(deadline.error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_without_a_waiting_caller_sees_its_deadline_pass() {
        let (started, has_started) = tokio::sync::oneshot::channel();
        let (stopped, has_stopped) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(run(Duration::from_secs(3600), move |deadline| {
            let _ = started.send(());
            while !deadline.has_passed() {
                std::thread::yield_now();
            }
            let _ = stopped.send(());
            Ok(())
        }));
        has_started.await.unwrap();
        waiting.abort();
        has_stopped.await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let answer = run(Duration::from_secs(10), |_| -> Result<(), SourceError> {
            panic!("a damaged file met a defect")
        })
        .await;
        assert!(matches!(answer, Err(SourceError::Unreachable(_))), "{answer:?}");
    }

    #[tokio::test]
    async fn work_past_its_time_is_not_waited_for() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let answer = run(Duration::ZERO, move |_| {
            let _ = held.recv();
            Ok(())
        })
        .await;
        assert!(matches!(answer, Err(SourceError::Unreachable(_))), "{answer:?}");
        drop(release);
    }
}
