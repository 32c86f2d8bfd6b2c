//! How often may be asked: the settings. The counting is in the store, `scripts/includes/limits.lua`.

use crate::config::{ConfigError, Environment, env_vars, value_of};
use crate::store::scripts::{Rate, Rates};

/// Questions a minute of one holder: ten times what a busy agent asks.
const OF_A_HOLDER: u32 = 300;
/// Questions a minute of all holders of a repository.
const OF_A_REPOSITORY: u32 = 6_000;
/// Credentials and branches a minute that are new to a repository.
const OF_WHAT_IS_NEW: u32 = 60;
/// The largest rate: one each millisecond.
const LARGEST: u32 = 60_000;

/// `each_minute` on the long run, a third of that at once; 0 is no limit.
fn rate(each_minute: u32) -> Rate {
    match 60_000_u32.checked_div(each_minute) {
        Some(interval_ms) => Rate {
            interval_ms,
            burst: (each_minute / 3).max(1),
        },
        None => Rate::NONE,
    }
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            holder: rate(OF_A_HOLDER),
            repository: rate(OF_A_REPOSITORY),
            new: Rate {
                burst: 2 * OF_WHAT_IS_NEW,
                ..rate(OF_WHAT_IS_NEW)
            },
        }
    }
}

impl Rates {
    /// # Errors
    /// When a variable is set to something that it does not take.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let set = |variable: &'static str, default: Rate| match value_of(environment, variable) {
            None => Ok(default),
            Some(text) => {
                let number = text.parse().ok().filter(|number| *number <= LARGEST);
                number.map(rate).ok_or_else(|| ConfigError {
                    variable,
                    problem: format!("must be a number of questions a minute, 1 to {LARGEST}, or 0 for no limit"),
                })
            }
        };
        let default = Rates::default();
        Ok(Rates {
            holder: set(env_vars::COORD_LIMIT_HOLDER_PER_MINUTE, default.holder)?,
            repository: set(env_vars::COORD_LIMIT_REPOSITORY_PER_MINUTE, default.repository)?,
            new: default.new,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_questions_a_minute() {
        let with = |text: &'static str| {
            Rates::from_env(&move |name| (name == env_vars::COORD_LIMIT_HOLDER_PER_MINUTE).then(|| text.to_owned()))
        };
        assert_eq!(with(""), Ok(Rates::default()));
        assert_eq!(with("0").unwrap().holder, Rate::NONE);
        let one = Rate {
            interval_ms: 60_000,
            burst: 1,
        };
        assert_eq!(with("1").unwrap().holder, one);
        assert_eq!(with("60000").unwrap().holder.interval_ms, 1);
        assert_eq!(with("300").unwrap(), Rates::default());
        for refused in ["-1", "60001", "5/s", "1.5"] {
            let error = with(refused).unwrap_err();
            assert_eq!(error.variable, env_vars::COORD_LIMIT_HOLDER_PER_MINUTE);
        }
    }
}
