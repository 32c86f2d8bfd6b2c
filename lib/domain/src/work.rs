//! Whether the branch has the work that was done under a lock.

/// Facts about one written file at its release. The *new head* is the commit that the caller says it has pushed; the
/// *claim head* is the head of the branch at the claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkFacts {
    /// The new head is the claim head.
    pub is_same_commit: bool,
    /// The new head is on the branch.
    pub is_on_branch: bool,
    /// The new head descends from the claim head.
    pub follows_claim: bool,
    /// It is unknown whether it descends: the source lacks commits, as a shallow clone does.
    pub is_relation_unknown: bool,
    /// The new head is an ancestor of the claim head.
    pub is_before_claim: bool,
    /// The claim head is no longer on the branch: history was rewritten, so nothing on the branch descends from it.
    pub is_rewritten: bool,
    /// The file is the same at the new head and at the claim head.
    pub is_same_content: bool,
    /// The working copy has no work on the file that the new head lacks: its commit is the new head, is on the branch,
    /// or has the same file as the new head (for example after a squash).
    pub has_all_work: bool,
}

/// The verdict on a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The branch has the work.
    Pushed,
    /// The work branch has the work; the branch that the work is for does not have it yet.
    Waiting,
    /// There is no work: the file is as it was at the claim.
    Unchanged,
    /// The branch does not have the work, or it is unknown whether it does.
    Missing(Shortfall),
}

/// Why the work does not count as pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// The new head is the claim head: nothing was committed.
    SameCommit,
    /// The new head is not on the branch.
    NotOnBranch,
    /// The new head was on the branch before the claim.
    BeforeClaim,
    /// The new head is on the branch, but its history does not include the claim head.
    NotAfterClaim,
    /// The working copy has commits that are not on the branch.
    CopyAhead,
    /// The files of one release were claimed at too many heads of the branch to check them all.
    TooManyClaims,
    /// The reason is unknown.
    Unknown,
}

impl WorkFacts {
    /// Decides whether the branch has the work.
    pub fn verdict(self) -> Verdict {
        if self.is_same_commit {
            return Verdict::Missing(Shortfall::SameCommit);
        }
        let follows_rewrite = self.is_rewritten && self.is_on_branch && !self.is_before_claim;
        if !(self.follows_claim || follows_rewrite) {
            return Verdict::Missing(match (self.is_on_branch, self.is_relation_unknown) {
                (false, _) => Shortfall::NotOnBranch,
                (true, _) if self.is_before_claim => Shortfall::BeforeClaim,
                (true, false) => Shortfall::NotAfterClaim,
                (true, true) => Shortfall::Unknown,
            });
        }
        if !self.has_all_work {
            return Verdict::Missing(Shortfall::CopyAhead);
        }
        if self.is_same_content {
            return Verdict::Unchanged;
        }
        if self.is_on_branch {
            Verdict::Pushed
        } else {
            Verdict::Missing(Shortfall::NotOnBranch)
        }
    }
}

impl Verdict {
    const ALL: [Verdict; 10] = [
        Verdict::Pushed,
        Verdict::Waiting,
        Verdict::Unchanged,
        Verdict::Missing(Shortfall::SameCommit),
        Verdict::Missing(Shortfall::NotOnBranch),
        Verdict::Missing(Shortfall::BeforeClaim),
        Verdict::Missing(Shortfall::NotAfterClaim),
        Verdict::Missing(Shortfall::CopyAhead),
        Verdict::Missing(Shortfall::TooManyClaims),
        Verdict::Missing(Shortfall::Unknown),
    ];

    /// The spelling in `release.lua`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pushed => "PUSHED",
            Verdict::Waiting => "WAITING",
            Verdict::Unchanged => "UNCHANGED",
            Verdict::Missing(Shortfall::SameCommit) => "SAME",
            Verdict::Missing(Shortfall::NotOnBranch) => "ELSEWHERE",
            Verdict::Missing(Shortfall::BeforeClaim) => "BEFORE",
            Verdict::Missing(Shortfall::NotAfterClaim) => "EARLIER",
            Verdict::Missing(Shortfall::CopyAhead) => "AHEAD",
            Verdict::Missing(Shortfall::TooManyClaims) => "CLAIMS",
            Verdict::Missing(Shortfall::Unknown) => "UNKNOWN",
        }
    }

    /// The verdict with that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pushed_work_that_follows_the_claim_is_let_go() {
        use Shortfall::{BeforeClaim, CopyAhead, NotAfterClaim, NotOnBranch, SameCommit, Unknown};
        use Verdict::{Missing, Pushed, Unchanged};
        // s same commit, b on the branch, f follows, ? unknown, o older, r rewritten, u unchanged, t has all work.
        for (letters, expected) in [
            ("bft", Pushed),
            ("bfut", Unchanged),
            ("sbfut", Missing(SameCommit)),
            ("bt", Missing(NotAfterClaim)),
            ("but", Missing(NotAfterClaim)),
            ("b?t", Missing(Unknown)),
            ("?t", Missing(NotOnBranch)),
            ("b?rt", Pushed),
            ("ft", Missing(NotOnBranch)),
            ("fut", Unchanged),
            ("t", Missing(NotOnBranch)),
            ("ut", Missing(NotOnBranch)),
            ("bf", Missing(CopyAhead)),
            ("bfu", Missing(CopyAhead)),
            ("brt", Pushed),
            ("brut", Unchanged),
            ("bot", Missing(BeforeClaim)),
            ("brot", Missing(BeforeClaim)),
            ("brout", Missing(BeforeClaim)),
            ("rot", Missing(NotOnBranch)),
            ("rt", Missing(NotOnBranch)),
            ("br", Missing(CopyAhead)),
        ] {
            let facts = WorkFacts {
                is_same_commit: letters.contains('s'),
                is_on_branch: letters.contains('b'),
                follows_claim: letters.contains('f'),
                is_relation_unknown: letters.contains('?'),
                is_before_claim: letters.contains('o'),
                is_rewritten: letters.contains('r'),
                is_same_content: letters.contains('u'),
                has_all_work: letters.contains('t'),
            };
            assert_eq!(facts.verdict(), expected, "{letters}");
        }
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::parse(verdict.as_str()), Some(verdict));
        }
        assert_eq!(Verdict::parse("pushed"), None);
    }
}
