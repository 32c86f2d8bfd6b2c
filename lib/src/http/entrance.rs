//! What every question passes: who asks and what they may do here, how often they ask, and the head of the branch. The
//! store says all of that together with the answer, in one round trip; what it does not know yet is learnt here, and the
//! question asked again.

use std::time::Duration;

use super::{ApiError, AppState};
use crate::auth::{Entrant, Shown, Verdict};
use crate::domain::{AgentId, Branch, CommitSha, Holder, RepoId};
use crate::heads;
use crate::source::{KnownHead, Reachable, Source, Tip};
use crate::store::scripts::{Entered, Entry, HeadTerms, Limited, Rates, Remembered, SeenHead, Stop, Who, remember};
use crate::timing::Call;

/// How often one question may be asked again: for its identity, its head, what the source says of its commits, and while
/// another asks for the head.
const MOST_ROUNDS: u32 = 30;

/// The pause before a question is asked again while another asks for the head.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a verified credential is remembered, and how long one that does not count.
const REMEMBER_SECONDS: u32 = 300;
const REMEMBER_REFUSED_SECONDS: u32 = 30;

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

/// Who asks.
#[derive(Debug)]
enum Visitor {
    Known(Holder),
    Shown {
        shown: Shown,
        agent_id: Option<AgentId>,
        right: Right,
    },
}

/// A question on its way in.
pub(super) struct Entrance<'a> {
    state: &'a AppState,
    repo: &'a RepoId,
    branch: &'a Branch,
    visitor: Visitor,
    /// Commits that the caller's working copy is known to contain.
    known_commits: Vec<CommitSha>,
    /// The head, where a source told it.
    told: Option<Tip>,
    /// The source whose heads are kept in the store.
    keeper: Option<&'a dyn Source>,
    /// A head that is older will not do.
    at_most: Option<u32>,
    /// The caller's commit after its work, and whether the branch has it.
    pushed: Option<&'a CommitSha>,
    reachable: Reachable,
    is_counted: bool,
    is_asked: bool,
    /// The source could not say whether the caller's commits are of the branch.
    is_unsure: bool,
    /// The source said of one of the caller's commits that it does not contain the head.
    is_behind: bool,
    rounds: u32,
}

impl<'a> Entrance<'a> {
    /// Asks the source for the head, where it is not dear to ask.
    pub async fn open(
        state: &'a AppState,
        repo: &'a RepoId,
        branch: &'a Branch,
        entrant: Entrant,
        agent_id: Option<AgentId>,
        right: Right,
        known_commits: Vec<CommitSha>,
    ) -> Result<Self, ApiError> {
        let visitor = match entrant {
            Entrant::Verified(identity) => Visitor::Known(Holder {
                user_id: identity.user_id,
                user_name: identity.user_name,
                agent_id,
            }),
            Entrant::Shown(shown) => Visitor::Shown { shown, agent_id, right },
        };
        let source = state.source.as_deref();
        let keeper = source.filter(|source| source.keeps_heads_in_store(repo));
        let told = match source {
            Some(source) if keeper.is_none() => Some(source.tip(repo, branch).await?),
            _ => None,
        };
        let mut entrance = Entrance {
            state,
            repo,
            branch,
            visitor,
            known_commits,
            keeper,
            at_most: None,
            pushed: None,
            reachable: Reachable::Unknown,
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

    /// For a release: whether the branch has the caller's commit after its work.
    pub async fn after_push(mut self, new_head: Option<&'a CommitSha>) -> Result<Self, ApiError> {
        self.pushed = new_head;
        if let (Some(source), Some(head)) = (self.state.source.as_deref(), self.told().cloned()) {
            self.learn_reachable(source, &head).await?;
        }
        Ok(self)
    }

    /// Whether the branch has the caller's commit, as far as is known.
    pub fn reachable(&self) -> Reachable {
        self.reachable
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

    /// How the question enters the store.
    pub fn entry(&self) -> Entry<'_> {
        let ages = self.state.head_ages;
        Entry {
            repo: self.repo,
            branch: self.branch,
            who: match &self.visitor {
                Visitor::Known(holder) => Who::Known(holder),
                Visitor::Shown { shown, agent_id, right } => Who::Remembered {
                    credential: shown.name(),
                    agent_id: agent_id.as_ref().map_or("", AgentId::as_str),
                    needs_push: *right == Right::Push,
                },
            },
            rates: if self.is_counted { Rates::NONE } else { self.state.rates },
            head: match (&self.told, self.keeper) {
                (Some(tip), _) => HeadTerms::Told(&tip.commit),
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
            Stop::Unverified => self.verify().await?,
            Stop::Refused { is_known, why } => return Err(refused(is_known, why)),
            Stop::NoPush { user_id } => {
                return Err(ApiError::ForbiddenRepository(format!(
                    "{user_id} may read {} with this token, but not push to it, which claims are for",
                    self.repo
                )));
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
                    // A caller who is told to pull when it need not loses nothing; that work was pushed has to be known.
                    Err(error) if error.is_of_source() && self.pushed.is_none() => self.is_unsure = true,
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

    /// The error for a branch of which neither source nor store knows the head.
    fn unknown_head(&self) -> ApiError {
        ApiError::SourceUnavailable(format!(
            "nothing is known of branch {} of {} yet: no server that can read the repository has reported its head",
            self.branch, self.repo
        ))
    }

    /// Has the credential judged, and remembers the verdict.
    async fn verify(&self) -> Result<(), ApiError> {
        let (Visitor::Shown { shown, .. }, Some(people)) = (&self.visitor, self.state.authenticator.people()) else {
            return Err(ApiError::Internal);
        };
        let verdict = {
            let _call = Call::to_source();
            match shown.secret() {
                Some(token) => people.verify(token, self.repo).await?,
                None => people.verify_anybody(self.repo).await?,
            }
        };
        let (what, seconds) = match &verdict {
            Verdict::Member(member) => (
                Remembered::Member {
                    user_id: &member.user_id,
                    user_name: &member.user_name,
                    can_push: member.can_push,
                },
                REMEMBER_SECONDS,
            ),
            Verdict::Refused(why) => (Remembered::Refused { is_known: false, why }, REMEMBER_REFUSED_SECONDS),
            Verdict::NoRight(why) => (Remembered::Refused { is_known: true, why }, REMEMBER_REFUSED_SECONDS),
        };
        remember(&*self.state.store, self.repo, shown.name(), &what, seconds).await?;
        match verdict {
            Verdict::Member(_) => Ok(()),
            Verdict::Refused(why) => Err(refused(false, why)),
            Verdict::NoRight(why) => Err(refused(true, why)),
        }
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
    /// is not fresh, or the caller says that it has just pushed.
    async fn ask_source(&mut self, known: KnownHead, age: u64) -> Result<(), ApiError> {
        let Some(source) = self.keeper else {
            return Err(ApiError::Internal);
        };
        let is_old = self.pushed.is_some() || age > u64::from(self.state.head_ages.refresh_after);
        let head = if is_old {
            heads::refresh(&*self.state.store, source, self.repo, self.branch, Some(&known)).await?
        } else {
            known.commit
        };
        if self.pushed.is_some() {
            self.learn_reachable(source, &head).await?;
        } else {
            self.learn_known_commits(source, &head).await?;
        }
        Ok(())
    }

    /// Whether the caller's commits contain `head`.
    async fn learn_known_commits(&mut self, source: &dyn Source, head: &CommitSha) -> Result<(), ApiError> {
        if self.known_commits.iter().any(|commit| commit.matches(head)) {
            return Ok(());
        }
        for commit in &self.known_commits {
            match source.is_ancestor(self.repo, head, commit).await? {
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

    /// Whether `head` contains the caller's commit after its work.
    async fn learn_reachable(&mut self, source: &dyn Source, head: &CommitSha) -> Result<(), ApiError> {
        self.reachable = match self.pushed {
            None => Reachable::Unknown,
            Some(pushed) if pushed.matches(head) => Reachable::Yes,
            Some(pushed) => source.is_ancestor(self.repo, pushed, head).await?,
        };
        Ok(())
    }
}

fn refused(is_known: bool, why: String) -> ApiError {
    if is_known {
        ApiError::ForbiddenRepository(why)
    } else {
        ApiError::Unauthorized(why)
    }
}

fn limited(retry_after_seconds: u64, whose: Limited) -> ApiError {
    ApiError::RateLimited {
        retry_after_seconds,
        whose: match whose {
            Limited::Holder => "you ask too often",
            Limited::Repository => "all callers of this repository together ask too often",
            Limited::New => "too many new credentials and branches are asked about in this repository",
        },
    }
}
