//! Long reads, which run in parts: limits the parts of one person that run at a time. Without this limit, one person's
//! connections could fill the store's queue, and everybody would wait for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;
use coord_domain::UserId;
use coord_runtime::mutex::lock;

/// Maximum number of parts of one person that run at a time.
const MAX_AT_ONCE: usize = 2;

/// The semaphore of each person with a long read in this process.
#[derive(Debug, Default)]
pub struct LongReads(Mutex<HashMap<UserId, Arc<Semaphore>>>);

impl LongReads {
    /// Waits for one of the person's permits, first come, first served.
    pub async fn acquire(&self, person: &UserId) -> Result<OwnedSemaphorePermit, ApiError> {
        let semaphore = {
            let mut semaphores = lock(&self.0);
            // Each permit and each waiting request has a reference, so this drops the semaphores that are not in use.
            semaphores.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
            let semaphore = semaphores
                .entry(person.clone())
                .or_insert_with(|| Arc::new(Semaphore::new(MAX_AT_ONCE)));
            Arc::clone(semaphore)
        };
        semaphore.acquire_owned().await.map_err(|_| ApiError::Internal)
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
    async fn a_person_has_two_permits_at_a_time_and_takes_none_of_another_person() {
        let reads = LongReads::default();
        let (eve, ann) = (user("eve"), user("ann"));
        let first = reads.acquire(&eve).await.unwrap();
        let _second = reads.acquire(&eve).await.unwrap();
        let third = reads.acquire(&eve);
        tokio::pin!(third);
        assert!(third.as_mut().now_or_never().is_none(), "eve has two");
        assert!(reads.acquire(&ann).now_or_never().is_some(), "ann has her own");
        drop(first);
        assert!(third.now_or_never().is_some(), "the next of eve's");
    }

    #[tokio::test]
    async fn a_user_that_has_finished_reading_is_forgotten() {
        let reads = LongReads::default();
        drop(reads.acquire(&user("eve")).await.unwrap());
        let _permit = reads.acquire(&user("ann")).await.unwrap();
        assert_eq!(reads.0.lock().unwrap().len(), 1);
    }
}
