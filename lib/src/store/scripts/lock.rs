use super::reply::{Reply, arguments, call};
use super::{CHECK_STATUS, CLAIM, MARK_DUE, branch_keys};
use crate::domain::{Branch, Claim, CommitSha, FilePath, Holder, LockEntry, Message, NeighborPolicy, RepoId};
use crate::store::{Request, Store, StoreError, keys};

/// Who asks, where, and what is known of the branch and of the caller's working copy.
#[derive(Clone, Debug)]
pub struct Asker<'a> {
    /// The repository.
    pub repo: &'a RepoId,
    /// The branch.
    pub branch: &'a Branch,
    /// Who asks.
    pub holder: &'a Holder,
    /// The head of the branch, where a source just told it; `None` leaves it to what the store knows.
    pub repo_head: Option<&'a CommitSha>,
    /// Commits that the caller's working copy is known to contain.
    pub known_commits: &'a [CommitSha],
    /// The files.
    pub paths: &'a [FilePath],
}

impl Asker<'_> {
    fn known_commits(&self) -> String {
        self.known_commits
            .iter()
            .map(CommitSha::as_str)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn head_or_empty(&self) -> &str {
        self.repo_head.map_or("", CommitSha::as_str)
    }
}

/// How a lock concerns a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is on a requested file.
    Direct,
    /// It is on a neighbour of a requested file.
    Neighbor,
    /// It is on a requested file, on another branch.
    CrossBranch,
}

/// Which of two neighbours imports the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The requested file imports the locked one.
    Imports,
    /// The locked file imports the requested one.
    ImportedBy,
}

/// A lock of another holder that concerns the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How.
    pub relation: Relation,
    /// Whether it stands in the way.
    pub blocks: bool,
    /// The requested file that it concerns.
    pub via: String,
    /// For a neighbour: which imports which.
    pub direction: Option<Direction>,
    /// The lock.
    pub entry: LockEntry,
}

/// What a script saw, all at one instant of the store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// That instant, Unix seconds.
    pub now: i64,
    /// Head of the branch.
    pub head: CommitSha,
    /// Whether the caller's working copy lacks it.
    pub is_behind: bool,
    /// The commit whose import graph is stored, if any.
    pub graph_version: Option<String>,
    /// How many locked neighbours are not in `findings`.
    pub omitted: u64,
    /// Others' locks that concern the request; what blocks comes before what does not, among neighbours.
    pub findings: Vec<Finding>,
    /// The caller's own locks on the requested files.
    pub own: Vec<LockEntry>,
}

/// What [`check_status`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurveyOutcome {
    /// This.
    Checked(Survey),
    /// Nobody knows the head of this branch.
    UnknownHead,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// All files are held; `own` has the entries.
    Claimed(Survey),
    /// Others stand in the way; nothing is held that was not before.
    Conflict(Survey),
    /// Writing was refused because the working copy is behind; nothing is held that was not before.
    Stale(Survey),
    /// Nobody knows the head of this branch.
    UnknownHead,
}

fn read_survey(mut reply: Reply) -> Result<Survey, StoreError> {
    Ok(Survey {
        now: reply.now,
        head: CommitSha::parse(&reply.text()?).map_err(|error| StoreError::Malformed(error.to_string()))?,
        is_behind: reply.flag()?,
        graph_version: reply.optional_text()?,
        omitted: reply.number()?.unsigned_abs(),
        findings: reply.tuples(|tuple| {
            Ok(Finding {
                relation: match tuple.text()?.as_str() {
                    "DIRECT" => Relation::Direct,
                    "NEIGHBOR" => Relation::Neighbor,
                    "CROSS_BRANCH" => Relation::CrossBranch,
                    _ => return Err(tuple.malformed("an unknown relation")),
                },
                blocks: tuple.flag()?,
                via: tuple.text()?,
                direction: match tuple.text()?.as_str() {
                    ">" => Some(Direction::Imports),
                    "<" => Some(Direction::ImportedBy),
                    _ => None,
                },
                entry: tuple.object()?,
            })
        })?,
        own: reply.objects()?,
    })
}

/// What stands in the way of `intent`. One round trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn check_status(
    store: &dyn Store,
    asker: &Asker<'_>,
    intent: Claim,
    policy: NeighborPolicy,
) -> Result<SurveyOutcome, StoreError> {
    let Asker {
        repo,
        branch,
        holder,
        paths,
        ..
    } = asker;
    let keys = branch_keys(repo, branch);
    let mut args = arguments([
        branch.as_str(),
        holder.user_id.as_str(),
        holder.agent_or_empty(),
        intent.as_str(),
        policy.as_str(),
        asker.head_or_empty(),
        &asker.known_commits(),
    ]);
    args.extend(paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    let reply = call(store, &CHECK_STATUS, keys, args).await?;
    match reply.outcome.as_str() {
        "CHECKED" => Ok(SurveyOutcome::Checked(read_survey(reply)?)),
        "UNKNOWN_HEAD" => Ok(SurveyOutcome::UnknownHead),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Claims all files, or none, for `ttl_seconds`. One round trip: a batch of two scripts, see `mark_due.lua`.
///
/// # Errors
/// When the store gives no answer, or none that is understood. The claim may then have been made all the same.
pub async fn claim(
    store: &dyn Store,
    asker: &Asker<'_>,
    wanted: Claim,
    policy: NeighborPolicy,
    agent_head: &CommitSha,
    message: &Message,
    ttl_seconds: u32,
) -> Result<ClaimOutcome, StoreError> {
    let Asker {
        repo,
        branch,
        holder,
        paths,
        ..
    } = asker;
    let ttl = ttl_seconds.to_string();
    let mut claim_keys = branch_keys(repo, branch);
    claim_keys.push(keys::token(repo));
    let mut args = arguments([
        branch.as_str(),
        holder.user_id.as_str(),
        &holder.user_name,
        holder.agent_or_empty(),
        wanted.as_str(),
        policy.as_str(),
        asker.head_or_empty(),
        &asker.known_commits(),
        agent_head.as_str(),
        message.as_str(),
        &ttl,
        repo.as_str(),
    ]);
    args.extend(paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    let mark = Request::Script {
        script: &MARK_DUE,
        keys: vec![keys::DUE.to_owned()],
        args: arguments([repo.as_str(), &ttl]),
    };
    let mut replies = store
        .run(vec![
            mark,
            Request::Script {
                script: &CLAIM,
                keys: claim_keys,
                args,
            },
        ])
        .await?
        .into_iter();
    Reply::open(&MARK_DUE, replies.next())?;
    let reply = Reply::open(&CLAIM, replies.next())?;
    match reply.outcome.as_str() {
        "CLAIMED" => Ok(ClaimOutcome::Claimed(read_survey(reply)?)),
        "CONFLICT" => Ok(ClaimOutcome::Conflict(read_survey(reply)?)),
        "STALE" => Ok(ClaimOutcome::Stale(read_survey(reply)?)),
        "UNKNOWN_HEAD" => Ok(ClaimOutcome::UnknownHead),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}
