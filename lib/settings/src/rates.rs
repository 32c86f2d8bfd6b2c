//! Rate limits. The store counts, in `lib/state/src/admission/modules/limits.lua`.

use crate::environment::{ConfigError, Environment, number_within};
use crate::variables::env_vars;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Milliseconds between two requests at the sustained rate; 0 is no limit.
    pub interval_ms: u32,
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const NONE: Rate = Rate {
        interval_ms: 0,
        burst: 0,
    };

    /// The theoretical arrival time after `amount` more requests, or the seconds until they are allowed. `arrival`,
    /// `now` and the returned arrival time are in milliseconds. For limits that a process counts itself, by the same
    /// algorithm as the store.
    pub fn after(self, arrival: u64, now: u64, amount: u32) -> Result<u64, u64> {
        let interval = u64::from(self.interval_ms);
        let next = arrival.max(now) + interval * u64::from(amount.min(self.burst));
        match next.saturating_sub(now + interval * u64::from(self.burst)) {
            0 => Ok(next),
            early => Err(early.div_ceil(1_000)),
        }
    }
}

/// The rate limits in one repository. The burst of claims is 1.5 times that of reads. Renewals and releases have
/// separate limits of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Requests of one holder: one agent of a person.
    pub holder: Rate,
    /// Requests of one person, with all agents and credentials.
    pub person: Rate,
    /// Requests of all callers.
    pub repository: Rate,
    /// One person's lookups at the source, of commits that the store does not know.
    pub commit_lookups: Rate,
    /// One person's lookups at the source, of branches that the store does not know.
    pub branch_lookups: Rate,
    /// Whether the request has been counted.
    pub is_counted: bool,
}

impl Rates {
    /// No limits.
    pub const NONE: Rates = Rates {
        holder: Rate::NONE,
        person: Rate::NONE,
        repository: Rate::NONE,
        commit_lookups: Rate::NONE,
        branch_lookups: Rate::NONE,
        is_counted: false,
    };

    /// The argument of the store's functions: the interval and the burst of each rate, in the order of the fields.
    /// `None` if nothing is limited.
    pub fn as_text(&self) -> Option<String> {
        let rates = [
            self.holder,
            self.person,
            self.repository,
            self.commit_lookups,
            self.branch_lookups,
        ];
        let is_limited = rates.iter().any(|rate| *rate != Rate::NONE);
        is_limited.then(|| {
            let numbers = rates.iter().flat_map(|rate| [rate.interval_ms, rate.burst]);
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
        })
    }

    /// The limits of a request that has been counted. Only its work and its lookups at the source are still counted.
    #[must_use]
    pub fn of_counted(self) -> Rates {
        Rates {
            is_counted: true,
            ..self
        }
    }
}

/// Requests per minute of one holder: ten times those of a busy agent.
const HOLDER_PER_MINUTE: u32 = 300;
/// By default, a person may send as many requests as this number of holders.
const HOLDERS_PER_PERSON: u32 = 5;
/// Requests per minute of all holders of a repository.
const REPOSITORY_PER_MINUTE: u32 = 6_000;
/// Lookups per minute of one person at the source, for commits that the store does not know: a quarter of the 5,000
/// requests per hour that GitHub allows.
const COMMIT_LOOKUPS_PER_MINUTE: u32 = 20;
/// The same for branches, and the burst.
const BRANCH_LOOKUPS_PER_MINUTE: u32 = 20;
const BRANCH_LOOKUPS_BURST: u32 = 60;
/// The largest rate: one request per millisecond.
const MAX_PER_MINUTE: u32 = 60_000;

/// A sustained rate of `per_minute` requests, with a burst of a third of that; 0 is no limit.
fn rate(per_minute: u32) -> Rate {
    match 60_000_u32.checked_div(per_minute) {
        Some(interval_ms) => Rate {
            interval_ms,
            burst: (per_minute / 3).max(1),
        },
        None => Rate::NONE,
    }
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            holder: rate(HOLDER_PER_MINUTE),
            person: rate(HOLDERS_PER_PERSON * HOLDER_PER_MINUTE),
            repository: rate(REPOSITORY_PER_MINUTE),
            commit_lookups: Rate {
                burst: COMMIT_LOOKUPS_PER_MINUTE,
                ..rate(COMMIT_LOOKUPS_PER_MINUTE)
            },
            branch_lookups: Rate {
                burst: BRANCH_LOOKUPS_BURST,
                ..rate(BRANCH_LOOKUPS_PER_MINUTE)
            },
            is_counted: false,
        }
    }
}

impl Rates {
    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let problem = format!("must be a number of requests a minute, 1 to {MAX_PER_MINUTE}, or 0 for no limit");
        let per_minute = |variable: &'static str, default: u32| {
            number_within(environment, variable, 0..=MAX_PER_MINUTE, default, &problem)
        };
        let holder = per_minute(env_vars::COORD_LIMIT_HOLDER_PER_MINUTE, HOLDER_PER_MINUTE)?;
        let person_default = (HOLDERS_PER_PERSON * holder).min(MAX_PER_MINUTE);
        let person = per_minute(env_vars::COORD_LIMIT_PERSON_PER_MINUTE, person_default)?;
        let repository = per_minute(env_vars::COORD_LIMIT_REPOSITORY_PER_MINUTE, REPOSITORY_PER_MINUTE)?;
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
