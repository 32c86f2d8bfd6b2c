//! The signals that end a process.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C, SIGTERM and SIGHUP from now on; Ctrl-C alone where there are no others.
pub struct Signals {
    #[cfg(unix)]
    caught: Vec<Signal>,
}

impl Signals {
    /// Starts to catch them. A SIGHUP that is ignored, as under `nohup`, stays ignored.
    pub fn caught() -> Self {
        #[cfg(unix)]
        {
            let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
            if !is_ignored(SignalKind::hangup()) {
                kinds.push(SignalKind::hangup());
            }
            let catch = |kind| match signal(kind) {
                Ok(caught) => Some(caught),
                Err(error) => {
                    tracing::warn!(%error, ?kind, "a signal cannot be caught");
                    None
                }
            };
            Signals {
                caught: kinds.into_iter().filter_map(catch).collect(),
            }
        }
        #[cfg(not(unix))]
        Signals {}
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        {
            let each = self.caught.iter_mut().map(|signal| Box::pin(signal.recv()));
            if each.len() > 0 {
                futures::future::select_all(each).await;
                return;
            }
        }
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be caught");
            std::future::pending::<()>().await;
        }
    }
}

/// Whether the process was started with `kind` ignored, if the system tells.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}
