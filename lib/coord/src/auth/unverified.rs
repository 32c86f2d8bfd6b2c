use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use quick_cache::unsync::Cache;

/// Maximum of addresses remembered.
const MOST_ADDRESSES: usize = 4_096;

/// Milliseconds between two credentials at the sustained rate, and the burst.
type Rate = (u64, u64);

/// Limit of one address: 30 per minute.
const OF_AN_ADDRESS: Rate = (2_000, 60);
/// Limit of all addresses together: 200 per minute. After many bad credentials, GitHub refuses good ones from this process
/// too.
const OF_ALL: Rate = (300, 200);
/// Limit of one address for unknown credentials that are read from the store: 600 per minute, twenty times those that are verified.
/// All together have none, since a process that has just started knows nobody.
const READ_OF_AN_ADDRESS: Rate = (100, 600);

/// The unverified-caller limit: how many unknown credentials are verified, for each source address and in the whole process; or
/// how many are read from the store. Credentials that turn out to be good do not count.
#[derive(Debug)]
pub struct UnverifiedLimit {
    of_an_address: Rate,
    of_all: Option<Rate>,
    started: Instant,
    arrivals: Mutex<Arrivals>,
}

/// Theoretical arrival times (GCRA), in milliseconds since the start.
#[derive(Debug)]
struct Arrivals {
    of_all: u64,
    by_address: Cache<IpAddr, u64>,
}

impl Default for UnverifiedLimit {
    fn default() -> Self {
        UnverifiedLimit::of(OF_AN_ADDRESS, Some(OF_ALL))
    }
}

impl UnverifiedLimit {
    /// The limit of credentials that are read from the store.
    pub fn of_reads() -> Self {
        UnverifiedLimit::of(READ_OF_AN_ADDRESS, None)
    }

    fn of(of_an_address: Rate, of_all: Option<Rate>) -> Self {
        UnverifiedLimit {
            of_an_address,
            of_all,
            started: Instant::now(),
            arrivals: Mutex::new(Arrivals {
                of_all: 0,
                by_address: Cache::new(MOST_ADDRESSES),
            }),
        }
    }

    /// Counts one credential from `address`.
    ///
    /// # Errors
    /// When the limit is exceeded, with the seconds until the next attempt.
    pub fn take(&self, address: IpAddr) -> Result<(), u64> {
        self.take_at(address, self.started.elapsed())
    }

    fn take_at(&self, address: IpAddr, since_start: Duration) -> Result<(), u64> {
        let now = since_start.as_millis() as u64;
        let address = network(address);
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let before = arrivals.by_address.get(&address).copied().unwrap_or_default();
        let own = next(before, now, self.of_an_address)?;
        let of_all = match self.of_all {
            Some(rate) => next(arrivals.of_all, now, rate)?,
            None => 0,
        };
        arrivals.by_address.insert(address, own);
        arrivals.of_all = of_all;
        Ok(())
    }

    /// Takes back the count of one credential, which is good.
    pub fn give_back(&self, address: IpAddr) {
        let address = network(address);
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let of_all = self.of_all.map_or(0, |(interval, _)| interval);
        arrivals.of_all = arrivals.of_all.saturating_sub(of_all);
        if let Some(own) = arrivals.by_address.get(&address).copied() {
            arrivals
                .by_address
                .insert(address, own.saturating_sub(self.of_an_address.0));
        }
    }
}

/// The arrival time after one more credential, or the seconds until one more is allowed.
fn next(arrival: u64, now: u64, (interval, burst): Rate) -> Result<u64, u64> {
    let next = arrival.max(now) + interval;
    let early = next.saturating_sub(now + interval * burst);
    if early > 0 {
        return Err(early.div_ceil(1_000));
    }
    Ok(next)
}

/// The addresses of one subscriber: an IPv4 address, or an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// How many of `count` credentials are admitted.
    fn looked_at(limit: &UnverifiedLimit, text: &str, count: usize, seconds: u64) -> usize {
        let take = |_: &usize| limit.take_at(address(text), Duration::from_secs(seconds)).is_ok();
        (0..count).filter(take).count()
    }

    #[test]
    fn one_address_uses_up_its_own_share_and_nobody_elses() {
        let limit = UnverifiedLimit::default();
        assert_eq!(looked_at(&limit, "192.0.2.1", 500, 0), 60);
        assert_eq!(looked_at(&limit, "192.0.2.2", 10, 0), 10);
        assert_eq!(limit.take_at(address("192.0.2.1"), Duration::ZERO), Err(2));
        // Thirty more a minute later.
        assert_eq!(looked_at(&limit, "192.0.2.1", 500, 60), 30);
    }

    #[test]
    fn all_addresses_together_have_a_limit() {
        let limit = UnverifiedLimit::default();
        let all: usize = (1..=100)
            .map(|number| looked_at(&limit, &format!("192.0.2.{number}"), 5, 0))
            .sum();
        assert_eq!(all, 200);
        assert_eq!(looked_at(&limit, "192.0.2.200", 100, 6), 20);
    }

    #[test]
    fn more_are_read_than_verified_and_all_together_have_no_limit() {
        let limit = UnverifiedLimit::of_reads();
        assert_eq!(looked_at(&limit, "192.0.2.1", 1_000, 0), 600);
        assert_eq!(looked_at(&limit, "192.0.2.1", 1_000, 6), 60);
        for number in 2..100 {
            assert_eq!(looked_at(&limit, &format!("192.0.2.{number}"), 500, 6), 500);
        }
        limit.give_back(address("192.0.2.1"));
        assert_eq!(looked_at(&limit, "192.0.2.1", 1_000, 6), 1);
    }

    #[test]
    fn good_credentials_are_not_counted() {
        let limit = UnverifiedLimit::default();
        for _ in 0..1_000 {
            limit.take_at(address("192.0.2.1"), Duration::ZERO).unwrap();
            limit.give_back(address("::ffff:192.0.2.1"));
        }
        assert_eq!(looked_at(&limit, "192.0.2.1", 500, 0), 60);
    }

    #[test]
    fn a_subscriber_of_ipv6_has_one_share() {
        let limit = UnverifiedLimit::default();
        let all: usize = (0..100)
            .map(|number| looked_at(&limit, &format!("2001:db8:0:1::{number:x}"), 2, 0))
            .sum();
        assert_eq!(all, 60);
        assert_eq!(looked_at(&limit, "2001:db8:0:2::1", 2, 0), 2);
    }

    #[test]
    fn addresses_are_remembered_within_a_bound() {
        let limit = UnverifiedLimit::default();
        for number in 0..20_000_u32 {
            let _ = limit.take_at(IpAddr::V4(number.into()), Duration::from_secs(number.into()));
        }
        assert!(limit.arrivals.lock().unwrap().by_address.len() <= MOST_ADDRESSES);
    }
}
