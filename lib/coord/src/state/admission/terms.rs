//! The terms on which a request is admitted: the KEYS and ARGV of `includes/request.lua`.

use super::keys;
use super::rates::Rates;
use crate::domain::{Branch, CommitSha, Holder, RepoId};
use crate::state::reply::arguments;
use crate::state::{expiry, heads, intents, locks};

/// The kind of a request, which determines its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Kind {
    /// A read.
    Read,
    /// A claim or a renewal, which the script distinguishes.
    Claim,
    /// A claim whose repository has just been put on the due list.
    Marked,
    /// A release.
    Release,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Read => "READ",
            Kind::Claim => "CLAIM",
            Kind::Marked => "MARKED",
            Kind::Release => "RELEASE",
        }
    }
}

/// Number of paths that count as one request.
pub(in crate::state) const PATHS_OF_A_REQUEST: usize = 32;

/// Where the head of the branch is taken from.
#[derive(Clone, Copy, Debug)]
pub enum HeadTerms<'a> {
    /// A source has just given it.
    Fetched(&'a CommitSha),
    /// The store, however old: nobody here can ask.
    Stored,
    /// The stored head of any age, or none.
    Any,
    /// The stored head, if it is fresh enough.
    Aged {
        /// Seconds after which it is fetched again.
        refresh_after: u32,
        /// Maximum age in seconds when it cannot be fetched; `None` for any age.
        at_most: Option<u32>,
        /// Whether the source was asked about commits of the caller that the store does not know.
        is_asked: bool,
    },
}

/// The terms on which a request is admitted.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionTerms<'a> {
    /// The repository.
    pub repo: &'a RepoId,
    /// The branch.
    pub branch: &'a Branch,
    /// The branch that the caller commits to, where it is another one.
    pub work_branch: Option<&'a Branch>,
    /// The caller.
    pub holder: &'a Holder,
    /// Rate limits.
    pub rates: Rates,
    /// The origin of the head.
    pub head: HeadTerms<'a>,
    /// Commits that the caller's working copy is known to contain.
    pub known_commits: &'a [CommitSha],
}

impl<'a> AdmissionTerms<'a> {
    /// Terms without rate limits for a known caller, with the given head or the stored one.
    pub fn of(
        repo: &'a RepoId,
        branch: &'a Branch,
        holder: &'a Holder,
        head: Option<&'a CommitSha>,
        known_commits: &'a [CommitSha],
    ) -> Self {
        AdmissionTerms {
            repo,
            branch,
            work_branch: None,
            holder,
            rates: Rates::NONE,
            head: head.map_or(HeadTerms::Stored, HeadTerms::Fetched),
            known_commits,
        }
    }

    /// The KEYS of every request, as in `includes/request.lua`.
    pub(in crate::state) fn keys(&self) -> Vec<String> {
        // The hash gives keys of one length and form for all logins.
        let person = crate::store::script::sha1_hex(self.holder.user_id.as_str());
        vec![
            heads::keys::head(self.repo, self.branch),
            keys::limit(self.repo, &person),
            keys::limit(self.repo, "all"),
            heads::keys::webhook(self.repo),
            expiry::keys::marked(self.repo),
            intents::keys::governed(self.repo),
            locks::keys::queue(self.repo),
            locks::keys::taken(self.repo),
        ]
    }

    /// The ARGV of every request with `paths` paths, as in `includes/request.lua`.
    pub(in crate::state) fn arguments(&self, kind: Kind, paths: usize) -> Vec<Vec<u8>> {
        let (fetched, refresh_after, at_most, is_asked) = match self.head {
            HeadTerms::Fetched(head) => (head.as_str(), String::new(), String::new(), true),
            HeadTerms::Stored => ("", String::new(), String::new(), true),
            HeadTerms::Any => ("", "ANY".to_owned(), String::new(), true),
            HeadTerms::Aged {
                refresh_after,
                at_most,
                is_asked,
            } => {
                let at_most = at_most.map(|seconds| seconds.to_string()).unwrap_or_default();
                ("", refresh_after.to_string(), at_most, is_asked)
            }
        };
        let commits: Vec<&str> = self.known_commits.iter().map(CommitSha::as_str).collect();
        let cost = match self.rates.is_counted {
            true => 0,
            false => 1 + paths.saturating_sub(1) / PATHS_OF_A_REQUEST,
        };
        let branches = match self.work_branch {
            Some(work_branch) => format!("{}\n{work_branch}", self.branch),
            None => self.branch.to_string(),
        };
        arguments([
            branches.as_str(),
            self.holder.user_id.as_str(),
            &self.holder.user_name,
            self.holder.agent_or_empty(),
            kind.as_str(),
            &cost.to_string(),
            &self.rates.holder.text(),
            &self.rates.person.text(),
            &self.rates.repository.text(),
            &self.rates.source.text(),
            &self.rates.new.text(),
            fetched,
            &refresh_after,
            &at_most,
            if is_asked { "1" } else { "0" },
            &commits.join(" "),
        ])
    }
}
