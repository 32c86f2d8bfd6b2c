//! Rate limits. The store counts, in `lib/state/src/admission/modules/limits.lua`.

use crate::environment::{ConfigError, Environment, value_of};
use crate::variables::env_vars;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Milliseconds between two at the sustained rate; 0 is no limit.
    pub interval_ms: u32,
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const NONE: Rate = Rate {
        interval_ms: 0,
        burst: 0,
    };

    /// The theoretical arrival time after `amount` more, or the seconds until they are allowed; times are in milliseconds. For
    /// what a process counts by itself, in the same way.
    pub fn after(self, arrival: u64, now: u64, amount: u32) -> Result<u64, u64> {
        let interval = u64::from(self.interval_ms);
        let next = arrival.max(now) + interval * u64::from(amount.min(self.burst));
        match next.saturating_sub(now + interval * u64::from(self.burst)) {
            0 => Ok(next),
            early => Err(early.div_ceil(1_000)),
        }
    }
}

/// How often something may be requested in one repository. Claims may come half as often again as reads; renewals and releases
/// have as much once more, for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// By one holder: one agent of a person.
    pub holder: Rate,
    /// By one person, with all agents and credentials together.
    pub person: Rate,
    /// By all.
    pub repository: Rate,
    /// Lookups at the source, of commits that the store does not know, for one person.
    pub source: Rate,
    /// Lookups at the source, of branches that the store does not know, for one person.
    pub new: Rate,
    /// Whether the request has been counted.
    pub is_counted: bool,
}

impl Rates {
    /// No limits.
    pub const NONE: Rates = Rates {
        holder: Rate::NONE,
        person: Rate::NONE,
        repository: Rate::NONE,
        source: Rate::NONE,
        new: Rate::NONE,
        is_counted: false,
    };

    /// As the functions read them: the interval and the burst of each, in the order of the fields; `None` where nothing is limited.
    pub fn as_text(&self) -> Option<String> {
        let rates = [self.holder, self.person, self.repository, self.source, self.new];
        let is_limited = rates.iter().any(|rate| *rate != Rate::NONE);
        is_limited.then(|| {
            let numbers = rates.iter().flat_map(|rate| [rate.interval_ms, rate.burst]);
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
        })
    }

    /// The limits of a request that has been counted: it is not counted again, but its work and its lookups at the source are.
    #[must_use]
    pub fn of_counted(self) -> Rates {
        Rates {
            is_counted: true,
            ..self
        }
    }
}

/// Requests per minute of one holder: ten times those of a busy agent.
const OF_A_HOLDER: u32 = 300;
/// By default, a person may send as many requests as this number of holders.
const HOLDERS_OF_A_PERSON: u32 = 5;
/// Requests per minute of all holders of a repository.
const OF_A_REPOSITORY: u32 = 6_000;
/// Lookups per minute of one person at the source, for commits that the store does not know: a quarter of the 5,000 requests
/// per hour that GitHub allows.
const ABOUT_COMMITS: u32 = 20;
/// The same for branches, and the burst.
const ABOUT_BRANCHES: u32 = 20;
const BRANCHES_AT_ONCE: u32 = 60;
/// The largest rate: one request per millisecond.
const LARGEST: u32 = 60_000;

/// `each_minute` sustained, a third of that as burst; 0 is no limit.
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
            person: rate(HOLDERS_OF_A_PERSON * OF_A_HOLDER),
            repository: rate(OF_A_REPOSITORY),
            source: Rate {
                burst: ABOUT_COMMITS,
                ..rate(ABOUT_COMMITS)
            },
            new: Rate {
                burst: BRANCHES_AT_ONCE,
                ..rate(ABOUT_BRANCHES)
            },
            is_counted: false,
        }
    }
}

impl Rates {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let each_minute = |variable: &'static str, default: u32| match value_of(environment, variable) {
            None => Ok(default),
            Some(text) => {
                let number = text.parse().ok().filter(|number| *number <= LARGEST);
                number.ok_or_else(|| ConfigError {
                    variable,
                    problem: format!("must be a number of requests a minute, 1 to {LARGEST}, or 0 for no limit"),
                })
            }
        };
        let holder = each_minute(env_vars::COORD_LIMIT_HOLDER_PER_MINUTE, OF_A_HOLDER)?;
        let of_a_person = (HOLDERS_OF_A_PERSON * holder).min(LARGEST);
        let person = each_minute(env_vars::COORD_LIMIT_PERSON_PER_MINUTE, of_a_person)?;
        let repository = each_minute(env_vars::COORD_LIMIT_REPOSITORY_PER_MINUTE, OF_A_REPOSITORY)?;
        Ok(Rates {
            holder: rate(holder),
            person: rate(person),
            repository: rate(repository),
            ..Rates::default()
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
        assert_eq!(with("0").unwrap().person, Rate::NONE);
        assert_eq!(with("6").unwrap().person, rate(30));
        assert_eq!(with("60000").unwrap().person, rate(60_000));
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
