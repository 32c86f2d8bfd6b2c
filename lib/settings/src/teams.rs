//! Settings of teams.

use std::ops::RangeInclusive;

use coord_protocol::bounds::{LEASE_SECONDS, WAIT_SECONDS};

use super::environment::{ConfigError, Environment, value_of};
use super::variables::env_vars;

/// Settings of teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamConfig {
    /// Seconds that the claim of a task lasts, unless the request says otherwise.
    pub lease_seconds: u32,
    /// Most seconds that a request waits.
    pub poll_max_seconds: u32,
}

impl Default for TeamConfig {
    fn default() -> Self {
        TeamConfig {
            lease_seconds: 900,
            poll_max_seconds: WAIT_SECONDS,
        }
    }
}

impl TeamConfig {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let default = TeamConfig::default();
        let seconds = |variable, bounds: RangeInclusive<u32>, default| match value_of(environment, variable) {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(seconds) if bounds.contains(&seconds) => Ok(seconds),
                _ => Err(ConfigError {
                    variable,
                    problem: format!("must be a whole number from {} to {}", bounds.start(), bounds.end()),
                }),
            },
        };
        Ok(TeamConfig {
            lease_seconds: seconds(env_vars::COORD_TASK_LEASE_SECONDS, LEASE_SECONDS, default.lease_seconds)?,
            poll_max_seconds: seconds(
                env_vars::COORD_POLL_MAX_SECONDS,
                0..=WAIT_SECONDS,
                default.poll_max_seconds,
            )?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_read_within_its_bounds() {
        let with = |variable: &'static str, value: &str| {
            TeamConfig::from_env(&|name| (name == variable).then(|| value.to_owned()))
        };
        assert_eq!(TeamConfig::from_env(&|_| None), Ok(TeamConfig::default()));
        let (lease, poll) = (env_vars::COORD_TASK_LEASE_SECONDS, env_vars::COORD_POLL_MAX_SECONDS);
        assert_eq!(with(lease, "30").unwrap().lease_seconds, 30);
        assert_eq!(with(poll, "0").unwrap().poll_max_seconds, 0);
        for (variable, value) in [
            (lease, "29"),
            (lease, "86401"),
            (lease, "x"),
            (poll, "21"),
            (poll, "-1"),
        ] {
            assert_eq!(with(variable, value).unwrap_err().variable, variable, "{value}");
        }
    }
}
