use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use coord_runtime::mutex::lock;
use quick_cache::unsync::Cache;

use coord_settings::Rate;
use coord_settings::connections::network;

/// Maximum number of addresses remembered.
const MAX_ADDRESSES: usize = 4_096;

/// How long an address counts as one that members use, in milliseconds.
const MEMBER_ADDRESS_MS: u64 = 86_400_000;

/// Limit of one address: 30 per minute.
const ADDRESS_RATE: Rate = Rate {
    interval_ms: 2_000,
    burst: 60,
};
/// Limit of all addresses together: 200 per minute. After many bad credentials, GitHub refuses good ones from this
/// process too.
const TOTAL_RATE: Rate = Rate {
    interval_ms: 300,
    burst: 200,
};
/// The part of an address's burst that is reserved for well-formed tokens.
const ADDRESS_BURST_FOR_WELL_FORMED: u32 = 30;
/// The part of the total burst that is reserved for well-formed tokens.
const TOTAL_BURST_FOR_WELL_FORMED: u32 = 40;
/// The part of the total burst that is reserved for addresses that members use.
const TOTAL_BURST_FOR_MEMBERS: u32 = 40;
/// The part of the total burst that is reserved for addresses that have not sent many bad credentials.
const TOTAL_BURST_FOR_WELL_BEHAVED: u32 = 40;
/// How many bad credentials in a row are many.
const MANY_BAD_CREDENTIALS: u32 = 10;

/// The unverified-caller limit: how many unknown credentials are verified, for each source address and in the whole
/// process. Credentials that turn out to be good do not count. Parts of the limit are reserved for well-formed tokens,
/// for addresses that members use, and for addresses that have not sent many bad credentials.
#[derive(Debug)]
pub struct UnverifiedLimit {
    started: Instant,
    arrivals: Mutex<Arrivals>,
}

/// Theoretical arrival times (GCRA), in milliseconds since the start.
#[derive(Debug)]
struct Arrivals {
    total: u64,
    by_address: Cache<IpAddr, u64>,
    /// When a member last sent a request from an address.
    members: Cache<IpAddr, u64>,
}

impl Default for UnverifiedLimit {
    fn default() -> Self {
        UnverifiedLimit {
            started: Instant::now(),
            arrivals: Mutex::new(Arrivals {
                total: 0,
                by_address: Cache::new(MAX_ADDRESSES),
                members: Cache::new(MAX_ADDRESSES),
            }),
        }
    }
}

impl UnverifiedLimit {
    /// Counts one credential from `address`.
    ///
    /// # Errors
    /// When the limit is exceeded, with the seconds until the next attempt.
    pub fn take(&self, address: IpAddr, is_well_formed: bool) -> Result<(), u64> {
        self.take_at(address, is_well_formed, self.started.elapsed())
    }

    fn take_at(&self, address: IpAddr, is_well_formed: bool, since_start: Duration) -> Result<(), u64> {
        let now = since_start.as_millis() as u64;
        let address = network(address);
        let mut arrivals = lock(&self.arrivals);
        let arrival = arrivals.by_address.get(&address).copied().unwrap_or_default();
        let (mut address_rate, mut total_rate) = (ADDRESS_RATE, TOTAL_RATE);
        if !is_well_formed {
            address_rate.burst -= ADDRESS_BURST_FOR_WELL_FORMED;
            total_rate.burst -= TOTAL_BURST_FOR_WELL_FORMED;
        }
        let last_member = arrivals.members.get(&address);
        if last_member.is_none_or(|seen_at| now - seen_at >= MEMBER_ADDRESS_MS) {
            total_rate.burst -= TOTAL_BURST_FOR_MEMBERS;
        }
        if arrival >= now + u64::from(MANY_BAD_CREDENTIALS * ADDRESS_RATE.interval_ms) {
            total_rate.burst -= TOTAL_BURST_FOR_WELL_BEHAVED;
        }
        let arrival = address_rate.after(arrival, now, 1)?;
        let total = total_rate.after(arrivals.total, now, 1)?;
        arrivals.by_address.insert(address, arrival);
        arrivals.total = total;
        Ok(())
    }

    /// Notes that a member uses `address`.
    pub fn note_member(&self, address: IpAddr) {
        let now = self.started.elapsed().as_millis() as u64;
        lock(&self.arrivals).members.insert(network(address), now);
    }

    /// Takes back the count of one credential that turned out to be good.
    pub fn refund(&self, address: IpAddr) {
        let address = network(address);
        let mut arrivals = lock(&self.arrivals);
        arrivals.total = arrivals.total.saturating_sub(TOTAL_RATE.interval_ms.into());
        if let Some(arrival) = arrivals.by_address.get(&address).copied() {
            let arrival = arrival.saturating_sub(ADDRESS_RATE.interval_ms.into());
            arrivals.by_address.insert(address, arrival);
        }
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
        looked_at_as(limit, text, true, count, seconds)
    }

    fn looked_at_as(limit: &UnverifiedLimit, text: &str, is_well_formed: bool, count: usize, seconds: u64) -> usize {
        let since = Duration::from_secs(seconds);
        let take = |_: &usize| limit.take_at(address(text), is_well_formed, since).is_ok();
        (0..count).filter(take).count()
    }

    #[test]
    fn one_address_uses_up_only_its_own_share() {
        let limit = UnverifiedLimit::default();
        assert_eq!(looked_at(&limit, "192.0.2.1", 500, 0), 60);
        assert_eq!(looked_at(&limit, "192.0.2.2", 10, 0), 10);
        assert_eq!(limit.take_at(address("192.0.2.1"), true, Duration::ZERO), Err(2));
        // Thirty more a minute later.
        assert_eq!(looked_at(&limit, "192.0.2.1", 500, 60), 30);
    }

    #[test]
    fn all_addresses_together_have_a_limit() {
        let limit = UnverifiedLimit::default();
        let all: usize = (1..=100)
            .map(|number| looked_at(&limit, &format!("192.0.2.{number}"), 5, 0))
            .sum();
        assert_eq!(all, 160);
        // A member's address has more.
        limit.note_member(address("192.0.2.201"));
        assert_eq!(looked_at(&limit, "192.0.2.201", 60, 0), 10);
        assert_eq!(looked_at(&limit, "192.0.2.200", 100, 18), 10);
    }

    #[test]
    fn made_up_tokens_keep_no_well_formed_one_of_the_same_address_out() {
        let limit = UnverifiedLimit::default();
        assert_eq!(looked_at_as(&limit, "192.0.2.1", false, 500, 0), 30);
        for _ in 0..20 {
            assert_eq!(looked_at_as(&limit, "192.0.2.1", false, 5, 0), 0);
            assert_eq!(looked_at(&limit, "192.0.2.1", 1, 0), 1);
            limit.refund(address("192.0.2.1"));
        }
    }

    #[test]
    fn addresses_that_send_bad_credentials_keep_no_other_one_out() {
        let limit = UnverifiedLimit::default();
        let flood = |is_well_formed| -> usize {
            let of = |number| looked_at_as(&limit, &format!("192.0.2.{number}"), is_well_formed, 60, 0);
            (1..=4).map(of).sum()
        };
        assert_eq!(flood(true), 120 + 20, "the last twenty are of addresses without a debt");
        assert_eq!(flood(true), 0);
        assert_eq!(looked_at(&limit, "198.51.100.1", 5, 0), 5);
        // Unverified callers without a debt have used up their share, and no member's.
        assert_eq!(looked_at(&limit, "198.51.100.3", 10, 0), 10);
        assert_eq!(looked_at(&limit, "198.51.100.4", 10, 0), 5);
        limit.note_member(address("198.51.100.2"));
        for _ in 0..100 {
            assert_eq!(looked_at(&limit, "198.51.100.2", 10, 0), 10);
            (0..10).for_each(|_| limit.refund(address("198.51.100.2")));
        }
    }

    #[test]
    fn good_credentials_are_not_counted() {
        let limit = UnverifiedLimit::default();
        for _ in 0..1_000 {
            limit.take_at(address("192.0.2.1"), true, Duration::ZERO).unwrap();
            limit.refund(address("::ffff:192.0.2.1"));
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
            let _ = limit.take_at(IpAddr::V4(number.into()), true, Duration::from_secs(number.into()));
        }
        assert!(limit.arrivals.lock().unwrap().by_address.len() <= MAX_ADDRESSES);
    }
}
