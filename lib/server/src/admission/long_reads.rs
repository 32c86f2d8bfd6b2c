//! Reads that may take long, one part after the other: how many parts of one person the store has before it at a time. Without this,
//! many connections of one person fill the store's queue, and everybody waits for all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;
use coord_domain::UserId;

/// Parts of one person at a time.
const AT_ONCE: usize = 2;

/// The turns of each person who reads now, in this process.
#[derive(Debug, Default)]
pub struct LongReads(Mutex<HashMap<UserId, Arc<Semaphore>>>);

impl LongReads {
    /// Waits for the person's turn, which lasts until the permit is dropped. Those who wait get it in the order of their coming.
    pub async fn turn(&self, person: &UserId) -> Result<OwnedSemaphorePermit, ApiError> {
        let turns = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Only those who read or wait are kept: each permit, and each waiting request, has the semaphore, too.
            all.retain(|_, turns| Arc::strong_count(turns) > 1);
            let turns = all
                .entry(person.clone())
                .or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE)));
            Arc::clone(turns)
        };
        turns.acquire_owned().await.map_err(|_| ApiError::Internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn user(name: &str) -> UserId {
        UserId::parse(name).unwrap()
    }

    #[tokio::test]
    async fn a_person_has_two_turns_at_a_time_and_takes_none_of_another_person() {
        let reads = LongReads::default();
        let (eve, ann) = (user("eve"), user("ann"));
        let first = reads.turn(&eve).await.unwrap();
        let _second = reads.turn(&eve).await.unwrap();
        let third = reads.turn(&eve);
        tokio::pin!(third);
        assert!(third.as_mut().now_or_never().is_none(), "eve has two");
        assert!(reads.turn(&ann).now_or_never().is_some(), "ann has her own");
        drop(first);
        assert!(third.now_or_never().is_some(), "the next of eve's");
    }

    #[tokio::test]
    async fn a_user_that_has_finished_reading_is_forgotten() {
        let reads = LongReads::default();
        drop(reads.turn(&user("eve")).await.unwrap());
        let _turn = reads.turn(&user("ann")).await.unwrap();
        assert_eq!(reads.0.lock().unwrap().len(), 1);
    }
}
