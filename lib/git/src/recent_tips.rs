//! Heads that were read a moment ago, so that many concurrent requests read git's files once. Reading them took a
//! seventh of the processor time of a check.

use std::time::{Duration, Instant};

use coord_domain::{Branch, RepoId};
use coord_sources::Tip;
use parking_lot::Mutex;

/// How long a head counts as just read. After `git fetch` or `git push` has moved a reference, its process takes longer
/// than this to end, so a caller that waits for the process never sees the old head.
const LIFETIME: Duration = Duration::from_millis(1);

/// Maximum number of heads.
const MAX_TIPS: usize = 16;

#[derive(Debug)]
struct RecentTip {
    repo: RepoId,
    branch: Branch,
    tip: Tip,
    read_at: Instant,
}

/// The heads of the branches that were read last.
#[derive(Debug, Default)]
pub(super) struct RecentTips(Mutex<Vec<RecentTip>>);

impl RecentTips {
    pub(super) fn find(&self, repo: &RepoId, branch: &Branch) -> Option<Tip> {
        let tips = self.0.lock();
        let recent = tips.iter().find(|tip| tip.branch == *branch && tip.repo == *repo)?;
        (recent.read_at.elapsed() < LIFETIME).then(|| recent.tip.clone())
    }

    /// Notes a head. Its read began at `read_at`.
    pub(super) fn note(&self, repo: &RepoId, branch: &Branch, tip: &Tip, read_at: Instant) {
        let mut tips = self.0.lock();
        let earlier = tips
            .iter_mut()
            .find(|earlier| earlier.branch == *branch && earlier.repo == *repo);
        if let Some(earlier) = earlier {
            earlier.tip.clone_from(tip);
            earlier.read_at = read_at;
            return;
        }
        tips.retain(|recent| recent.read_at.elapsed() < LIFETIME);
        if tips.len() < MAX_TIPS {
            tips.push(RecentTip {
                repo: repo.clone(),
                branch: branch.clone(),
                tip: tip.clone(),
                read_at,
            });
        }
    }

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
        tips.note(&repo, &main, &tip("3"), Instant::now() - LIFETIME);
        assert_eq!(tips.find(&repo, &main), None);
        for number in 0..2 * MAX_TIPS {
            tips.note(&repo, &Branch::parse(&format!("b{number}")).unwrap(), &tip("1"), soon);
        }
        assert_eq!(tips.0.lock().len(), MAX_TIPS);
        tips.clear();
        assert_eq!(tips.find(&repo, &Branch::parse("b0").unwrap()), None);
    }
}
