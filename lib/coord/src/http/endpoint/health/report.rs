//! What `GET /api/health` answers.

use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::ToSchema;

use crate::store::{BrokenPromise, Promises};

/// What is answered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HealthReport {
    pub(super) status: Overall,
    /// Of this server.
    pub(super) version: &'static str,
    pub(super) store: StoreReport,
    pub(super) source: SourceReport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Overall {
    Ok,
    /// Locks work, and repositories cannot be read.
    Degraded,
    /// No file can be claimed.
    Down,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct StoreReport {
    pub(super) status: StoreStatus,
    /// What keeps it from working, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) cause: Option<Cause>,
    /// Milliseconds that a small write took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) latency_ms: Option<f64>,
    /// Whether it keeps what it is told, as far as it says so; asked once in ten minutes.
    pub(super) promises: PromisesStatus,
    /// What it does not promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) broken_promises: Option<BTreeSet<BrokenPromise>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PromisesStatus {
    Kept,
    /// Locks work, and may be lost: see `broken_promises`.
    Broken,
    /// The store does not say, or has not been asked yet.
    Unknown,
}

impl StoreReport {
    pub(super) fn with(mut self, promises: Promises) -> Self {
        (self.promises, self.broken_promises) = match promises {
            Promises::Kept => (PromisesStatus::Kept, None),
            Promises::Broken(broken) => (PromisesStatus::Broken, Some(broken)),
            Promises::Unknown => (PromisesStatus::Unknown, None),
        };
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoreStatus {
    Ok,
    /// It can be read, and not be written: files can be checked, and not be claimed.
    ReadOnly,
    Down,
    NotConfigured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// Redis' `maxmemory` is reached, and nothing may be evicted (`OOM`).
    OutOfMemory,
    /// The Redis that was asked is a replica (`READONLY`).
    Replica,
    /// Redis cannot save, or has too few replicas, and so takes no writes (`MISCONF`, `NOREPLICAS`).
    NotSaved,
    /// A script holds up Redis (`BUSY`).
    Busy,
    /// Redis is loading its data (`LOADING`).
    Loading,
    /// Reads are answered, and writes are not: somebody has paused them (`CLIENT PAUSE`).
    Paused,
    /// The disk of the embedded store is full, or fails.
    Disk,
}

impl Cause {
    /// The cause in an error of the store.
    pub(super) fn of(error: &str) -> Option<Cause> {
        // Redis puts the code first; in a script's error, the name of the script comes before it.
        let has = |code: &str| error.split(|c: char| !c.is_ascii_uppercase()).any(|word| word == code);
        let causes = [
            ("OOM", Cause::OutOfMemory),
            ("READONLY", Cause::Replica),
            ("MISCONF", Cause::NotSaved),
            ("NOREPLICAS", Cause::NotSaved),
            ("BUSY", Cause::Busy),
            ("LOADING", Cause::Loading),
        ];
        let told = causes.into_iter().find(|(code, _)| has(code)).map(|(_, cause)| cause);
        told.or_else(|| error.contains("the disk failed").then_some(Cause::Disk))
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct SourceReport {
    pub(super) status: SourceStatus,
    /// Until when no more questions are taken, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) limited_until: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SourceStatus {
    Ok,
    /// Not asked yet.
    Unknown,
    Limited,
    Unreachable,
    NotConfigured,
    /// There is none; heads and graphs are those that the store has.
    None,
}
