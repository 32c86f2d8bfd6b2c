//! Looks up verdicts of other processes in the store. All waiting callers share the next read, so that callers with
//! made-up credentials neither multiply the reads nor use them up: a member waits for a read, and is not refused.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use coord_auth::VERIFIED_LIFETIME;
use coord_domain::RepoId;
use coord_runtime::mutex::lock;
use coord_state::admission::{AgedVerdict, recall};
use coord_store::{Store, StoreError};

/// Maximum number of credentials in one read; the store takes less than a millisecond for them.
const MAX_AT_ONCE: usize = 256;
/// Maximum number of repositories in one read, each of which is a command of the store.
const MAX_REPOSITORIES: usize = 16;
/// The time between two reads at the sustained rate: ten reads a second.
const INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of reads without a pause.
const BURST: u32 = 600;

type VerdictResult = Result<Option<AgedVerdict>, StoreError>;

/// The lookups of one process.
#[derive(Debug)]
pub struct Lookups {
    pending: Mutex<VecDeque<PendingLookup>>,
    started: Instant,
    /// Theoretical arrival time of the next read (GCRA), since the start. The current reader locks it.
    next_read: tokio::sync::Mutex<Duration>,
}

#[derive(Debug)]
struct PendingLookup {
    key: (RepoId, String),
    sender: oneshot::Sender<VerdictResult>,
}

impl Default for Lookups {
    fn default() -> Self {
        Lookups {
            pending: Mutex::default(),
            started: Instant::now(),
            next_read: tokio::sync::Mutex::default(),
        }
    }
}

impl Lookups {
    /// The verdict on a credential in `repo`, if the store has one.
    pub(super) async fn look_up(&self, store: &dyn Store, repo: &RepoId, credential: &str) -> VerdictResult {
        loop {
            let (sender, mut receiver) = oneshot::channel();
            lock(&self.pending).push_back(PendingLookup {
                key: (repo.clone(), credential.to_owned()),
                sender,
            });
            loop {
                tokio::select! {
                    biased;
                    received = &mut receiver => match received {
                        Ok(result) => return result,
                        // The request that was reading for this one is gone.
                        Err(_) => break,
                    },
                    mut next_read = self.next_read.lock() => self.read(store, &mut next_read).await,
                }
            }
        }
    }

    /// Waits until the rate allows a read, and reads for the callers that have waited longest.
    async fn read(&self, store: &dyn Store, arrival: &mut Duration) {
        let pause = (*arrival + INTERVAL).saturating_sub(self.started.elapsed() + INTERVAL * BURST);
        sleep(pause).await;
        *arrival = self.started.elapsed().max(*arrival) + INTERVAL;
        let batch = self.take_batch().into_iter();
        let (keys, senders): (Vec<_>, Vec<_>) = batch.map(|lookup| (lookup.key, lookup.sender)).unzip();
        if keys.is_empty() {
            return;
        }
        match recall(store, &keys, VERIFIED_LIFETIME).await {
            Ok(verdicts) => senders.into_iter().zip(verdicts).for_each(|(sender, verdict)| {
                // A caller that is gone needs no answer.
                let _ = sender.send(Ok(verdict));
            }),
            Err(error) => senders.into_iter().for_each(|sender| {
                let _ = sender.send(Err(error.clone()));
            }),
        }
    }

    /// Takes the lookups of one read out of the queue.
    fn take_batch(&self) -> Vec<PendingLookup> {
        let mut pending = lock(&self.pending);
        pending.retain(|lookup| !lookup.sender.is_closed());
        let mut repos = BTreeSet::new();
        let batch = pending.iter().take(MAX_AT_ONCE).take_while(|lookup| {
            repos.insert(lookup.key.0.clone());
            repos.len() <= MAX_REPOSITORIES
        });
        let count = batch.count();
        pending.drain(..count).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use bytes::Bytes;
    use futures::future::join_all;
    use futures::stream::BoxStream;

    use super::*;
    use coord_store::{Request, Value};

    /// A store that takes its time to fail.
    #[derive(Default)]
    struct Counting {
        reads: AtomicUsize,
        commands: AtomicUsize,
    }

    #[async_trait]
    impl Store for Counting {
        async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.commands.fetch_add(batch.len(), Ordering::Relaxed);
            sleep(Duration::from_millis(5)).await;
            Err(StoreError::Unreachable("a test".to_owned()))
        }

        async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
            Err(StoreError::Unreachable("a test".to_owned()))
        }

        fn describe(&self) -> String {
            "a store of a test".to_owned()
        }
    }

    fn repo(number: usize) -> RepoId {
        RepoId::parse(&format!("https://github.com/acme/shop{number}")).unwrap()
    }

    #[tokio::test]
    async fn waiting_callers_share_the_next_read() {
        let (lookups, store) = (Lookups::default(), Counting::default());
        let all = (0..1_000).map(|number| {
            let (lookups, store) = (&lookups, &store);
            async move { lookups.look_up(store, &repo(0), &number.to_string()).await }
        });
        assert!(join_all(all).await.iter().all(Result::is_err));
        let reads = store.reads.load(Ordering::Relaxed);
        assert!((4..=6).contains(&reads), "{reads}");
        assert_eq!(store.commands.load(Ordering::Relaxed), reads);
    }

    #[tokio::test]
    async fn one_read_is_about_few_repositories() {
        let (lookups, store) = (Lookups::default(), Counting::default());
        let all = (0..100).map(|number| {
            let (lookups, store) = (&lookups, &store);
            async move { lookups.look_up(store, &repo(number), "abc").await }
        });
        join_all(all).await;
        assert_eq!(store.commands.load(Ordering::Relaxed), 100);
        let reads = store.reads.load(Ordering::Relaxed);
        assert!((7..=9).contains(&reads), "{reads}");
    }

    #[tokio::test(start_paused = true)]
    async fn reads_in_excess_come_one_after_the_other_with_pauses() {
        let (lookups, store) = (Lookups::default(), Counting::default());
        // As if the burst had just been used up.
        *lookups.next_read.lock().await = INTERVAL * BURST;
        let started = Instant::now();
        for _ in 0..5 {
            let _ = lookups.look_up(&store, &repo(0), "abc").await;
        }
        assert!(started.elapsed() >= INTERVAL * 4, "{:?}", started.elapsed());
    }

    #[tokio::test]
    async fn an_aborted_reader_leaves_no_lookup_waiting() {
        let (lookups, store) = (Arc::new(Lookups::default()), Arc::new(Counting::default()));
        let look_up = |credential: &'static str| {
            let (lookups, store) = (Arc::clone(&lookups), Arc::clone(&store));
            tokio::spawn(async move { lookups.look_up(&*store, &repo(0), credential).await })
        };
        let next_read = lookups.next_read.lock().await;
        let (first, second) = (look_up("first"), look_up("second"));
        tokio::task::yield_now().await;
        drop(next_read);
        while store.reads.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        first.abort();
        let ended = tokio::time::timeout(Duration::from_secs(10), second).await;
        assert!(ended.unwrap().unwrap().is_err());
    }
}
