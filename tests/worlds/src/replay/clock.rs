//! Simulated time. One agent runs at a time, until it sleeps; then the clock jumps to the next that wakes. So a run takes as long
//! as its requests do, whatever they cost the times in the report are the same, and each run of one history is equal.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, oneshot};

/// When a run begins, in Unix seconds: 1 January 2026.
const BEGIN: u64 = 1_767_225_600;

/// One that sleeps.
struct Sleeper {
    wake: oneshot::Sender<()>,
    /// Whether [`Clock::wake_waiting`] wakes it.
    is_waiting: bool,
}

/// The clock of one run.
#[derive(Default)]
pub struct Clock {
    /// Milliseconds since the beginning.
    now: Arc<AtomicU64>,
    /// By time, and among equals in the order in which they went to sleep.
    sleepers: RefCell<BTreeMap<(u64, u64), Sleeper>>,
    number: Cell<u64>,
    /// Agents that do not sleep.
    awake: Cell<usize>,
    is_quiet: Notify,
}

impl Clock {
    /// A clock for so many agents, all of them awake.
    pub fn of(agents: usize) -> Self {
        let clock = Clock::default();
        clock.awake.set(agents);
        clock
    }

    /// The time since the beginning.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.now.load(Ordering::Relaxed))
    }

    /// The same as a time of day, for a store.
    pub fn for_store(&self) -> impl Fn() -> SystemTime + Send + Sync + 'static {
        let now = Arc::clone(&self.now);
        move || UNIX_EPOCH + Duration::from_secs(BEGIN) + Duration::from_millis(now.load(Ordering::Relaxed))
    }

    /// Sleeps until `time`.
    pub async fn sleep_until(&self, time: Duration) {
        self.sleep(time, false).await;
    }

    /// Sleeps until `time`, or until [`Self::wake_waiting`]. Whether it was woken.
    pub async fn wait_until(&self, time: Duration) -> bool {
        self.sleep(time, true).await;
        self.now() < time
    }

    async fn sleep(&self, time: Duration, is_waiting: bool) {
        let (wake, woken) = oneshot::channel();
        // Never before `time`.
        let milliseconds = time.max(self.now()).as_nanos().div_ceil(1_000_000);
        let at = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        let number = self.next_number();
        let sleeper = Sleeper { wake, is_waiting };
        self.sleepers.borrow_mut().insert((at, number), sleeper);
        self.ends();
        // The sender is kept until it is woken.
        let _ = woken.await;
    }

    fn next_number(&self) -> u64 {
        self.number.replace(self.number.get() + 1)
    }

    /// An agent is done.
    pub fn ends(&self) {
        self.awake.set(self.awake.get() - 1);
        if self.awake.get() == 0 {
            self.is_quiet.notify_one();
        }
    }

    /// Those that wait are the next to run.
    pub fn wake_waiting(&self) {
        let mut sleepers = self.sleepers.borrow_mut();
        let all = std::mem::take(&mut *sleepers);
        let (waiting, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, sleeper)| sleeper.is_waiting);
        sleepers.extend(others);
        let now = self.now.load(Ordering::Relaxed);
        for (_, sleeper) in waiting {
            sleepers.insert((now, self.next_number()), sleeper);
        }
    }

    /// Lets time go on, for ever.
    pub async fn run(&self) {
        loop {
            if self.awake.get() > 0 {
                self.is_quiet.notified().await;
                continue;
            }
            let next = self.sleepers.borrow_mut().pop_first();
            let Some(((at, _), sleeper)) = next else {
                return pending().await;
            };
            self.now.store(at, Ordering::Relaxed);
            self.awake.set(1);
            if sleeper.wake.send(()).is_err() {
                self.awake.set(0);
            }
        }
    }
}
