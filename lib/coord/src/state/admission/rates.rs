//! Rate limits, as `modules/limits.lua` counts them.

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Milliseconds between two at the sustained rate; 0 is no limit.
    pub interval_ms: u32,
    /// The burst.
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const NONE: Rate = Rate {
        interval_ms: 0,
        burst: 0,
    };

    /// The theoretical arrival time after `amount` more, or the seconds until they are allowed; times are in milliseconds. For
    /// counts of a process itself, in the same way.
    pub(crate) fn after(self, arrival: u64, now: u64, amount: u32) -> Result<u64, u64> {
        let interval = u64::from(self.interval_ms);
        let next = arrival.max(now) + interval * u64::from(amount.min(self.burst));
        match next.saturating_sub(now + interval * u64::from(self.burst)) {
            0 => Ok(next),
            early => Err(early.div_ceil(1_000)),
        }
    }

    /// As the functions read it.
    pub(super) fn numbers(self) -> Option<[u32; 2]> {
        (self != Rate::NONE).then_some([self.interval_ms, self.burst])
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

    /// The limits of a request that has been counted: it is not counted again, but its work and its lookups at the source are.
    #[must_use]
    pub fn of_counted(self) -> Rates {
        Rates {
            is_counted: true,
            ..self
        }
    }
}
