//! The bounds on streams: for one person, for one address without a credential, for all callers without a credential,
//! and for the process.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use coord_domain::UserId;
use coord_runtime::mutex::lock;
use coord_settings::connections::network;

/// Maximum number of streams of one person, or from one address without a credential, in a process.
const MAX_PER_CALLER: usize = 128;

/// Maximum number of streams without a credential in a process.
const MAX_ANONYMOUS: usize = 512;

/// Maximum number of streams in a process.
const MAX_STREAMS: usize = 3000;

/// The owner of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Watcher {
    Person(UserId),
    /// A caller without a credential, by its address.
    Anonymous(IpAddr),
}

/// The refusal of another stream: a sentence about the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TooManyStreams(pub &'static str);

/// The streams of a process.
#[derive(Clone, Debug, Default)]
pub struct Permits(Arc<Mutex<HashMap<Watcher, usize>>>);

/// A stream that counts until it is dropped.
#[derive(Debug)]
pub struct Permit {
    permits: Permits,
    watcher: Watcher,
}

impl Permits {
    /// The permit for a stream of `watcher`.
    ///
    /// # Errors
    /// When there are too many streams.
    pub fn take(&self, watcher: Watcher) -> Result<Permit, TooManyStreams> {
        let watcher = match watcher {
            Watcher::Anonymous(address) => Watcher::Anonymous(network(address)),
            person @ Watcher::Person(_) => person,
        };
        let mut streams = self.lock();
        let anonymous = |(watcher, open): (&Watcher, &usize)| match watcher {
            Watcher::Anonymous(_) => *open,
            Watcher::Person(_) => 0,
        };
        if streams.get(&watcher).is_some_and(|open| *open >= MAX_PER_CALLER) {
            return Err(TooManyStreams(match watcher {
                Watcher::Person(_) => "you have too many streams of events and waiting requests open; close some",
                Watcher::Anonymous(_) => {
                    "your address has too many streams of events open without a credential; close some"
                }
            }));
        }
        if matches!(watcher, Watcher::Anonymous(_)) && streams.iter().map(anonymous).sum::<usize>() >= MAX_ANONYMOUS {
            return Err(TooManyStreams(
                "this server has too many streams of events open without a credential; send a credential",
            ));
        }
        if streams.values().sum::<usize>() >= MAX_STREAMS {
            return Err(TooManyStreams(
                "this server has too many streams of events and waiting requests open",
            ));
        }
        *streams.entry(watcher.clone()).or_default() += 1;
        Ok(Permit {
            permits: self.clone(),
            watcher,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Watcher, usize>> {
        lock(&self.0)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut streams = self.permits.lock();
        if let Some(open) = streams.get_mut(&self.watcher) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.watcher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(permits: &Permits, watcher: Watcher) -> String {
        permits.take(watcher).unwrap_err().to_string()
    }

    #[test]
    fn one_person_cannot_take_the_streams_of_all() {
        let permits = Permits::default();
        let person = |name: &str| Watcher::Person(UserId::parse(name).unwrap());
        let of_ada: Vec<Permit> = (0..MAX_PER_CALLER)
            .map(|_| permits.take(person("ada")).unwrap())
            .collect();
        let refused = refusal(&permits, person("ada"));
        assert!(refused.starts_with("you have too many streams"), "{refused}");
        let of_bob = permits.take(person("bob")).unwrap();
        drop((of_ada, of_bob));
        assert!(permits.lock().is_empty());
    }

    #[test]
    fn one_address_without_a_credential_cannot_take_the_streams_of_others() {
        let permits = Permits::default();
        let from = |text: &str| Watcher::Anonymous(text.parse().unwrap());
        let mut held: Vec<Permit> = (0..MAX_PER_CALLER)
            .map(|number| permits.take(from(&format!("2001:db8::{number:x}"))).unwrap())
            .collect();
        let refused = refusal(&permits, from("2001:db8::1:1"));
        assert!(refused.starts_with("your address has too many streams"), "{refused}");
        for number in MAX_PER_CALLER..MAX_ANONYMOUS {
            held.push(
                permits
                    .take(from(&format!("192.0.2.{}", number / MAX_PER_CALLER)))
                    .unwrap(),
            );
        }
        let refused = refusal(&permits, from("192.0.2.9"));
        assert!(refused.contains("without a credential; send a credential"), "{refused}");
        // Verified callers are served whatever unverified ones do.
        held.push(permits.take(Watcher::Person(UserId::parse("bob").unwrap())).unwrap());
        drop(held);
        assert!(permits.lock().is_empty());
    }
}
