//! The report of `coord status`, and its JSON.

use coord_agent::work::Work;
use coord_agent::workplace::Workplace;
use coord_agent::{local_server, next_command};
use coord_hooks::guard::bypass;
use coord_protocol::{ClientError, HeldLock, IntentsResponse, IntentsView, LocksFilter, LocksResponse, WaitingClaim};
use serde::Serialize;

use super::hooks::{HookRun, hook_runs};

/// The locks of a repository, as seen from a working copy.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// The repository, as requests name it.
    pub(super) repo_url: String,
    pub(super) server: String,
    /// Whether it is the `coord serve` of the repository.
    pub(super) is_local: bool,
    /// The clone that runs `coord serve`.
    #[serde(skip)]
    pub(super) server_owner: Option<String>,
    /// Warnings about other clones with a separate server, and the command that fixes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<String>,
    /// The branch that the work is for.
    pub(super) branch: String,
    /// The head of the branch, as the clone knows it.
    pub(super) branch_head: Option<String>,
    /// The reference that the head was read from.
    pub(super) branch_head_ref: Option<String>,
    /// The commit that is checked out.
    pub(super) head: Option<String>,
    /// How the checked-out commit relates to the head of the branch.
    pub(super) standing: Standing,
    /// The command that pulls the head, where it is missing.
    #[serde(skip)]
    pub(super) pull: Option<String>,
    /// The agent that the command acts for; `None` for a person.
    pub(super) agent_id: Option<String>,
    /// Own locks first, then by branch, file and time.
    pub(super) locks: Vec<ReportedLock>,
    /// Number of locks that the server left out.
    pub(super) locks_omitted: u64,
    /// Claims that wait for locks, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) waiting: Vec<WaitingClaim>,
    /// The intents that have not ended, the owner of each file, and the state of the caller.
    pub(super) intents: IntentsResponse,
    /// Number of bypasses of the guard of this clone, and the newest note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bypasses: Option<(usize, String)>,
    /// The last run of each hook, the latest first.
    pub(super) hooks: Vec<HookRun>,
}

/// How a working copy relates to the head of its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
    AtHead,
    /// It has the head, and commits that are not pushed.
    Ahead,
    /// It lacks the head.
    Behind,
    /// The clone does not know the branch, or nothing is checked out.
    Unknown,
}

/// A lock, and whether the caller holds it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReportedLock {
    /// Whether the holder is the caller: this agent of this person.
    pub(super) is_own: bool,
    #[serde(flatten)]
    pub(super) lock: HeldLock,
}

impl Report {
    /// Fetches the report from the server of `workplace`.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(super) async fn fetch(workplace: &Workplace) -> Result<Report, ClientError> {
        let client = &workplace.connection.client;
        let repo_url = workplace.work.repo_url();
        let own_locks = LocksFilter {
            is_own: true,
            ..LocksFilter::default()
        };
        let all_locks = LocksFilter::default();
        let (all, own, intents) = futures::join!(
            client.locks(&repo_url, &all_locks),
            client.locks(&repo_url, &own_locks),
            client.intents_if_any(&repo_url, IntentsView::State)
        );
        let mut report = Report::of(workplace, all?, own?, intents?);
        if report.standing == Standing::Behind {
            report.pull = next_command::pull(&workplace.work).await;
        }
        Ok(report)
    }

    fn of(workplace: &Workplace, all: LocksResponse, own: LocksResponse, mut intents: IntentsResponse) -> Report {
        intents.intents.retain(|view| !view.status.is_ended());
        // The report has the locks already.
        intents.locks = None;
        let work = &workplace.work;
        let tip = work.working_copy.tip(&work.branch);
        let rivals = workplace.rivals().into_iter();
        let warnings = rivals.map(|rival| format!("{}; to fix it: {}", rival.sentence, rival.fix));
        Report {
            repo_url: work.repo_url(),
            server: workplace.connection.address.clone(),
            is_local: workplace.connection.is_local,
            server_owner: workplace.connection.server_owner(),
            warnings: warnings.collect(),
            branch: work.branch.to_string(),
            pull: None,
            standing: compare_with_tip(work, tip.as_ref().map(|tip| tip.commit.as_str())),
            branch_head: tip.as_ref().map(|tip| tip.commit.to_string()),
            branch_head_ref: tip.map(|tip| tip.reference),
            head: work.head(),
            agent_id: workplace.agent_id().map(str::to_owned),
            locks_omitted: all.locks_omitted,
            waiting: all.waiting,
            locks: own_first(all.locks, &own.locks, workplace.agent_id()),
            intents,
            bypasses: bypass::noted(&work.working_copy),
            hooks: hook_runs(&local_server::file(&work.working_copy, "")),
        }
    }
}

fn compare_with_tip(work: &Work, tip: Option<&str>) -> Standing {
    match (work.head(), tip, work.base_head()) {
        (Some(head), Some(tip), _) if head == tip => Standing::AtHead,
        (Some(_), Some(tip), Some(base)) if base == tip => Standing::Ahead,
        (Some(_), Some(_), _) => Standing::Behind,
        _ => Standing::Unknown,
    }
}

/// The locks with the caller's own first. `own` are those of the person, and show the login. Of the person's agents,
/// only `agent_id` is the caller.
fn own_first(all: Vec<HeldLock>, own: &[HeldLock], agent_id: Option<&str>) -> Vec<ReportedLock> {
    let login = own.first().map(|lock| lock.user.as_str());
    let reported = |lock: HeldLock| ReportedLock {
        is_own: login == Some(lock.user.as_str()) && lock.agent_id.as_deref() == agent_id,
        lock,
    };
    let mut locks: Vec<ReportedLock> = all.into_iter().map(reported).collect();
    locks.sort_by_key(|reported| !reported.is_own);
    locks
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use coord_protocol::LockMode;

    pub fn lock(user: &str, agent_id: Option<&str>, file_path: &str) -> HeldLock {
        HeldLock {
            file_path: file_path.to_owned(),
            branch: "main".to_owned(),
            work_branch: None,
            user: user.to_owned(),
            user_name: user.to_owned(),
            agent_id: agent_id.map(str::to_owned),
            intent_id: None,
            interface: None,
            shared: false,
            status: LockMode::Writing,
            agent_head: None,
            message: "Adding a pool".to_owned(),
            since: Some(400),
            timestamp: 940,
            expiry: 1240,
        }
    }

    #[test]
    fn own_locks_come_first_and_are_those_of_this_agent_alone() {
        let all = vec![
            lock("bob", Some("one"), "a"),
            lock("ann", None, "b"),
            lock("ann", Some("one"), "c"),
        ];
        let own = vec![all[1].clone(), all[2].clone()];
        for (agent, expected) in [
            (None, [("b", true), ("a", false), ("c", false)]),
            (Some("one"), [("c", true), ("a", false), ("b", false)]),
            (Some("two"), [("a", false), ("b", false), ("c", false)]),
        ] {
            let shown = own_first(all.clone(), &own, agent);
            let order = shown.iter().map(|lock| (lock.lock.file_path.as_str(), lock.is_own));
            assert_eq!(order.collect::<Vec<_>>(), expected, "{agent:?}");
        }
    }
}
