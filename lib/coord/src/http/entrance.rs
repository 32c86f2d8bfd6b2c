//! What every request passes: who the caller is and what it may do here (`identity.rs`), then how often it asks and the head of
//! the branch. The store says the last two together with the answer, in one round trip; what it does not know yet is fetched
//! here, and the request made again.

use std::time::Duration;

use super::ApiError;
use super::identity::identify;
use super::pushed_work::Work;
use crate::app::App;
use crate::auth::Entrant;
use crate::domain::{AgentId, Branch, CommitSha, Holder, RepoId};
use crate::heads;
use crate::source::{KnownHead, Reachable, Source, SourceError, Tip};
use crate::store::scripts::{
    Entered, Entry, HeadTerms, Judged, Limited, SeenHead, Stop, Written, enter, enter_without_head,
};
use crate::store::{Request, Value};

/// How often one question may be asked again: for its identity, its head, what the source says of its commits, and while
/// another asks for the head.
const MOST_ROUNDS: u32 = 30;

/// The pause before a question is asked again while another asks for the head.
const PAUSE: Duration = Duration::from_millis(100);

/// The age of a head of which a delivery has told that it may be another now is the time since 1970: more than these seconds.
const NEVER: u64 = 1_000_000_000;

/// What a caller wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// To look.
    Read,
    /// To claim and give back.
    Push,
}

/// A question on its way in.
pub(super) struct Entrance<'a> {
    state: &'a App,
    repo: &'a RepoId,
    branch: &'a Branch,
    holder: Holder,
    /// Commits that the caller's working copy is known to contain.
    known_commits: Vec<CommitSha>,
    /// The head, where a source told it.
    told: Option<Tip>,
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

impl<'a> Entrance<'a> {
    /// Verifies the caller, and then asks the source for the head, where it is not expensive to ask. Without `known_commits` no
    /// head is needed.
    pub async fn open(
        state: &'a App,
        repo: &'a RepoId,
        branch: &'a Branch,
        entrant: Entrant,
        agent_id: Option<AgentId>,
        right: Right,
        known_commits: Option<Vec<CommitSha>>,
    ) -> Result<Self, ApiError> {
        let needs_no_head = known_commits.is_none();
        let member = identify(state, entrant, repo).await?;
        let holder = Holder {
            user_id: member.user_id,
            user_name: member.user_name,
            agent_id,
        };
        if right == Right::Push && !member.can_push {
            return Err(no_push(state, repo, branch, &holder).await?);
        }
        let source = state.source.as_deref();
        let keeper = source.filter(|source| source.keeps_heads_in_store(repo));
        let told = match source {
            Some(source) if keeper.is_none() => match source.tip(repo, branch).await {
                Ok(tip) => Some(tip),
                Err(error @ SourceError::UnknownRepository { .. }) => return Err(error.into()),
                Err(_) if needs_no_head => None,
                Err(error) => return Err(error.into()),
            },
            _ => None,
        };
        let mut entrance = Entrance {
            state,
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
            told: None,
        };
        if let (Some(source), Some(tip)) = (source, &told) {
            entrance.learn_known_commits(source, &tip.commit).await?;
        }
        entrance.told = told;
        Ok(entrance)
    }

    /// For a claim to write: the head must not be old.
    pub fn for_writing(mut self) -> Self {
        self.at_most = Some(self.state.head_ages.at_most);
        self
    }

    /// For a release.
    pub fn for_release(mut self) -> Self {
        self.is_release = true;
        self
    }

    /// Whether the source can be asked about the caller's work.
    pub fn can_ask(&self) -> bool {
        self.state.source.is_some() && !self.needs_no_head
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
        let source = self.state.source.as_deref().ok_or(ApiError::Internal)?;
        self.is_counted = true;
        let head = match (self.told(), self.keeper) {
            (None, Some(keeper)) if !new_head.matches(&known.commit) => {
                heads::refresh(&*self.state.store, keeper, self.repo, self.branch, Some(&known)).await?
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

    /// The head, where a source told it.
    pub fn told(&self) -> Option<&CommitSha> {
        self.told.as_ref().map(|tip| &tip.commit)
    }

    /// The reference that the head is read from, where that is known here.
    pub fn head_ref(&self) -> Option<String> {
        match (&self.told, self.keeper) {
            (Some(tip), _) => Some(tip.reference.clone()),
            (None, Some(_)) => Some(format!("refs/heads/{}", self.branch)),
            (None, None) => None,
        }
    }

    /// What sentences call the branch whose head was read: `upstream/main` for a remote-tracking branch, and `main` for one of a
    /// repository on this machine that has none. Clones of what is on GitHub commonly have it as `origin/main`.
    pub fn branch_name(&self) -> String {
        let read = self.told.as_ref().map(|tip| tip.reference.as_str());
        let name = read.and_then(|reference| {
            let remote = reference.strip_prefix("refs/remotes/");
            remote.or_else(|| reference.strip_prefix("refs/heads/"))
        });
        name.map_or_else(|| format!("origin/{}", self.branch), str::to_owned)
    }

    /// How the question enters the store.
    pub fn entry(&self) -> Entry<'_> {
        let ages = self.state.head_ages;
        Entry {
            repo: self.repo,
            branch: self.branch,
            holder: &self.holder,
            rates: if self.is_counted {
                self.state.rates.of_questions()
            } else {
                self.state.rates
            },
            head: match (&self.told, self.keeper) {
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

    /// The answer; nothing, where the question has to be asked again.
    pub async fn pass<T>(&mut self, entered: Entered<T>) -> Result<Option<T>, ApiError> {
        let stop = match entered {
            Entered::In(answer) => return Ok(Some(answer)),
            Entered::Stopped(stop) => stop,
        };
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            return Err(ApiError::SourceUnavailable(
                "the head of the branch is being asked for, which takes long; try again soon".to_owned(),
            ));
        }
        match stop {
            // As where GitHub cannot be asked: only that work was pushed has to be known.
            Stop::Limited {
                whose: Limited::Source, ..
            } if !self.is_release => {
                self.is_counted = true;
                self.is_unsure = true;
                self.is_asked = true;
            }
            Stop::Limited {
                retry_after_seconds,
                whose,
            } => return Err(limited(retry_after_seconds, whose)),
            Stop::RefreshHead { commit, etag } => {
                self.is_counted = true;
                self.refresh(commit, etag).await?;
            }
            Stop::AwaitHead { retry_after_seconds: 0 } => {
                self.is_counted = true;
                tokio::time::sleep(PAUSE).await;
            }
            Stop::AwaitHead { retry_after_seconds } => return Err(ApiError::SourceLimited { retry_after_seconds }),
            Stop::UnknownHead => return Err(self.unknown_head()),
            Stop::TooMuch(what) => return Err(ApiError::TooMuchAtOnce(what)),
            Stop::Full(what) => return Err(ApiError::TooManyLocks(what)),
            Stop::AskSource { head, age, etag } => {
                self.is_counted = true;
                match self.ask_source(KnownHead { commit: head, etag }, age).await {
                    // A caller who is told to pull when it need not loses nothing.
                    Err(error) if error.is_of_source() => self.is_unsure = true,
                    asked => asked?,
                }
                self.is_asked = true;
            }
        }
        Ok(None)
    }

    /// Tells those who follow the branch of its head, and the caller if it could not be confirmed.
    pub fn note(&self, head: &SeenHead, warnings: &mut Vec<String>) {
        if (self.told.is_some() || self.keeper.is_some())
            && let Some(observer) = &self.state.head_observer
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
        if let Some(observer) = &self.state.head_observer {
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
        match heads::refresh(&*self.state.store, source, self.repo, self.branch, known.as_ref()).await {
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
        let is_old = age > u64::from(self.state.head_ages.refresh_after);
        let head = if is_old {
            heads::refresh(&*self.state.store, source, self.repo, self.branch, Some(&known)).await?
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

/// The branch under whose name a question enters that is about none; nothing of it is read but what its head is.
const NO_BRANCH: &str = "main";

/// Lets a question in that needs no head and is answered by `reads` alone: who asks it, and the replies.
pub(super) async fn enter_repository(
    state: &App,
    repo: &RepoId,
    branch: Option<&Branch>,
    entrant: Entrant,
    agent_id: Option<AgentId>,
    reads: Vec<Request>,
) -> Result<(Holder, Vec<Value>), ApiError> {
    let member = identify(state, entrant, repo).await?;
    let holder = Holder {
        user_id: member.user_id,
        user_name: member.user_name,
        agent_id,
    };
    let no_branch = Branch::parse(NO_BRANCH).map_err(|_| ApiError::Internal)?;
    let entry = Entry {
        repo,
        branch: branch.unwrap_or(&no_branch),
        holder: &holder,
        rates: state.rates,
        head: HeadTerms::Any,
        known_commits: &[],
    };
    match enter_without_head(&*state.store, &entry, reads).await? {
        Entered::In(replies) => Ok((holder, replies)),
        Entered::Stopped(Stop::Limited {
            retry_after_seconds,
            whose,
        }) => Err(limited(retry_after_seconds, whose)),
        Entered::Stopped(_) => Err(ApiError::Internal),
    }
}

/// The refusal of a caller that may only read. It counts as a request.
async fn no_push(state: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<ApiError, ApiError> {
    let entry = Entry {
        rates: state.rates,
        ..Entry::of(repo, branch, holder, None, &[])
    };
    if let Entered::Stopped(Stop::Limited {
        retry_after_seconds,
        whose,
    }) = enter(&*state.store, &entry, Vec::new()).await?
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
