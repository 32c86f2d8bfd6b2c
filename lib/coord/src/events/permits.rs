//! The bound on streams: for one person, and for the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::UserId;
use crate::error::ApiError;

/// Most streams of one person in a process.
const MOST_OF_PERSON: usize = 128;

/// Most streams in a process.
const MOST: usize = 3000;

/// The streams of a process.
#[derive(Clone, Debug, Default)]
pub struct Permits(Arc<Mutex<HashMap<UserId, usize>>>);

/// A stream that counts until it is dropped.
#[derive(Debug)]
pub struct Permit {
    permits: Permits,
    person: UserId,
}

impl Permits {
    /// A stream of `person`.
    ///
    /// # Errors
    /// When there are too many.
    pub fn take(&self, person: UserId) -> Result<Permit, ApiError> {
        let mut streams = self.lock();
        let refuse = |whose| ApiError::RateLimited {
            retry_after_seconds: 30,
            whose,
        };
        if streams.get(&person).is_some_and(|open| *open >= MOST_OF_PERSON) {
            return Err(refuse(
                "you have too many streams of events and waiting requests open; close some",
            ));
        }
        if streams.values().sum::<usize>() >= MOST {
            return Err(refuse(
                "this server has too many streams of events and waiting requests open",
            ));
        }
        *streams.entry(person.clone()).or_default() += 1;
        Ok(Permit {
            permits: self.clone(),
            person,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut streams = self.permits.lock();
        if let Some(open) = streams.get_mut(&self.person) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.person);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_cannot_take_the_streams_of_all() {
        let permits = Permits::default();
        let person = |name: &str| UserId::parse(name).unwrap();
        let of_ada: Vec<Permit> = (0..MOST_OF_PERSON)
            .map(|_| permits.take(person("ada")).unwrap())
            .collect();
        let refused = permits.take(person("ada")).unwrap_err();
        assert!(
            refused.to_string().starts_with("you have too many streams"),
            "{refused}"
        );
        let of_bob = permits.take(person("bob")).unwrap();
        drop((of_ada, of_bob));
        assert!(permits.lock().is_empty());
    }
}
