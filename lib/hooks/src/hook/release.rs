//! Releases files as soon as their work is pushed. At the end of a turn or of the session, unchanged files are released
//! too. Files with changes that are not pushed stay locked; their locks expire if the session does not resume.

use std::collections::{BTreeMap, BTreeSet};

use coord_agent::options::AgentArgs;
use coord_agent::pushed::query_remotes_for_pushes;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::{AgentId, Branch};
use coord_git::WorkingCopy;
use coord_protocol::{Action, HeldLock, LockMode, LocksFilter, PostRequest, PostResponse};

use super::connected_session::ConnectedSession;
use super::reason;
use changes::Changes;

mod changes;

/// The files to release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReleaseScope {
    /// Files whose work was pushed since they were claimed.
    Pushed,
    /// All files that need no push: pushed or unchanged.
    Finished,
}

/// The result for the session's files.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    released: Vec<String>,
    /// The files that stay locked, by the reason.
    kept: BTreeMap<String, Vec<String>>,
}

impl Outcome {
    /// The outcome in one sentence or two. `None` if there is nothing to report.
    pub(super) fn describe(&self) -> Option<String> {
        let mut sentences = Vec::new();
        if !self.released.is_empty() {
            sentences.push(format!("Released {}.", reason::list_files(&self.released)));
        }
        if !self.kept.is_empty() {
            let kept = self
                .kept
                .iter()
                .map(|(why, files)| format!("{} ({why})", reason::list_files(files)));
            sentences.push(format!("Kept {}.", kept.collect::<Vec<_>>().join("; ")));
        }
        (!sentences.is_empty()).then(|| format!("Coord: {}", sentences.join(" ")))
    }

    /// The released files in one sentence. `None` if there are none.
    pub(super) fn describe_released(&self) -> Option<String> {
        (!self.released.is_empty()).then(|| {
            format!(
                "Coord: released {}, whose work is pushed.",
                reason::list_files(&self.released)
            )
        })
    }

    fn keep(&mut self, why: &str, file: &str) {
        self.kept.entry(why.to_owned()).or_default().push(file.to_owned());
    }
}

/// Whether the head of the branch has moved since the last check, so that work may have been pushed. It reads only
/// references.
pub(super) fn head_has_moved(work: &Work, holder: &AgentId) -> bool {
    let notes = SessionNotes::read(&work.working_copy, holder);
    let noted_head = notes.heads.get(&work.branch.to_string());
    noted_head.is_some() && noted_head != pushed_head(work).as_ref()
}

/// The head of the branch that the work is pushed to, as this clone knows it.
pub(super) fn pushed_head(work: &Work) -> Option<String> {
    let branch = work.working_copy.pushed_branch(&work.branch);
    Some(work.working_copy.tip(&branch)?.commit.to_string())
}

/// Releases the files in `scope`.
///
/// # Errors
/// When the server or git does not answer.
pub(super) async fn release_files(
    args: &AgentArgs,
    session: ConnectedSession<'_>,
    scope: ReleaseScope,
) -> anyhow::Result<Outcome> {
    let ConnectedSession { work, holder, .. } = session;
    let filter = LocksFilter::held_by(holder.as_str());
    // The next check finds pushes after this point.
    let head = pushed_head(work);
    let locks = session.connection.client.locks(&work.repo_url(), &filter).await?.locks;
    let notes = SessionNotes::read(&work.working_copy, holder);
    let mut by_branch: BTreeMap<String, Vec<HeldLock>> = BTreeMap::new();
    for lock in locks {
        by_branch.entry(lock.branch.clone()).or_default().push(lock);
    }
    let mut outcome = Outcome::default();
    for (branch, locks) in by_branch {
        let Ok(branch) = Branch::parse(&branch) else { continue };
        let working_copies = working_copies(args, work, &notes, &branch);
        let mut changes = Changes::of(&working_copies, &branch, &locks).await?;
        if !changes.unpushed.is_empty() {
            let mut is_new = false;
            for working_copy in &working_copies {
                is_new |= query_remotes_for_pushes(working_copy).await;
            }
            if is_new {
                changes = Changes::of(&working_copies, &branch, &locks).await?;
            }
        }
        let mut finished = Vec::new();
        for lock in &locks {
            let file = &lock.file_path;
            let is_writing = lock.status == LockMode::Writing;
            match changes.unfinished(file).filter(|_| is_writing) {
                Some(why) => outcome.keep(why, file),
                // It goes back to the lead at the end of the writer.
                None if scope == ReleaseScope::Finished && notes.taken.contains(file) => {
                    outcome.keep("not changed", file);
                }
                None if scope == ReleaseScope::Finished || (is_writing && changes.pushed.contains(file)) => {
                    finished.push(file.clone());
                }
                None => outcome.keep("not changed yet", file),
            }
        }
        if !finished.is_empty() {
            release(session, &branch, &changes, finished, scope, &mut outcome).await?;
        }
    }
    if let Some(head) = head {
        SessionNotes::change(&work.working_copy, holder, |notes| {
            notes.heads.insert(work.branch.to_string(), head);
        });
    }
    Ok(outcome)
}

/// The working copies of the session whose work is for `branch`.
fn working_copies(args: &AgentArgs, work: &Work, notes: &SessionNotes, branch: &Branch) -> Vec<WorkingCopy> {
    let mut roots: BTreeSet<_> = notes.worktrees.iter().collect();
    let own = work.working_copy.root().to_owned();
    roots.insert(&own);
    let copies = roots.into_iter().filter_map(|root| WorkingCopy::containing(root).ok());
    copies
        .filter(|copy| copy.repo() == work.working_copy.repo())
        .filter(|copy| args.branch(copy).is_ok_and(|of_copy| of_copy == *branch))
        .collect()
}

/// Releases `files`, which are on the branch as they are in every working copy.
async fn release(
    session: ConnectedSession<'_>,
    branch: &Branch,
    changes: &Changes,
    files: Vec<String>,
    scope: ReleaseScope,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    let ConnectedSession { connection, work, .. } = session;
    let message = format!("Released by a hook: {}", reason::list_files(&files));
    let pushed = PostRequest {
        branch: Some(branch.to_string()),
        // Unpushed commits of other files do not matter.
        agent_head: changes.base.clone(),
        base_head: changes.base.clone(),
        new_repo_head: changes.head.clone(),
        ..work.release(files.clone(), message.clone())
    };
    let mut response = connection.client.post_status(&pushed).await?;
    let is_unpushed = |response: &PostResponse| response.orchestration.action == Action::Push;
    if scope == ReleaseScope::Finished && !response.success && is_unpushed(&response) {
        // No push has changed these files since the claim, and no working copy has changes of them. So they were never
        // changed.
        let abandoned = PostRequest {
            branch: Some(branch.to_string()),
            ..work.abandon(files.clone(), message)
        };
        response = connection.client.post_status(&abandoned).await?;
    }
    match response.success {
        true => outcome.released.extend(files),
        false => files
            .iter()
            .for_each(|file| outcome.keep(&response.orchestration.reason, file)),
    }
    Ok(())
}
