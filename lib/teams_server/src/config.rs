//! Settings of teams.

use coord_protocol::bounds::LEASE_SECONDS;

use coord_settings::environment::{ConfigError, Environment, seconds_within};
use coord_settings::variables::env_vars;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamConfig {
    /// How many seconds the claim of a task lasts by default.
    pub lease_seconds: u32,
}

impl Default for TeamConfig {
    fn default() -> Self {
        TeamConfig { lease_seconds: 900 }
    }
}

impl TeamConfig {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let default = TeamConfig::default();
        Ok(TeamConfig {
            lease_seconds: seconds_within(
                environment,
                env_vars::COORD_TASK_LEASE_SECONDS,
                LEASE_SECONDS,
                default.lease_seconds,
            )?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lease_is_read_within_its_bounds() {
        let with = |variable: &'static str, value: &str| {
            TeamConfig::from_env(&|name| (name == variable).then(|| value.to_owned()))
        };
        assert_eq!(TeamConfig::from_env(&|_| None), Ok(TeamConfig::default()));
        let lease = env_vars::COORD_TASK_LEASE_SECONDS;
        assert_eq!(with(lease, "30").unwrap().lease_seconds, 30);
        for (variable, value) in [(lease, "29"), (lease, "86401"), (lease, "x")] {
            assert_eq!(with(variable, value).unwrap_err().variable, variable, "{value}");
        }
    }
}
