//! The terms on which a request is admitted, as `modules/request.lua` reads them.

use serde::Serialize;

use super::keys;
use super::uses::{RepositoryUses, USES_EVERYTHING};
use crate::request_keys::Keys;
use crate::{expiry, heads, locks};
use coord_domain::{Branch, CommitSha, Holder, RepoId};
use coord_settings::Rates;

/// The kind of a request, which determines its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Read,
    /// A claim or a renewal, which the script distinguishes.
    Claim,
    /// A claim whose repository has just been put on the due list.
    Marked,
    Release,
}

impl RequestKind {
    fn as_str(self) -> &'static str {
        match self {
            RequestKind::Read => "READ",
            RequestKind::Claim => "CLAIM",
            RequestKind::Marked => "MARKED",
            RequestKind::Release => "RELEASE",
        }
    }
}

/// Number of paths that count as one request.
pub const PATHS_OF_A_REQUEST: usize = 32;

/// The source of the head of the branch.
#[derive(Clone, Copy, Debug)]
pub enum HeadTerms<'a> {
    /// A source has just returned it.
    Fetched(&'a CommitSha),
    /// The store, however old it is: no source can be asked.
    Stored,
    /// The stored head of any age, or none.
    Any,
    /// The stored head, if it is fresh enough.
    Aged {
        /// Seconds after which it is fetched again.
        refresh_after: u32,
        /// Maximum age in seconds if it cannot be fetched; `None` for any age.
        at_most: Option<u32>,
        /// Whether the source was asked about commits of the caller that the store does not know.
        is_asked: bool,
    },
}

/// The terms on which a request is admitted.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionTerms<'a> {
    pub repo: &'a RepoId,
    pub branch: &'a Branch,
    /// The branch that the caller commits to, if it is not `branch`.
    pub work_branch: Option<&'a Branch>,
    pub holder: &'a Holder,
    pub rates: Rates,
    pub head: HeadTerms<'a>,
    /// Commits that the caller's working copy is known to contain.
    pub known_commits: &'a [CommitSha],
    /// The features that the repository is known to use.
    pub uses: &'a RepositoryUses,
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
            uses: &USES_EVERYTHING,
        }
    }

    /// The KEYS of every request.
    pub fn keys(&self) -> Keys {
        // Hashed, keys have the same length and form for all logins.
        let person = coord_store::script::sha1_hex(self.holder.user_id.as_str());
        Keys::of([
            ("head", heads::keys::head(self.repo, self.branch)),
            ("person_limits", keys::limit(self.repo, &person)),
            ("repository_limits", keys::limit(self.repo, "all")),
            ("webhook", heads::keys::webhook(self.repo)),
            ("mark", expiry::keys::marked(self.repo)),
            ("governed", locks::keys::governed(self.repo)),
            ("queue", locks::keys::queue(self.repo)),
            ("taken", locks::keys::taken(self.repo)),
        ])
    }

    /// ARGV of a request with `paths` paths and the fields of `own`, `()` for none.
    pub fn args<T: Serialize>(&self, kind: RequestKind, paths: usize, keys: &Keys, own: &T) -> Vec<Vec<u8>> {
        let (fetched_head, refresh_after, most_age, may_ask_source) = match self.head {
            HeadTerms::Fetched(head) => (Some(head), None, None, false),
            HeadTerms::Stored | HeadTerms::Any => (None, None, None, false),
            HeadTerms::Aged {
                refresh_after,
                at_most,
                is_asked,
            } => (None, Some(refresh_after), at_most, !is_asked),
        };
        let commits: Vec<&str> = self.known_commits.iter().map(CommitSha::as_str).collect();
        let request = Request {
            keys: &keys.names(),
            branch: self.branch.as_str(),
            work_branch: self.work_branch.map(Branch::as_str),
            user_id: self.holder.user_id.as_str(),
            user_name: &self.holder.user_name,
            agent_id: self.holder.agent_or_empty(),
            kind: kind.as_str(),
            cost: match self.rates.is_counted {
                true => 0,
                false => 1 + paths.saturating_sub(1) / PATHS_OF_A_REQUEST,
            },
            rates: self.rates.as_text(),
            fetched_head: fetched_head.map(CommitSha::as_str),
            any_head: matches!(self.head, HeadTerms::Any),
            refresh_after,
            most_age,
            may_ask_source,
            known_commits: &commits.join(" "),
            own,
        };
        // Encoding cannot fail: there are only texts and numbers, under names.
        vec![serde_json::to_vec(&request).unwrap_or_default()]
    }
}

/// ARGV[1] of `modules/request.lua`.
#[derive(Serialize)]
struct Request<'a, T> {
    keys: &'a str,
    branch: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_branch: Option<&'a str>,
    user_id: &'a str,
    user_name: &'a str,
    agent_id: &'a str,
    kind: &'static str,
    cost: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rates: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched_head: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    any_head: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_after: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_age: Option<u32>,
    #[serde(skip_serializing_if = "is_false")]
    may_ask_source: bool,
    known_commits: &'a str,
    #[serde(flatten)]
    own: &'a T,
}

/// Whether a field is omitted, since an absent one means false.
pub fn is_false(flag: &bool) -> bool {
    !flag
}
