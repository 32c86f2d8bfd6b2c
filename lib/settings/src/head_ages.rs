//! Maximum ages of heads that are kept in the store.

use crate::environment::{ConfigError, Environment, value_of};
use crate::variables::env_vars;

/// Maximum ages of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadAges {
    /// Seconds after which the head is fetched again.
    pub refresh_after: u32,
    /// Maximum age in seconds for a claim to write, when the head cannot be fetched.
    pub at_most: u32,
}

impl Default for HeadAges {
    fn default() -> Self {
        HeadAges {
            refresh_after: 10,
            at_most: 60,
        }
    }
}

impl HeadAges {
    const LONGEST: u32 = 3_600;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let default = HeadAges::default();
        let seconds = |variable: &'static str, default: u32, least: u32| match value_of(environment, variable) {
            None => Ok(default.max(least)),
            Some(text) => {
                let seconds = text.parse().ok();
                let seconds = seconds.filter(|seconds| (least..=Self::LONGEST).contains(seconds));
                seconds.ok_or_else(|| ConfigError {
                    variable,
                    problem: format!("must be a number of seconds from {least} to {}", Self::LONGEST),
                })
            }
        };
        let refresh_after = seconds(env_vars::COORD_HEAD_TTL_SECONDS, default.refresh_after, 1)?;
        Ok(HeadAges {
            refresh_after,
            at_most: seconds(env_vars::COORD_HEAD_MAX_AGE_SECONDS, default.at_most, refresh_after)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_seconds_within_bounds() {
        let with = |ttl: &'static str, most: &'static str| {
            HeadAges::from_env(&move |name| match name {
                env_vars::COORD_HEAD_TTL_SECONDS => Some(ttl.to_owned()),
                env_vars::COORD_HEAD_MAX_AGE_SECONDS => Some(most.to_owned()),
                _ => None,
            })
        };
        let ages = |refresh_after, at_most| Ok(HeadAges { refresh_after, at_most });
        assert_eq!(with("", "undefined"), Ok(HeadAges::default()));
        assert_eq!(with("1", "1"), ages(1, 1));
        assert_eq!(with("90", ""), ages(90, 90));
        for (ttl, most, variable) in [
            ("0", "", env_vars::COORD_HEAD_TTL_SECONDS),
            ("3601", "", env_vars::COORD_HEAD_TTL_SECONDS),
            ("10 s", "", env_vars::COORD_HEAD_TTL_SECONDS),
            ("30", "29", env_vars::COORD_HEAD_MAX_AGE_SECONDS),
            ("", "-1", env_vars::COORD_HEAD_MAX_AGE_SECONDS),
        ] {
            assert_eq!(with(ttl, most).unwrap_err().variable, variable, "{ttl} {most}");
        }
    }
}
