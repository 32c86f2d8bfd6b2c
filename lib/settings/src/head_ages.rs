//! Maximum ages of heads that are kept in the store.

use crate::environment::{ConfigError, Environment, number_within};
use crate::variables::env_vars;

/// Maximum ages of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadAges {
    /// Seconds after which the head is fetched again.
    pub refresh_after: u32,
    /// Maximum age in seconds for a claim to write, when the head cannot be fetched.
    pub for_writing: u32,
}

impl Default for HeadAges {
    fn default() -> Self {
        HeadAges {
            refresh_after: 10,
            for_writing: 60,
        }
    }
}

impl HeadAges {
    const MAX_SECONDS: u32 = 3_600;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let default = HeadAges::default();
        let seconds = |variable: &'static str, default: u32, least: u32| {
            let problem = format!("must be a number of seconds from {least} to {}", Self::MAX_SECONDS);
            number_within(
                environment,
                variable,
                least..=Self::MAX_SECONDS,
                default.max(least),
                &problem,
            )
        };
        let refresh_after = seconds(env_vars::COORD_HEAD_TTL_SECONDS, default.refresh_after, 1)?;
        Ok(HeadAges {
            refresh_after,
            for_writing: seconds(env_vars::COORD_HEAD_MAX_AGE_SECONDS, default.for_writing, refresh_after)?,
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
        let ages = |refresh_after, for_writing| {
            Ok(HeadAges {
                refresh_after,
                for_writing,
            })
        };
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
