//! The response of `GET /api/health`.

use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::ToSchema;

use coord_settings::environment::ConfigError;
use coord_store::{BrokenPromise, Promises};

/// The health of the service.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HealthReport {
    pub(super) status: Overall,
    /// The version of this server.
    pub(super) version: &'static str,
    pub(super) store: StoreReport,
    pub(super) source: SourceReport,
    /// The setting that this deployment cannot use. Until it is fixed, every request is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) misconfigured: Option<BadSetting>,
}

/// A setting that cannot be used. Its value is only in the log, if at all.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct BadSetting {
    /// The environment variable.
    pub(super) variable: &'static str,
    pub(super) problem: SettingProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SettingProblem {
    /// A secret of fewer than 32 bytes: `openssl rand -hex 32` makes one.
    TooShort,
    /// The log says why.
    Invalid,
}

impl From<&ConfigError> for BadSetting {
    fn from(error: &ConfigError) -> Self {
        BadSetting {
            variable: error.variable,
            problem: match error.is_short_secret() {
                true => SettingProblem::TooShort,
                false => SettingProblem::Invalid,
            },
        }
    }
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
    /// Why it does not work, if it reports a cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) cause: Option<Cause>,
    /// Milliseconds that a small write took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) latency_ms: Option<f64>,
    /// Whether it promises to keep its data, as far as it reports that; read every ten minutes.
    pub(super) promises: PromisesStatus,
    /// The promises that it does not make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) broken_promises: Option<BTreeSet<BrokenPromise>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PromisesStatus {
    Kept,
    /// Locks work, but may be lost: see `broken_promises`.
    Broken,
    /// The store does not report it, or has not been queried yet.
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
    /// It can be read, but not written: files can be checked, but not claimed.
    ReadOnly,
    Down,
    NotConfigured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// Redis' `maxmemory` is reached, and nothing may be evicted (`OOM`).
    OutOfMemory,
    /// The Redis is a replica (`READONLY`).
    Replica,
    /// Redis cannot save, or has too few replicas, and so accepts no writes (`MISCONF`, `NOREPLICAS`).
    NotSaved,
    /// A script holds up Redis (`BUSY`).
    Busy,
    /// Redis is loading its data (`LOADING`).
    Loading,
    /// Reads work, but writes are paused (`CLIENT PAUSE`).
    Paused,
    /// The disk of the embedded store is full, or fails.
    Disk,
}

impl Cause {
    /// The cause in an error of the store.
    pub(super) fn of(error: &str) -> Option<Cause> {
        // An error of Redis begins with the code; in a script's error, the name of the script precedes it.
        let has_code = |code: &str| error.split(|c: char| !c.is_ascii_uppercase()).any(|word| word == code);
        let causes = [
            ("OOM", Cause::OutOfMemory),
            ("READONLY", Cause::Replica),
            ("MISCONF", Cause::NotSaved),
            ("NOREPLICAS", Cause::NotSaved),
            ("BUSY", Cause::Busy),
            ("LOADING", Cause::Loading),
        ];
        let cause = causes.into_iter().find(|(code, _)| has_code(code));
        let cause = cause.map(|(_, cause)| cause);
        cause.or_else(|| error.contains("the disk failed").then_some(Cause::Disk))
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct SourceReport {
    pub(super) status: SourceStatus,
    /// When its rate limit ends, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) limited_until: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SourceStatus {
    Ok,
    /// Not queried yet.
    Unknown,
    Limited,
    Unreachable,
    NotConfigured,
    /// There is none; heads and graphs are those that the store has.
    None,
}
