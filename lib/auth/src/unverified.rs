use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use quick_cache::unsync::Cache;

use coord_settings::Rate;
use coord_settings::connections::network;

/// Maximum of addresses remembered.
const MOST_ADDRESSES: usize = 4_096;

/// How long an address counts as that of members.
const MEMBERS_FOR: u64 = 86_400_000;

/// Limit of one address: 30 per minute.
const OF_AN_ADDRESS: Rate = Rate {
    interval_ms: 2_000,
    burst: 60,
};
/// The part of the bursts (of an address, of all) that malformed tokens leave to well-formed ones.
const LEFT_BY_MADE_UP: (u32, u32) = (30, 40);
/// The part of the burst of all that is reserved for addresses with verified members; other addresses, and those that have
/// sent bad credentials, leave it.
const LEFT_BY_STRANGERS: u32 = 40;
const LEFT_BY_DEBTORS: u32 = 40;
/// Bad credentials in a row until an address is one of those.
const DEBT: u32 = 10;
/// Limit of all addresses together: 200 per minute. After many bad credentials, GitHub refuses good ones from this process
/// too.
const OF_ALL: Rate = Rate {
    interval_ms: 300,
    burst: 200,
};

/// The unverified-caller limit: how many unknown credentials are verified, for each source address and in the whole process.
/// Credentials that turn out to be good do not count. While there are too many, well-formed tokens come first, addresses of
/// members, and addresses that have sent no bad ones.
#[derive(Debug)]
pub struct UnverifiedLimit {
    started: Instant,
    arrivals: Mutex<Arrivals>,
}

/// Theoretical arrival times (GCRA), in milliseconds since the start.
#[derive(Debug)]
struct Arrivals {
    of_all: u64,
    by_address: Cache<IpAddr, u64>,
    /// When a member has last come from an address.
    members: Cache<IpAddr, u64>,
}

impl Default for UnverifiedLimit {
    fn default() -> Self {
        UnverifiedLimit {
            started: Instant::now(),
            arrivals: Mutex::new(Arrivals {
                of_all: 0,
                by_address: Cache::new(MOST_ADDRESSES),
                members: Cache::new(MOST_ADDRESSES),
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
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let before = arrivals.by_address.get(&address).copied().unwrap_or_default();
        let (mut rate, mut rate_of_all) = (OF_AN_ADDRESS, OF_ALL);
        if !is_well_formed {
            rate.burst -= LEFT_BY_MADE_UP.0;
            rate_of_all.burst -= LEFT_BY_MADE_UP.1;
        }
        if arrivals.members.get(&address).is_none_or(|at| now - at >= MEMBERS_FOR) {
            rate_of_all.burst -= LEFT_BY_STRANGERS;
        }
        if before >= now + u64::from(DEBT * OF_AN_ADDRESS.interval_ms) {
            rate_of_all.burst -= LEFT_BY_DEBTORS;
        }
        let own = rate.after(before, now, 1)?;
        let of_all = rate_of_all.after(arrivals.of_all, now, 1)?;
        arrivals.by_address.insert(address, own);
        arrivals.of_all = of_all;
        Ok(())
    }

    /// Notes that a member comes from `address`.
    pub fn note_member(&self, address: IpAddr) {
        let now = self.started.elapsed().as_millis() as u64;
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.members.insert(network(address), now);
    }

    /// Takes back the count of one credential, which is good.
    pub fn refund(&self, address: IpAddr) {
        let address = network(address);
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.of_all = arrivals.of_all.saturating_sub(OF_ALL.interval_ms.into());
        if let Some(own) = arrivals.by_address.get(&address).copied() {
            arrivals
                .by_address
                .insert(address, own.saturating_sub(OF_AN_ADDRESS.interval_ms.into()));
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
        assert!(limit.arrivals.lock().unwrap().by_address.len() <= MOST_ADDRESSES);
    }
}
