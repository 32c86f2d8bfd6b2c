//! Checks whether the store and the source work.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use futures::future::{Either, select};

use super::promise_keeper::PromiseKeeper;
use super::report::{
    BadSetting, Cause, HealthReport, Overall, PromisesStatus, SourceReport, SourceStatus, StoreReport, StoreStatus,
};
use coord_sources::{Source, SourceHealth};
use coord_state::health::probe;
use coord_store::{Store, StoreError};

/// Time limit of a probe.
const PROBE_TIME: Duration = Duration::from_secs(2);

pub(super) async fn check_health(
    store: &Arc<dyn Store>,
    promises: &PromiseKeeper,
    source: Option<Arc<dyn Source>>,
    misconfigured: Option<BadSetting>,
) -> HealthReport {
    let report = probe_store(&**store).await;
    let is_responding = matches!(report.status, StoreStatus::Ok | StoreStatus::ReadOnly);
    let store = report.with(promises.current_promises(store, is_responding).await);
    let source = probe_source(source).await;
    let status = match (store.status, source.status) {
        (StoreStatus::Down | StoreStatus::ReadOnly | StoreStatus::NotConfigured, _) => Overall::Down,
        (StoreStatus::Ok, SourceStatus::Ok | SourceStatus::Unknown | SourceStatus::None) => Overall::Ok,
        (StoreStatus::Ok, SourceStatus::Limited | SourceStatus::Unreachable | SourceStatus::NotConfigured) => {
            Overall::Degraded
        }
    };
    HealthReport {
        status,
        version: env!("CARGO_PKG_VERSION"),
        store,
        source,
        misconfigured,
    }
}

/// Probes the store. Error messages go only to the log, because they may name hosts.
async fn probe_store(store: &dyn Store) -> StoreReport {
    let started = Instant::now();
    let write = async {
        let result = tokio::time::timeout(PROBE_TIME, probe(store)).await;
        (result, started.elapsed())
    };
    // Both run at once: if the write fails, only the ping shows whether the store can be read.
    let mut ping = pin!(ping_store(store));
    let ((write_result, elapsed), ping_result) = match select(ping.as_mut(), pin!(write)).await {
        Either::Left((ping_result, write)) => (write.await, Some(ping_result)),
        Either::Right((write_result, _)) => (write_result, None),
    };
    let report = |status, cause| StoreReport {
        status,
        cause,
        latency_ms: (status == StoreStatus::Ok).then(|| elapsed.as_micros() as f64 / 1000.0),
        promises: PromisesStatus::Unknown,
        broken_promises: None,
    };
    let (reason, mut cause) = match write_result {
        Ok(Ok(())) => return report(StoreStatus::Ok, None),
        Ok(Err(StoreError::NotConfigured(message))) => {
            tracing::warn!(message, "no store is configured");
            return report(StoreStatus::NotConfigured, None);
        }
        Ok(Err(StoreError::Failed(error))) => {
            let cause = Cause::of(&error);
            (error, cause)
        }
        Ok(Err(error @ StoreError::Timeout(_))) => (error.to_string(), Some(Cause::Paused)),
        Ok(Err(error)) => (error.to_string(), None),
        Err(_) => (format!("nothing within {PROBE_TIME:?}"), Some(Cause::Paused)),
    };
    let ping_result = match ping_result {
        Some(result) => result,
        None => ping.await,
    };
    let status = match (&ping_result, cause) {
        // While Redis is busy or paused, scripts that read have to wait as well.
        (Ok(()), Some(Cause::Busy | Cause::Loading | Cause::Paused)) => StoreStatus::Down,
        (Ok(()), _) => StoreStatus::ReadOnly,
        // A Redis that cannot save refuses a PING like a write, but responds to reads.
        (Err(error), Some(Cause::NotSaved)) if Cause::of(error) == cause => StoreStatus::ReadOnly,
        (Err(error), _) => {
            cause = cause
                .filter(|cause| *cause != Cause::Paused)
                .or_else(|| Cause::of(error));
            StoreStatus::Down
        }
    };
    tracing::warn!(%reason, ?status, ?cause, "the store cannot be written");
    report(status, cause)
}

/// Checks whether the store responds.
async fn ping_store(store: &dyn Store) -> Result<(), String> {
    match tokio::time::timeout(PROBE_TIME, store.responds()).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(StoreError::Failed(error))) => Err(error),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("nothing within {PROBE_TIME:?}")),
    }
}

async fn probe_source(source: Option<Arc<dyn Source>>) -> SourceReport {
    let Some(source) = source else {
        return SourceReport {
            status: SourceStatus::None,
            limited_until: None,
        };
    };
    // The source may read a disk that does not respond.
    let check = tokio::task::spawn_blocking(move || source.health());
    let health = match tokio::time::timeout(PROBE_TIME, check).await {
        Ok(Ok(health)) => health,
        _ => SourceHealth::Unreachable,
    };
    let (status, until) = match health {
        SourceHealth::Ok => (SourceStatus::Ok, None),
        SourceHealth::Unknown => (SourceStatus::Unknown, None),
        SourceHealth::Limited { until } => (SourceStatus::Limited, Some(until)),
        SourceHealth::Unreachable => (SourceStatus::Unreachable, None),
        SourceHealth::NotConfigured => (SourceStatus::NotConfigured, None),
    };
    SourceReport {
        status,
        limited_until: until.and_then(|until| Some(until.duration_since(UNIX_EPOCH).ok()?.as_secs())),
    }
}
