//! Heads that were read a moment ago, so that many requests at once read the files of git once. Reading them took a seventh of the
//! processor time of a check.

use std::time::{Duration, Instant};

use coord_domain::{Branch, RepoId};
use coord_sources::Tip;
use parking_lot::Mutex;

/// How long a head counts as just read. After `git fetch` or `git push` has moved a reference, its process takes longer than this to end,
/// so a caller that waits for it never sees the old head.
const RECENT: Duration = Duration::from_millis(1);

/// Most branches that are kept.
const MOST: usize = 16;

#[derive(Debug)]
struct TipRead {
    repo: RepoId,
    branch: Branch,
    tip: Tip,
    at: Instant,
}

/// The heads of the branches that were read last.
#[derive(Debug, Default)]
pub(super) struct RecentTips(Mutex<Vec<TipRead>>);

impl RecentTips {
    pub(super) fn find(&self, repo: &RepoId, branch: &Branch) -> Option<Tip> {
        let reads = self.0.lock();
        let read = reads.iter().find(|read| read.branch == *branch && read.repo == *repo)?;
        (read.at.elapsed() < RECENT).then(|| read.tip.clone())
    }

    /// Notes a head whose reading began `at`.
    pub(super) fn note(&self, repo: &RepoId, branch: &Branch, tip: &Tip, at: Instant) {
        let mut reads = self.0.lock();
        let known = reads
            .iter_mut()
            .find(|read| read.branch == *branch && read.repo == *repo);
        if let Some(known) = known {
            known.tip.clone_from(tip);
            known.at = at;
            return;
        }
        reads.retain(|read| read.at.elapsed() < RECENT);
        if reads.len() < MOST {
            reads.push(TipRead {
                repo: repo.clone(),
                branch: branch.clone(),
                tip: tip.clone(),
                at,
            });
        }
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use coord_domain::CommitSha;

    use super::*;

    #[test]
    fn a_head_counts_for_its_branch_and_for_a_millisecond() {
        let (repo, tips) = (RepoId::parse("github.com/acme/shop").unwrap(), RecentTips::default());
        let [main, other] = ["main", "other"].map(|name| Branch::parse(name).unwrap());
        let tip = |digit: &str| Tip {
            commit: CommitSha::parse(&digit.repeat(40)).unwrap(),
            reference: "refs/heads/main".to_owned(),
        };
        // So far ahead that no pause of the test makes it old.
        let soon = Instant::now() + Duration::from_secs(3600);
        tips.note(&repo, &main, &tip("1"), soon);
        assert_eq!(tips.find(&repo, &main), Some(tip("1")));
        assert_eq!(tips.find(&repo, &other), None);
        tips.note(&repo, &main, &tip("2"), soon);
        assert_eq!(tips.find(&repo, &main), Some(tip("2")));
        tips.note(&repo, &main, &tip("3"), Instant::now() - RECENT);
        assert_eq!(tips.find(&repo, &main), None);
        for number in 0..2 * MOST {
            tips.note(&repo, &Branch::parse(&format!("b{number}")).unwrap(), &tip("1"), soon);
        }
        assert_eq!(tips.0.lock().len(), MOST);
        tips.clear();
        assert_eq!(tips.find(&repo, &Branch::parse("b0").unwrap()), None);
    }
}
