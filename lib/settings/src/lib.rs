//! Settings as values: those of a deployment, read from the environment ([`variables`] lists them), and those of a
//! repository, read from its `.coord.toml` ([`policy`]).

mod approvers;
pub mod connections;
pub mod edge;
pub mod environment;
mod head_ages;
pub mod policy;
pub mod rates;
pub mod service_hosts;
pub mod variables;

use std::time::Duration;

use coord_graph::Limits;

pub use approvers::Approvers;
use coord_domain::NeighborPolicy;
use coord_protocol::bounds::WAIT_SECONDS;
use environment::number_within;
pub use environment::{ConfigError, Environment, process_environment, seconds_within, secret, value_of};
pub use head_ages::HeadAges;
pub use rates::{Rate, Rates};
pub use variables::env_vars;

/// Seconds for which a waiting claim lets later claims take its files, unless a setting changes it. Measured in
/// `cli/benches/contest`: with less, files stay free for claims that would soon have had them.
pub const QUEUE_PATIENCE_SECONDS: u32 = 180;

/// Settings of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockConfig {
    /// Seconds until a lock expires, unless it is renewed.
    pub ttl_seconds: u32,
    /// The highest `ttl_seconds` that a repository's policy can set.
    pub max_ttl_seconds: u32,
    /// Seconds for which a waiting claim lets later claims take its files.
    pub queue_patience_seconds: u32,
    /// The effect of a neighbor that is locked for writing, unless a repository's policy sets it.
    pub neighbor_policy: NeighborPolicy,
    /// Maximum seconds that a request waits.
    pub poll_max_seconds: u32,
    /// Time limit of a release for the source to report which of the released files are unchanged.
    pub comparison_time: Duration,
}

impl Default for LockConfig {
    fn default() -> Self {
        LockConfig {
            ttl_seconds: 300,
            max_ttl_seconds: 3600,
            queue_patience_seconds: QUEUE_PATIENCE_SECONDS,
            neighbor_policy: NeighborPolicy::Interface,
            poll_max_seconds: WAIT_SECONDS,
            comparison_time: Duration::from_secs(2),
        }
    }
}

impl LockConfig {
    /// Maximum lifetime of a lock without renewal: a day.
    pub const MAX_TTL_SECONDS: u32 = 86_400;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let mut config = LockConfig::default();
        config.poll_max_seconds = seconds_within(
            environment,
            env_vars::COORD_POLL_MAX_SECONDS,
            0..=WAIT_SECONDS,
            config.poll_max_seconds,
        )?;
        let problem = format!("must be a number of seconds from 1 to {}", Self::MAX_TTL_SECONDS);
        for (variable, value) in [
            (env_vars::COORD_LOCK_TTL_SECONDS, &mut config.ttl_seconds),
            (env_vars::COORD_LOCK_TTL_MAX_SECONDS, &mut config.max_ttl_seconds),
            (env_vars::COORD_QUEUE_PATIENCE, &mut config.queue_patience_seconds),
        ] {
            *value = number_within(environment, variable, 1..=Self::MAX_TTL_SECONDS, *value, &problem)?;
        }
        if let Some(text) = value_of(environment, env_vars::COORD_NEIGHBOR_POLICY) {
            let problem = "must be block, interface, warn or off";
            config.neighbor_policy = NeighborPolicy::parse(&text)
                .ok_or_else(|| ConfigError::new(env_vars::COORD_NEIGHBOR_POLICY, problem))?;
        }
        Ok(config)
    }
}

/// Whether `COORD_PUBLIC_GRAPH` allows reading graphs without a credential.
///
/// # Errors
/// When it is neither `1` nor `0`.
pub fn is_graph_public(environment: Environment<'_>) -> Result<bool, ConfigError> {
    match value_of(environment, env_vars::COORD_PUBLIC_GRAPH).as_deref() {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(_) => Err(ConfigError::new(env_vars::COORD_PUBLIC_GRAPH, "must be 1 or 0")),
    }
}

/// Limits of one graph.
///
/// # Errors
/// When a variable has an invalid value.
pub fn graph_limits(environment: Environment<'_>) -> Result<Limits, ConfigError> {
    let positive_number = |variable: &'static str, default: u64| {
        let problem = "must be a whole number, at least 1";
        number_within(environment, variable, 1..=u64::MAX, default, problem)
    };
    let default = Limits::default();
    let files = positive_number(env_vars::COORD_GRAPH_MAX_FILES, default.max_files as u64)?;
    let imports = positive_number(env_vars::COORD_GRAPH_MAX_IMPORTS, default.max_imports as u64)?;
    Ok(Limits {
        max_file_bytes: positive_number(env_vars::COORD_GRAPH_MAX_FILE_BYTES, default.max_file_bytes)?,
        max_files: usize::try_from(files).unwrap_or(usize::MAX),
        max_imports: usize::try_from(imports).unwrap_or(usize::MAX),
        max_bytes: positive_number(env_vars::COORD_GRAPH_MAX_BYTES, default.max_bytes)?,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::environment::long_secret;
    use super::*;

    fn lock_config(ttl: &str, policy: &str) -> Result<LockConfig, ConfigError> {
        LockConfig::from_env(&|name| match name {
            env_vars::COORD_LOCK_TTL_SECONDS => Some(ttl.to_owned()),
            env_vars::COORD_NEIGHBOR_POLICY => Some(policy.to_owned()),
            _ => None,
        })
    }

    #[test]
    fn an_unset_setting_has_its_default() {
        assert_eq!(LockConfig::from_env(&|_| None), Ok(LockConfig::default()));
        assert_eq!(lock_config("", "undefined"), Ok(LockConfig::default()));
    }

    #[test]
    fn a_value_that_is_not_taken_is_an_error_that_names_the_variable() {
        for (ttl, policy, variable) in [
            ("0", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("-1", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("86401", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("5m", "", env_vars::COORD_LOCK_TTL_SECONDS),
            ("", "maybe", env_vars::COORD_NEIGHBOR_POLICY),
        ] {
            assert_eq!(lock_config(ttl, policy).unwrap_err().variable, variable);
        }
    }

    #[test]
    fn the_limits_of_a_graph_are_whole_numbers() {
        let with = |value: &'static str| graph_limits(&move |_| Some(value.to_owned()));
        let limits = with("7").unwrap();
        assert_eq!((limits.max_files, limits.max_bytes, limits.max_file_bytes), (7, 7, 7));
        assert_eq!(limits.max_imports, 7);
        assert_eq!(graph_limits(&|_| None), Ok(Limits::default()));
        for refused in ["0", "-1", "4 GiB", "1e6", "1.5"] {
            assert!(with(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_short_secret_is_an_error() {
        let with = |bytes: usize| long_secret(&move |_| Some("s".repeat(bytes)), env_vars::CRON_SECRET);
        assert_eq!(with(31).unwrap_err().variable, env_vars::CRON_SECRET);
        assert!(with(32).unwrap().is_some());
        assert!(long_secret(&|_| None, env_vars::CRON_SECRET).unwrap().is_none());
    }

    #[test]
    fn an_unset_secret_is_no_secret() {
        for value in ["", "  ", "undefined", "NULL"] {
            assert!(
                secret(&|_| Some(value.to_owned()), env_vars::CRON_SECRET).is_none(),
                "{value:?}"
            );
        }
        assert!(secret(&|_| Some("s".to_owned()), env_vars::CRON_SECRET).is_some());
    }
}
