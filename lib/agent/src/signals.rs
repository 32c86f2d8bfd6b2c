//! The signals that end a process.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Catches Ctrl-C, SIGTERM and SIGHUP, or Ctrl-C alone on systems without the others.
pub struct Signals {
    #[cfg(unix)]
    signals: Vec<Signal>,
}

impl Signals {
    /// Starts to catch the signals. An ignored SIGHUP, as under `nohup`, stays ignored.
    pub fn caught() -> Self {
        #[cfg(unix)]
        {
            let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
            if !is_ignored(SignalKind::hangup()) {
                kinds.push(SignalKind::hangup());
            }
            let catch = |kind| match signal(kind) {
                Ok(signal) => Some(signal),
                Err(error) => {
                    tracing::warn!(%error, ?kind, "a signal cannot be caught");
                    None
                }
            };
            Signals {
                signals: kinds.into_iter().filter_map(catch).collect(),
            }
        }
        #[cfg(not(unix))]
        Signals {}
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        {
            let receivers = self.signals.iter_mut().map(|signal| Box::pin(signal.recv()));
            if receivers.len() > 0 {
                futures::future::select_all(receivers).await;
                return;
            }
        }
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be caught");
            std::future::pending::<()>().await;
        }
    }
}

/// Whether the process was started with `kind` ignored. `false` on systems that do not report it.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}
