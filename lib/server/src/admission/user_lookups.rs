//! Limits each person's lookups at the source in all repositories. Scripts count lookups in one repository, because no
//! script leaves its slot; but all lookups use the same credential of this service. So each process counts, too.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use quick_cache::unsync::Cache;

use coord_domain::UserId;
use coord_runtime::mutex::lock;
use coord_settings::Rate;
use coord_state::admission::Lookup;

/// Maximum arrival times that are remembered: two for each person.
const MAX_ARRIVALS: usize = 8_192;

/// The lookups of all persons in this process.
#[derive(Debug)]
pub struct UserLookups {
    started: Instant,
    /// Theoretical arrival times (GCRA), in milliseconds since the start.
    arrivals: Mutex<Cache<(UserId, Lookup), u64>>,
}

impl Default for UserLookups {
    fn default() -> Self {
        UserLookups {
            started: Instant::now(),
            arrivals: Mutex::new(Cache::new(MAX_ARRIVALS)),
        }
    }
}

impl UserLookups {
    /// Counts `amount` lookups of `person` if `spared` more remain after them, or returns the seconds until then.
    pub(super) fn take(&self, person: &UserId, lookups: (Lookup, u32, u32), rate: Rate) -> Result<(), u64> {
        self.take_at(self.started.elapsed(), person, lookups, rate)
    }

    /// As [`Self::take`], at the time `since_start`.
    fn take_at(
        &self,
        since_start: Duration,
        person: &UserId,
        (lookup, amount, spared): (Lookup, u32, u32),
        rate: Rate,
    ) -> Result<(), u64> {
        let now = u64::try_from(since_start.as_millis()).unwrap_or(u64::MAX);
        let key = (person.clone(), lookup);
        let mut arrivals = lock(&self.arrivals);
        let before = arrivals.get(&key).copied().unwrap_or_default();
        rate.after(before, now, amount.saturating_add(spared))?;
        let after = rate.after(before, now, amount)?;
        arrivals.insert(key, after);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_settings::Rates;

    #[test]
    fn a_person_has_one_budget_for_each_kind_of_lookup() {
        let (lookups, rates) = (UserLookups::default(), Rates::default());
        let taken = |login: &str, lookup: Lookup, rate: Rate, seconds: u64| {
            let person = UserId::parse(login).unwrap();
            let take = || lookups.take_at(Duration::from_secs(seconds), &person, (lookup, 1, 0), rate);
            (0..200).take_while(|_| take().is_ok()).count()
        };
        assert_eq!(taken("ann", Lookup::Commits, rates.commit_lookups, 0), 20);
        assert_eq!(taken("ann", Lookup::Branch, rates.branch_lookups, 0), 60);
        assert_eq!(taken("bob", Lookup::Commits, rates.commit_lookups, 0), 20);
        assert_eq!(taken("ann", Lookup::Commits, rates.commit_lookups, 6), 2);
        assert_eq!(taken("ann", Lookup::Commits, rates.commit_lookups, 600), 20);
        assert_eq!(taken("cyd", Lookup::Commits, Rate::NONE, 600), 200);
    }

    #[test]
    fn many_lookups_at_once_count_as_many() {
        let (lookups, rate) = (UserLookups::default(), Rates::default().commit_lookups);
        let ann = UserId::parse("ann").unwrap();
        let take = |amount, spared| lookups.take_at(Duration::ZERO, &ann, (Lookup::Commits, amount, spared), rate);
        assert_eq!(take(14, 6), Ok(()));
        assert_eq!(take(1, 6), Err(3));
        assert_eq!(take(1, 5), Ok(()));
        assert_eq!(take(6, 0), Err(3));
        assert_eq!(take(5, 0), Ok(()));
    }
}
