//! Admission: what every request passes before its operation. The caller is verified in the repository (`identity`); then the store
//! looks at rate limits and the head of the branch, in one round trip with the operation itself. What the store does not know
//! yet is fetched here, and the script is run again ([`Admission::run`]).
//!
//! - `identity`: the caller's identity and rights; `caller_address`: where the request comes from
//! - `repository`: admission to what needs no head
//! - `pushed_work`: what the source says of work that is released

pub(crate) mod caller_address;
mod identity;
mod pushed_work;
mod repository;

use std::time::Duration;

use crate::app::App;
use crate::auth::CallerIdentity;
use crate::domain::{AgentId, Branch, CommitSha, Holder, RepoId};
use crate::error::ApiError;
use crate::heads;
use crate::source::{KnownHead, Reachable, Source, SourceError, Tip};
use crate::store::scripts::{AdmissionTerms, Admitted, Denial, HeadTerms, Judged, Limited, SeenHead, Written, enter};
use crate::store::{Store, StoreError};
use identity::identify;
use pushed_work::Work;
pub(crate) use repository::admit_to_repository;

/// How often a script may be run again for one request: for the head, for what the source says of commits, and while another
/// request fetches the head.
const MOST_ROUNDS: u32 = 30;

/// The pause before a script is run again while another request fetches the head.
const PAUSE: Duration = Duration::from_millis(100);

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

    /// Fetches what `denial` asks for; an error where the caller is denied for good.
    async fn resolve(&mut self, denial: Denial) -> Result<(), ApiError> {
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            return Err(ApiError::SourceUnavailable(
                "the head of the branch is being asked for, which takes long; try again soon".to_owned(),
            ));
        }
        match denial {
            // As where GitHub cannot be asked: only that work was pushed has to be known.
            Denial::Limited {
                whose: Limited::Source, ..
            } if !self.is_release => {
                self.is_counted = true;
                self.is_unsure = true;
                self.is_asked = true;
            }
            Denial::Limited {
                retry_after_seconds,
                whose,
            } => return Err(limited(retry_after_seconds, whose)),
            Denial::RefreshHead { commit, etag } => {
                self.is_counted = true;
                self.refresh(commit, etag).await?;
            }
            Denial::AwaitHead { retry_after_seconds: 0 } => {
                self.is_counted = true;
                tokio::time::sleep(PAUSE).await;
            }
            Denial::AwaitHead { retry_after_seconds } => return Err(ApiError::SourceLimited { retry_after_seconds }),
            Denial::UnknownHead => return Err(self.unknown_head()),
            Denial::TooMuch(what) => return Err(ApiError::TooMuchAtOnce(what)),
            Denial::Full(what) => return Err(ApiError::TooManyLocks(what)),
            Denial::AskSource { head, age, etag } => {
                self.is_counted = true;
                match self.ask_source(KnownHead { commit: head, etag }, age).await {
                    // A caller who is told to pull when it need not loses nothing.
                    Err(error) if error.is_of_source() => self.is_unsure = true,
                    asked => asked?,
                }
                self.is_asked = true;
            }
        }
        Ok(())
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

    /// The error for a branch of which neither source nor store knows the head.
    fn unknown_head(&self) -> ApiError {
        ApiError::SourceUnavailable(format!(
            "nothing is known of branch {} of {} yet: no server that can read the repository has reported its head",
            self.branch, self.repo
        ))
    }

    /// Asks for the head. Where it cannot be asked for, one that is known and not too old does.
    async fn refresh(&self, commit: Option<CommitSha>, etag: Option<String>) -> Result<(), ApiError> {
        let Some(source) = self.keeper else {
            return Err(ApiError::Internal);
        };
        let known = commit.map(|commit| KnownHead { commit, etag });
        match heads::refresh(&*self.app.store, source, self.repo, self.branch, known.as_ref()).await {
            Ok(_) => Ok(()),
            Err(error) => match ApiError::from(error) {
                // What was noted in the store decides when the question is asked again.
                error if error.is_of_source() && known.is_some() => Ok(()),
                error => Err(error),
            },
        }
    }

    /// Asks the source what the store cannot tell of the caller's commits: first whether the head has moved to them, where it
    /// is not fresh.
    async fn ask_source(&mut self, known: KnownHead, age: u64) -> Result<(), ApiError> {
        let Some(source) = self.keeper else {
            return Err(ApiError::Internal);
        };
        let is_old = age > u64::from(self.app.head_ages.refresh_after);
        let head = if is_old {
            heads::refresh(&*self.app.store, source, self.repo, self.branch, Some(&known)).await?
        } else {
            known.commit
        };
        self.learn_known_commits(source, &head).await
    }

    /// Whether the caller's commits contain `head`.
    async fn learn_known_commits(&mut self, source: &dyn Source, head: &CommitSha) -> Result<(), ApiError> {
        if self.known_commits.iter().any(|commit| commit.matches(head)) {
            return Ok(());
        }
        for commit in self.to_ask_about(source) {
            match source.is_ancestor(self.repo, head, &commit).await? {
                Reachable::Yes => {
                    self.known_commits.push(head.clone());
                    break;
                }
                Reachable::No => self.is_behind = true,
                Reachable::Unknown => {}
            }
        }
        Ok(())
    }

    /// The caller's commits that the source is asked about: one, where that is expensive. It is the last, which is the newest of
    /// the branch where the caller names that: its own newest may be known to nobody else.
    fn to_ask_about(&self, source: &dyn Source) -> Vec<CommitSha> {
        let skipped = if source.keeps_heads_in_store(self.repo) {
            self.known_commits.len().saturating_sub(1)
        } else {
            0
        };
        self.known_commits.iter().skip(skipped).cloned().collect()
    }
}

/// The refusal of a caller that may only read. It counts as a request.
async fn no_push(app: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<ApiError, ApiError> {
    let terms = AdmissionTerms {
        rates: app.rates,
        ..AdmissionTerms::of(repo, branch, holder, None, &[])
    };
    if let Admitted::Denied(Denial::Limited {
        retry_after_seconds,
        whose,
    }) = enter(&*app.store, &terms, Vec::new()).await?
    {
        return Ok(limited(retry_after_seconds, whose));
    }
    let login = &holder.user_id;
    Ok(ApiError::ForbiddenRepository(format!(
        "{login} may read {repo} with this token, but not push to it, which claims are for"
    )))
}

fn limited(retry_after_seconds: u64, whose: Limited) -> ApiError {
    ApiError::RateLimited {
        retry_after_seconds,
        whose: match whose {
            Limited::Holder => "you ask too often",
            Limited::Person => "all agents of yours together ask too often",
            Limited::Repository => "all callers of this repository together ask too often",
            Limited::Source => {
                "you ask about too many commits that are not known here; send base_head, and pushed commits"
            }
            Limited::New => "you ask about too many branches that are not known here",
        },
    }
}
