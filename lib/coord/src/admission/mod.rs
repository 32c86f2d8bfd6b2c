//! Admission: what every request passes before its operation. The caller is verified in the repository (`identity`); then the store
//! looks at rate limits and the head of the branch, in one round trip with the operation itself. What the store does not know
//! yet is fetched here, and the script is run again ([`Admission::run`]).
//!
//! - `identity`: the caller's identity and rights; `caller_address`: where the request comes from
//! - `denial`: what a denial asks for is fetched
//! - `repository`: admission to what needs no head
//! - `pushed_work`: what the source says of work that is released

pub(crate) mod caller_address;
mod denial;
mod identity;
mod pushed_work;
mod repository;

use crate::app::App;
use crate::auth::CallerIdentity;
use crate::domain::{AgentId, Branch, CommitSha, Holder, RepoId};
use crate::error::ApiError;
use crate::heads;
use crate::source::{KnownHead, Source, SourceError, Tip};
use crate::store::scripts::{AdmissionTerms, Admitted, HeadTerms, Judged, SeenHead, Written};
use crate::store::{Store, StoreError};
use denial::no_push;
use identity::identify;
use pushed_work::Work;
pub(crate) use repository::admit_to_repository;

/// The age of a head of which a delivery has told that it may be another now is the time since 1970: more than these seconds.
const NEVER: u64 = 1_000_000_000;

/// A call of the store that begins with an admission.
pub(crate) trait AdmittedCall: Sync {
    /// The outcome of its script.
    type Outcome: Send;

    /// Makes it once, on these terms.
    fn make(
        &self,
        store: &dyn Store,
        terms: &AdmissionTerms<'_>,
    ) -> impl Future<Output = Result<Admitted<Self::Outcome>, StoreError>> + Send;
}

/// What a caller needs the right to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// To look.
    Read,
    /// To claim and give back.
    Push,
}

/// The admission of one request about a branch.
pub(crate) struct Admission<'a> {
    app: &'a App,
    repo: &'a RepoId,
    branch: &'a Branch,
    holder: Holder,
    /// Commits that the caller's working copy is known to contain.
    known_commits: Vec<CommitSha>,
    /// The head, where it was fetched from a source.
    fetched: Option<Tip>,
    /// The source whose heads are kept in the store.
    keeper: Option<&'a dyn Source>,
    /// A head that is older will not do.
    at_most: Option<u32>,
    /// No head is needed: what is thrown away can be given back when the branch is gone.
    needs_no_head: bool,
    /// Files are given back: what the source is asked has to be known.
    is_release: bool,
    is_counted: bool,
    is_asked: bool,
    /// The source could not say whether the caller's commits are of the branch.
    is_unsure: bool,
    /// The source said of one of the caller's commits that it does not contain the head.
    is_behind: bool,
    rounds: u32,
}

impl<'a> Admission<'a> {
    /// Verifies the caller, and then asks the source for the head, where it is not expensive to fetch. Without `known_commits` no
    /// head is needed.
    pub async fn begin(
        app: &'a App,
        repo: &'a RepoId,
        branch: &'a Branch,
        caller: CallerIdentity,
        agent_id: Option<AgentId>,
        right: Right,
        known_commits: Option<Vec<CommitSha>>,
    ) -> Result<Self, ApiError> {
        let needs_no_head = known_commits.is_none();
        let member = identify(app, caller, repo).await?;
        let holder = Holder {
            user_id: member.user_id,
            user_name: member.user_name,
            agent_id,
        };
        if right == Right::Push && !member.can_push {
            return Err(no_push(app, repo, branch, &holder).await?);
        }
        let source = app.source.as_deref();
        let keeper = source.filter(|source| source.keeps_heads_in_store(repo));
        let fetched = match source {
            Some(source) if keeper.is_none() => match source.tip(repo, branch).await {
                Ok(tip) => Some(tip),
                Err(error @ SourceError::UnknownRepository { .. }) => return Err(error.into()),
                Err(_) if needs_no_head => None,
                Err(error) => return Err(error.into()),
            },
            _ => None,
        };
        let mut admission = Admission {
            app,
            repo,
            branch,
            holder,
            known_commits: known_commits.unwrap_or_default(),
            keeper,
            at_most: None,
            needs_no_head,
            is_release: false,
            is_counted: false,
            is_asked: keeper.is_none(),
            is_unsure: false,
            is_behind: false,
            rounds: 0,
            fetched: None,
        };
        if let (Some(source), Some(tip)) = (source, &fetched) {
            admission.learn_known_commits(source, &tip.commit).await?;
        }
        admission.fetched = fetched;
        Ok(admission)
    }

    /// For a claim to write: the head must not be old.
    pub fn for_writing(mut self) -> Self {
        self.at_most = Some(self.app.head_ages.at_most);
        self
    }

    /// For a release.
    pub fn for_release(mut self) -> Self {
        self.is_release = true;
        self
    }

    /// Whether the source can be asked about the caller's work.
    pub fn can_ask(&self) -> bool {
        self.app.source.is_some() && !self.needs_no_head
    }

    /// What the source says of `written`, when `new_head` was pushed from a working copy at `agent_head`. A head that is kept in
    /// the store is refreshed first, since the caller says that it has just pushed.
    pub async fn judge_work(
        &mut self,
        known: KnownHead,
        new_head: &CommitSha,
        agent_head: &CommitSha,
        written: &[Written],
    ) -> Result<Vec<Judged>, ApiError> {
        let source = self.app.source.as_deref().ok_or(ApiError::Internal)?;
        self.is_counted = true;
        let head = match (self.fetched(), self.keeper) {
            (None, Some(keeper)) if !new_head.matches(&known.commit) => {
                heads::refresh(&*self.app.store, keeper, self.repo, self.branch, Some(&known)).await?
            }
            _ => known.commit,
        };
        let work = Work {
            repo: self.repo,
            head: &head,
            new_head,
            agent_head,
        };
        Ok(work.judge(source, written).await?)
    }

    /// Whether the source knows that a commit of the caller's lacks the head.
    pub fn is_behind_for_certain(&self) -> bool {
        self.is_behind
    }

    /// The head, where it was fetched from a source.
    pub fn fetched(&self) -> Option<&CommitSha> {
        self.fetched.as_ref().map(|tip| &tip.commit)
    }

    /// The reference that the head is read from, where that is known here.
    pub fn head_ref(&self) -> Option<String> {
        match (&self.fetched, self.keeper) {
            (Some(tip), _) => Some(tip.reference.clone()),
            (None, Some(_)) => Some(format!("refs/heads/{}", self.branch)),
            (None, None) => None,
        }
    }

    /// What sentences call the branch whose head was read: `upstream/main` for a remote-tracking branch, and `main` for one of a
    /// repository on this machine that has none. Clones of what is on GitHub commonly have it as `origin/main`.
    pub fn branch_name(&self) -> String {
        let read = self.fetched.as_ref().map(|tip| tip.reference.as_str());
        let name = read.and_then(|reference| {
            let remote = reference.strip_prefix("refs/remotes/");
            remote.or_else(|| reference.strip_prefix("refs/heads/"))
        });
        name.map_or_else(|| format!("origin/{}", self.branch), str::to_owned)
    }

    /// The terms on which the store admits it.
    fn terms(&self) -> AdmissionTerms<'_> {
        let ages = self.app.head_ages;
        AdmissionTerms {
            repo: self.repo,
            branch: self.branch,
            holder: &self.holder,
            rates: if self.is_counted {
                self.app.rates.of_questions()
            } else {
                self.app.rates
            },
            head: match (&self.fetched, self.keeper) {
                (Some(tip), _) => HeadTerms::Told(&tip.commit),
                (None, _) if self.needs_no_head => HeadTerms::Any,
                (None, None) => HeadTerms::Stored,
                (None, Some(_)) => HeadTerms::Aged {
                    refresh_after: ages.refresh_after,
                    at_most: self.at_most,
                    is_asked: self.is_asked,
                },
            },
            known_commits: &self.known_commits,
        }
    }

    /// Makes `call`, again and again while admission asks for something first; then it gives the outcome of the script.
    ///
    /// # Errors
    /// When the caller is denied, or the store or the source gives no answer.
    pub async fn run<C: AdmittedCall>(&mut self, call: &C) -> Result<C::Outcome, ApiError> {
        loop {
            match call.make(&*self.app.store, &self.terms()).await? {
                Admitted::Answer(outcome) => return Ok(outcome),
                Admitted::Denied(denial) => self.resolve(denial).await?,
            }
        }
    }

    /// Tells those who follow the branch of its head, and the caller if it could not be confirmed.
    pub fn note(&self, head: &SeenHead, warnings: &mut Vec<String>) {
        if (self.fetched.is_some() || self.keeper.is_some())
            && let Some(observer) = &self.app.head_observer
        {
            observer.saw_head(self.repo, self.branch, &head.commit);
        }
        if self.is_unsure {
            warnings.push(format!(
                "HEAD_UNCONFIRMED: GitHub cannot be asked for now whether your commits contain {} of {}.",
                head.commit.short(),
                self.branch
            ));
        } else if let (true, Some(age)) = (head.is_unconfirmed, head.age) {
            let (commit, branch) = (head.commit.short(), self.branch);
            warnings.push(if age < NEVER {
                format!("HEAD_UNCONFIRMED: GitHub cannot be asked for now; {commit} was the head of {branch} {age} s ago.")
            } else {
                format!(
                    "HEAD_UNCONFIRMED: GitHub cannot be asked for now; it is not known whether {commit} is still the head \
                     of {branch}."
                )
            });
        }
    }

    /// Tells who builds graphs that the store has none of a branch at `head`.
    pub fn misses_graph(&self, head: &CommitSha) {
        if let Some(observer) = &self.app.head_observer {
            observer.misses_graph(self.repo, self.branch, head);
        }
    }
}
