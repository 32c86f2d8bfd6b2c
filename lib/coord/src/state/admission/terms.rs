//! What every request passes before its operation: see `includes/admission.lua`.

use super::keys;
use super::scripts::ADMIT;
use crate::domain::{Branch, CommitSha, Holder, RepoId};
use crate::state::reply::{Reply, arguments};
use crate::state::{expiry, heads};
use crate::store::{Request, Store, StoreError, Value};

/// How often something may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Milliseconds between two at the sustained rate; 0 is no limit.
    pub interval_ms: u32,
    /// How many may come at once.
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const NONE: Rate = Rate {
        interval_ms: 0,
        burst: 0,
    };

    /// As the scripts read it.
    fn text(self) -> String {
        if self == Rate::NONE {
            return String::new();
        }
        format!("{} {}", self.interval_ms, self.burst)
    }
}

/// How often something may be requested in one repository. Claims may come half as often again as reads; renewals and releases
/// have as much once more, for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// By one holder: one agent of a person.
    pub holder: Rate,
    /// By one person, with all agents and credentials together.
    pub person: Rate,
    /// By all.
    pub repository: Rate,
    /// Questions to the source about commits that the store does not know, for one person.
    pub source: Rate,
    /// Questions to the source about branches that the store does not know, for one person.
    pub new: Rate,
}

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

impl Rates {
    /// No limits.
    pub const NONE: Rates = Rates {
        holder: Rate::NONE,
        person: Rate::NONE,
        repository: Rate::NONE,
        source: Rate::NONE,
        new: Rate::NONE,
    };

    /// What is left of them for a request that has been counted: the questions that it may still cost.
    #[must_use]
    pub fn of_questions(self) -> Rates {
        Rates {
            source: self.source,
            new: self.new,
            ..Rates::NONE
        }
    }
}

/// Where the head of the branch is taken from.
#[derive(Clone, Copy, Debug)]
pub enum HeadTerms<'a> {
    /// A source just told it.
    Told(&'a CommitSha),
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
            head: head.map_or(HeadTerms::Stored, HeadTerms::Told),
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
        let (told, refresh_after, at_most, is_asked) = match self.head {
            HeadTerms::Told(head) => (head.as_str(), String::new(), String::new(), true),
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
            told,
            &refresh_after,
            &at_most,
            if is_asked { "1" } else { "0" },
            &commits.join(" "),
        ])
    }
}

/// The outcome of a script that begins with an admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admitted<T> {
    /// The answer.
    Answer(T),
    /// Why not; nothing was changed.
    Denied(Denial),
}

impl<T> Admitted<T> {
    /// The same, with what `change` makes of an answer.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Admitted<U> {
        match self {
            Admitted::Answer(answer) => Admitted::Answer(change(answer)),
            Admitted::Denied(denial) => Admitted::Denied(denial),
        }
    }
}

/// Whose rate limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The caller's own.
    Holder,
    /// That of all agents and credentials of one person together.
    Person,
    /// That of all callers in the repository together.
    Repository,
    /// That of commits that the store does not know.
    Source,
    /// That of branches that the store does not know.
    New,
}

/// What there is too much of to look at in one script: see `locks/includes/entries.lua` and `builds/includes/adjacency.lua`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// Locks on the files of the request.
    Locks,
    /// Neighbors of these files.
    Neighbors,
}

/// What has no room for more locks: see `locks/includes/reserve.lua`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Full {
    /// This file.
    File(String),
    /// The caller.
    Person,
    /// The repository.
    Repository,
}

/// Why a request was not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Too many questions.
    Limited {
        /// Until the next is let in.
        retry_after_seconds: u64,
        /// Whose limit was met.
        whose: Limited,
    },
    /// The head has to be asked for, and it is this caller's turn; others go on with the one before.
    RefreshHead {
        /// What is stored.
        commit: Option<CommitSha>,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
    },
    /// The head is needed, and it is another's turn to ask for it, or it cannot be asked for.
    AwaitHead {
        /// For how long it cannot; 0 while another asks.
        retry_after_seconds: u64,
    },
    /// Nobody knows the head of this branch, and nobody here can ask.
    UnknownHead,
    /// There is too much to look at; fewer files at once would do.
    TooMuch(TooMuch),
    /// There is no room for more locks.
    Full(Full),
    /// Whether the caller's commits are of the branch, only the source can tell.
    AskSource {
        /// Head of the branch.
        head: CommitSha,
        /// Seconds since somebody looked whether it is still that.
        age: u64,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
    },
}

/// The head that an answer is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenHead {
    /// The commit.
    pub commit: CommitSha,
    /// Seconds since somebody looked whether it is still that; none where a source just told it.
    pub age: Option<u64>,
    /// It should have been looked at again, and could not be.
    pub is_unconfirmed: bool,
}

impl SeenHead {
    pub(in crate::state) fn read(reply: &mut Reply) -> Result<Self, StoreError> {
        Ok(SeenHead {
            commit: reply.commit()?,
            age: reply.optional_number()?,
            is_unconfirmed: reply.flag()?,
        })
    }

    /// The head; nothing, where the question was let in without one.
    pub(in crate::state) fn read_if_any(reply: &mut Reply) -> Result<Option<Self>, StoreError> {
        let commit = reply.optional_commit()?;
        let (age, is_unconfirmed) = (reply.optional_number()?, reply.flag()?);
        Ok(commit.map(|commit| SeenHead {
            commit,
            age,
            is_unconfirmed,
        }))
    }
}

/// The denial that a reply tells of, or the reply to be read on.
pub(in crate::state) fn denied(mut reply: Reply) -> Result<Result<Denial, Reply>, StoreError> {
    Ok(Ok(match reply.outcome.as_str() {
        "LIMITED" => Denial::Limited {
            retry_after_seconds: reply.number()?.unsigned_abs(),
            whose: match reply.text()?.as_str() {
                "HOLDER" => Limited::Holder,
                "PERSON" => Limited::Person,
                "REPOSITORY" => Limited::Repository,
                "SOURCE" => Limited::Source,
                "NEW" => Limited::New,
                _ => return Err(reply.malformed("an unknown limit")),
            },
        },
        "REFRESH_HEAD" => Denial::RefreshHead {
            commit: reply.optional_commit()?,
            etag: reply.optional_text()?,
        },
        "AWAIT_HEAD" => Denial::AwaitHead {
            retry_after_seconds: reply.number()?.unsigned_abs(),
        },
        "UNKNOWN_HEAD" => Denial::UnknownHead,
        "TOO_MUCH" => Denial::TooMuch(match reply.text()?.as_str() {
            "LOCKS" => TooMuch::Locks,
            "NEIGHBORS" => TooMuch::Neighbors,
            _ => return Err(reply.malformed("an unknown bound")),
        }),
        "FULL" => Denial::Full(match reply.text()?.as_str() {
            "FILE" => Full::File(reply.text()?),
            "PERSON" => Full::Person,
            "REPOSITORY" => Full::Repository,
            _ => return Err(reply.malformed("an unknown bound")),
        }),
        "ASK_SOURCE" => Denial::AskSource {
            head: reply.commit()?,
            age: reply.number()?.unsigned_abs(),
            etag: reply.optional_text()?,
        },
        _ => return Ok(Err(reply)),
    }))
}

/// Reads an answer by `read`, unless the request was denied.
pub(in crate::state) fn admitted<T>(
    reply: Reply,
    read: impl FnOnce(Reply) -> Result<T, StoreError>,
) -> Result<Admitted<T>, StoreError> {
    match denied(reply)? {
        Ok(denial) => Ok(Admitted::Denied(denial)),
        Err(reply) => read(reply).map(Admitted::Answer),
    }
}

/// Lets a question in that is answered by `reads` alone, which are asked in the same round trip and answered in their order.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn admit(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    reads: Vec<Request>,
) -> Result<Admitted<(SeenHead, Vec<Value>)>, StoreError> {
    ask(store, entry, reads, SeenHead::read).await
}

/// The same for a question that needs no head: [`HeadTerms::Any`].
///
/// # Errors
/// As those of [`admit`].
pub async fn admit_without_head(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    reads: Vec<Request>,
) -> Result<Admitted<Vec<Value>>, StoreError> {
    let admitted = ask(store, entry, reads, SeenHead::read_if_any).await?;
    Ok(admitted.map(|(_, replies)| replies))
}

async fn ask<H>(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    reads: Vec<Request>,
    read_head: impl FnOnce(&mut Reply) -> Result<H, StoreError>,
) -> Result<Admitted<(H, Vec<Value>)>, StoreError> {
    let mut batch = vec![Request::Script {
        script: &ADMIT,
        keys: entry.keys(),
        args: entry.arguments(Kind::Read, 1),
    }];
    batch.extend(reads);
    let mut replies = store.run(batch).await?.into_iter();
    let reply = Reply::open(&ADMIT, replies.next())?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "ADMITTED" => Ok((read_head(&mut reply)?, replies.collect())),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}
