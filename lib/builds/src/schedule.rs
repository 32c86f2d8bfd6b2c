//! The branches that are due for a build in this process. Each is claimed by one task at a time, and rests afterwards.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, UnitWeighter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use coord_domain::{Branch, CommitSha, RepoId};
use coord_runtime::mutex::lock;

/// Maximum number of branches remembered. Beyond it, each new branch evicts one without a claim.
const MAX_BRANCHES: usize = 256;

/// Minimum lifetime of a graph after a request: the store keeps it for 14 days, and notes a request once a day.
const GRAPH_LIFETIME: Duration = Duration::from_secs(13 * 86_400);

/// A branch of a repository.
pub(super) type RepoBranch = (RepoId, Branch);

/// How often a kind of process tries to build a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Maximum number of concurrent claims: branches that are being built, or wait for their build.
    pub(super) max_claims: usize,
    /// The rest after the graph was found to be up to date.
    pub(super) current: Duration,
    /// The rest while another process has the lease.
    pub(super) busy: Duration,
    /// The rest after a failure.
    pub(super) failed: Duration,
}

type Branches = Cache<RepoBranch, BranchState, UnitWeighter, DefaultHashBuilder, ClaimGuard>;

/// A claimed branch is not forgotten: another claim of it would build the same graph beside the first.
struct ClaimGuard;

impl Lifecycle<RepoBranch, BranchState> for ClaimGuard {
    type RequestState = ();

    fn is_pinned(&self, _: &RepoBranch, state: &BranchState) -> bool {
        state.is_claimed
    }
}

/// The branches that this process has seen.
pub(super) struct Schedule {
    pace: Pace,
    branches: Mutex<Branches>,
    claims: Arc<Semaphore>,
}

struct BranchState {
    head: CommitSha,
    /// No build of that head is due before this time, as far as this process knows.
    rests_until: Instant,
    is_claimed: bool,
    /// Whether its graph may have been lost since it was claimed.
    is_doubted: bool,
    /// The last request for it.
    requested_at: Option<Instant>,
}

impl Schedule {
    pub(super) fn new(pace: Pace) -> Arc<Self> {
        Arc::new(Schedule {
            pace,
            branches: Mutex::new(Cache::with(
                MAX_BRANCHES,
                MAX_BRANCHES as u64,
                UnitWeighter,
                DefaultHashBuilder::default(),
                ClaimGuard,
            )),
            claims: Arc::new(Semaphore::new(pace.max_claims)),
        })
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    fn lock(&self) -> MutexGuard<'_, Branches> {
        lock(&self.branches)
    }

    /// A claim, if a build of `head`, which a request found, may be due.
    pub(super) fn claim(self: &Arc<Self>, branch: &RepoBranch, head: &CommitSha) -> Option<BuildClaim> {
        self.claim_for(branch, head, true)
    }

    /// The same for a head that was found without a request.
    pub(super) fn claim_moved(self: &Arc<Self>, branch: &RepoBranch, head: &CommitSha) -> Option<BuildClaim> {
        self.claim_for(branch, head, false)
    }

    fn claim_for(self: &Arc<Self>, branch: &RepoBranch, head: &CommitSha, is_requested: bool) -> Option<BuildClaim> {
        let now = Instant::now();
        let mut branches = self.lock();
        let mut requested_at = is_requested.then_some(now);
        if let Some(mut state) = branches.get_mut(branch) {
            requested_at = requested_at.or(state.requested_at);
            state.requested_at = requested_at;
            if state.head == *head && (state.is_claimed || state.rests_until > now) {
                return None;
            }
        }
        let permit = Arc::clone(&self.claims).try_acquire_owned().ok()?;
        let state = BranchState {
            head: head.clone(),
            rests_until: now,
            is_claimed: true,
            is_doubted: false,
            requested_at,
        };
        branches.insert(branch.clone(), state);
        drop(branches);
        Some(BuildClaim {
            schedule: Arc::clone(self),
            branch: branch.clone(),
            head: head.clone(),
            rest: self.pace.failed,
            _permit: permit,
        })
    }

    /// A claim for the last seen head, if a build may be due.
    pub(super) fn claim_again(self: &Arc<Self>, branch: &RepoBranch) -> Option<BuildClaim> {
        let head = self.lock().get(branch)?.head.clone();
        self.claim_moved(branch, &head)
    }

    /// Records that the graph of a branch may be lost. A rest that is nearly over continues, so that not every request
    /// retries a recent failure or a current build.
    pub(super) fn doubt(&self, branch: &RepoBranch) {
        let now = Instant::now();
        if let Some(mut state) = self.lock().get_mut(branch) {
            if state.is_claimed {
                state.is_doubted = true;
            } else if state.rests_until > now + self.pace.failed {
                state.rests_until = now;
            }
        }
    }

    /// Records that every graph may be lost. Returns the branches without a claim, which are due now, with their heads.
    pub(super) fn doubt_all(&self) -> Vec<(RepoBranch, CommitSha)> {
        let now = Instant::now();
        let mut due = Vec::new();
        let mut branches = self.lock();
        let keys: Vec<_> = branches.iter().map(|(branch, _)| branch.clone()).collect();
        for branch in keys {
            let Some(mut state) = branches.peek_mut(&branch) else {
                continue;
            };
            if state.is_claimed {
                state.is_doubted = true;
            } else {
                state.rests_until = now;
                due.push((branch.clone(), state.head.clone()));
            }
        }
        due
    }

    pub(super) fn branches(&self) -> Vec<RepoBranch> {
        self.lock().iter().map(|(branch, _)| branch.clone()).collect()
    }

    pub(super) fn forget(&self, branch: &RepoBranch) {
        self.lock().remove(branch);
    }
}

/// The right to update the graph of one branch. The rest of the branch begins when the claim is dropped.
pub(super) struct BuildClaim {
    schedule: Arc<Schedule>,
    branch: RepoBranch,
    head: CommitSha,
    rest: Duration,
    _permit: OwnedSemaphorePermit,
}

impl BuildClaim {
    pub(super) fn branch(&self) -> &RepoBranch {
        &self.branch
    }

    pub(super) fn head(&self) -> &CommitSha {
        &self.head
    }

    /// Whether this process had a request for the branch within the lifetime of a graph. If there is no graph then, it
    /// was lost, and has not expired.
    pub(super) fn is_recently_requested(&self) -> bool {
        let branches = self.schedule.lock();
        let requested_at = branches.get(&self.branch).and_then(|state| state.requested_at);
        requested_at.is_some_and(|requested_at| requested_at.elapsed() < GRAPH_LIFETIME)
    }

    /// Whether no other head of the branch has been seen since. Another head has a separate claim.
    pub(super) fn is_newest(&self) -> bool {
        let branches = self.schedule.lock();
        branches.get(&self.branch).is_none_or(|state| state.head == self.head)
    }

    /// Sets how long the branch rests, unless another head of it is seen.
    pub(super) fn rest_for(&mut self, rest: Duration) {
        self.rest = rest;
    }

    /// Whether the graph may have been lost since the branch was claimed, or since the last call.
    pub(super) fn take_doubt(&self) -> bool {
        let mut branches = self.schedule.lock();
        let state = branches.get_mut(&self.branch).filter(|state| state.head == self.head);
        state.is_some_and(|mut state| std::mem::take(&mut state.is_doubted))
    }
}

impl Drop for BuildClaim {
    fn drop(&mut self) {
        let mut branches = self.schedule.lock();
        if let Some(mut state) = branches.get_mut(&self.branch).filter(|state| state.head == self.head) {
            state.is_claimed = false;
            // A doubt that this claim did not take ends the rest, as a later doubt would: after a success, not after a
            // failure.
            let is_due = std::mem::take(&mut state.is_doubted) && self.rest > self.schedule.pace.failed;
            state.rests_until = Instant::now() + if is_due { Duration::ZERO } else { self.rest };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn schedule(max_claims: usize) -> Arc<Schedule> {
        Schedule::new(Pace {
            max_claims,
            current: LONG,
            busy: Duration::ZERO,
            failed: Duration::from_secs(60),
        })
    }

    fn branch(name: &str) -> RepoBranch {
        (
            RepoId::parse("github.com/acme/app").unwrap(),
            Branch::parse(name).unwrap(),
        )
    }

    fn head(digit: char) -> CommitSha {
        CommitSha::parse(&digit.to_string().repeat(40)).unwrap()
    }

    #[test]
    fn a_head_is_claimed_once_and_rests_afterwards_and_another_head_is_due_at_once() {
        let (schedule, main) = (schedule(8), branch("main"));
        let claim = schedule.claim(&main, &head('a')).expect("nothing is known of it");
        assert!(schedule.claim(&main, &head('a')).is_none(), "it is claimed");
        drop(claim);
        assert!(schedule.claim(&main, &head('a')).is_none(), "it rests");
        let old = schedule.claim(&main, &head('b')).expect("another head");
        let new = schedule.claim(&main, &head('c')).expect("yet another head");
        assert!(!old.is_newest() && new.is_newest());
        drop(old);
        assert!(
            schedule.claim(&main, &head('c')).is_none(),
            "the end of an older claim leaves it claimed"
        );
    }

    #[test]
    fn a_rest_that_is_over_allows_a_claim_for_the_newest_head() {
        let (schedule, main) = (schedule(8), branch("main"));
        for digit in ['a', 'b'] {
            let mut claim = schedule.claim(&main, &head(digit)).expect("a new head");
            claim.rest_for(Duration::ZERO);
        }
        let again = schedule.claim_again(&main).expect("its rest is over");
        assert_eq!(*again.head(), head('b'));
        assert!(schedule.claim_again(&branch("other")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_counts_for_as_long_as_the_graph_is_kept() {
        let (schedule, main) = (schedule(8), branch("main"));
        let is_requested = |digit: char| {
            let claim = schedule.claim_moved(&main, &head(digit)).expect("another head");
            claim.is_recently_requested()
        };
        assert!(!is_requested('a'), "no request yet");
        drop(schedule.claim(&main, &head('b')).expect("another head"));
        assert!(is_requested('c'));
        tokio::time::advance(Duration::from_secs(10 * 86_400)).await;
        let claim = schedule.claim_moved(&main, &head('d')).expect("another head");
        assert!(schedule.claim(&main, &head('d')).is_none(), "it is claimed");
        drop(claim);
        tokio::time::advance(Duration::from_secs(10 * 86_400)).await;
        assert!(
            is_requested('e'),
            "each request counts, also one for which there is nothing to do"
        );
        tokio::time::advance(Duration::from_secs(10 * 86_400)).await;
        assert!(!is_requested('f'));
    }

    #[test]
    fn a_doubt_ends_a_long_rest_and_no_short_one() {
        let (schedule, main) = (schedule(8), branch("main"));
        for (rest, is_due) in [(LONG, true), (Duration::from_secs(30), false)] {
            schedule.forget(&main);
            schedule
                .claim(&main, &head('a'))
                .expect("it is forgotten")
                .rest_for(rest);
            schedule.doubt(&main);
            assert_eq!(schedule.claim(&main, &head('a')).is_some(), is_due, "{rest:?}");
        }
    }

    #[test]
    fn a_doubt_while_a_branch_is_claimed_is_not_lost() {
        let (schedule, main) = (schedule(8), branch("main"));
        let mut claim = schedule.claim(&main, &head('a')).expect("nothing is known of it");
        claim.rest_for(LONG);
        assert!(!claim.take_doubt());
        schedule.doubt(&main);
        assert!(claim.take_doubt());
        assert!(schedule.doubt_all().is_empty(), "a claimed branch is no other's");
        drop(claim);
        assert!(schedule.claim(&main, &head('a')).is_some(), "it is due at once");
    }

    #[test]
    fn a_failure_rests_although_requests_missed_the_graph_meanwhile() {
        let (schedule, main) = (schedule(8), branch("main"));
        let claim = schedule.claim(&main, &head('a')).expect("nothing is known of it");
        schedule.doubt(&main);
        drop(claim);
        assert!(schedule.claim(&main, &head('a')).is_none());
    }

    #[test]
    fn claims_are_bounded_and_outlive_what_is_forgotten_to_make_room() {
        let schedule = schedule(2);
        let first = schedule.claim(&branch("first"), &head('a')).expect("one of two");
        for number in 0..2 * MAX_BRANCHES {
            let claim = schedule.claim(&branch(&format!("b{number}")), &head('a'));
            claim.expect("two of two").rest_for(LONG);
        }
        assert!(schedule.branches().len() <= MAX_BRANCHES);
        assert!(
            schedule.claim(&branch("first"), &head('a')).is_none(),
            "it is still claimed"
        );
        let _second = schedule.claim(&branch("second"), &head('a')).expect("two of two");
        assert!(schedule.claim(&branch("third"), &head('a')).is_none());
        drop(first);
        assert!(schedule.claim(&branch("third"), &head('a')).is_some());
    }
}
