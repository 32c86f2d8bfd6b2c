//! The terms on which a request is admitted: the KEYS and ARGV of `includes/request.lua`.

use super::keys;
use super::rates::Rates;
use crate::domain::{Branch, CommitSha, Holder, RepoId};
use crate::state::reply::arguments;
use crate::state::{expiry, heads};

/// What a request is for, which decides its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Kind {
    /// Looking.
    Read,
    /// Claiming, or renewing: which of them, the script finds out.
    Claim,
    /// A claim whose repository has just been put on the list of what is due.
    Marked,
    /// Giving back.
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

/// How many paths cost as much as one request.
const PATHS_OF_A_REQUEST: usize = 32;

/// Where the head of the branch is taken from.
#[derive(Clone, Copy, Debug)]
pub enum HeadTerms<'a> {
    /// A source has just given it.
    Fetched(&'a CommitSha),
    /// The store, however old: nobody here can ask.
    Stored,
    /// The store, however old, and where it has none, none.
    Any,
    /// The store, if it is young enough.
    Aged {
        /// Seconds after which it is asked for again.
        refresh_after: u32,
        /// Seconds that it may be old where it cannot be asked for; any age will do without.
        at_most: Option<u32>,
        /// The source has been asked what the store cannot tell of the caller's commits.
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
    /// Who asks.
    pub holder: &'a Holder,
    /// How often that may be.
    pub rates: Rates,
    /// Where the head is taken from.
    pub head: HeadTerms<'a>,
    /// Commits that the caller's working copy is known to contain.
    pub known_commits: &'a [CommitSha],
}

impl<'a> AdmissionTerms<'a> {
    /// Without limits, for one who is known; the head is the one given, or the stored one.
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
            holder,
            rates: Rates::NONE,
            head: head.map_or(HeadTerms::Stored, HeadTerms::Fetched),
            known_commits,
        }
    }

    /// The KEYS of every request, by `includes/request.lua`.
    pub(in crate::state) fn keys(&self) -> Vec<String> {
        // Names of any length and form make a key of one length and form.
        let person = crate::store::script::sha1_hex(self.holder.user_id.as_str());
        vec![
            heads::keys::head(self.repo, self.branch),
            keys::limit(self.repo, &person),
            keys::limit(self.repo, "all"),
            heads::keys::webhook(self.repo),
            expiry::keys::marked(self.repo),
        ]
    }

    /// The ARGV of every request, by `includes/request.lua`, for one that names so many paths.
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
        let cost = 1 + paths.saturating_sub(1) / PATHS_OF_A_REQUEST;
        arguments([
            self.branch.as_str(),
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
