//! The end of `coord mcp`: if its session has ended too, files that this process has claimed are released, as far as the work is on
//! the branch or was never done. Other locks stay, with a message on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_agent::{changes, conversations};
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{Action, HeldLock};
use tokio::time::{Instant, sleep};

use super::holder_key::HolderKey;
use super::proxy::Proxy;

/// The reason of such a release, as others see it.
const MESSAGE: &str = "The session of the agent has ended";

/// Time that the agent has to end after its server.
const AGENTS_END: Duration = Duration::from_secs(2);

/// Interval of looks whether it has.
const POLL: Duration = Duration::from_millis(50);

/// A line on standard error, whose reader may be gone.
pub fn log_line(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "coord mcp: {sentence}");
}

impl Proxy {
    /// Releases the files that this process has claimed for ended sessions, if they are unchanged or pushed. If a session continues,
    /// and its agent restarts or replaces this process, it keeps everything.
    pub async fn release_files(&self) {
        let _alone = self.posts.write().await;
        self.retry_all().await;
        for note in self.retries.take_notes() {
            log_line(&note);
        }
        // Agents end their servers before they end themselves.
        let deadline = Instant::now() + AGENTS_END;
        for (holder, roots) in self.holders() {
            if !self.claims.has_any(&holder) {
                continue;
            }
            if let Err(error) = self.release_claims_of(&holder, &roots, deadline).await {
                log_line(&format!(
                    "the locks of '{}' stay until they expire: {error:#}",
                    holder.agent_id
                ));
            }
        }
    }

    /// Whether the conversation of `holder` has ended, or the agent's process if no hook has reported a conversation.
    fn has_ended(&self, holder: &HolderKey, roots: &[PathBuf]) -> bool {
        let conversation = || {
            let agent_id = AgentId::parse(&holder.agent_id).ok()?;
            let lead = agent_id.lead().unwrap_or(agent_id);
            let working_copy = WorkingCopy::containing(roots.first()?).ok()?;
            conversations::has_ended(&working_copy, &lead)
        };
        conversation().unwrap_or_else(|| self.agents_process.is_none_or(|process| !process.is_running()))
    }

    /// Releases the files that `holder` has claimed, once its session has ended before `deadline`.
    async fn release_claims_of(&self, holder: &HolderKey, roots: &[PathBuf], deadline: Instant) -> anyhow::Result<()> {
        let root = roots.first().context("its working copies are gone")?;
        let held = self
            .held_by(holder, root)
            .await
            .map_err(|failure| sentence(failure.for_agent()))?;
        let held: Vec<HeldLock> = held.into_iter().filter(|lock| self.claims.has(holder, lock)).collect();
        if held.is_empty() {
            return Ok(());
        }
        while !self.has_ended(holder, roots) {
            anyhow::ensure!(Instant::now() < deadline, "its session goes on");
            sleep(POLL).await;
        }
        let mut by_branch: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for lock in held {
            by_branch.entry(lock.branch).or_default().push(lock.file_path);
        }
        for (branch, paths) in by_branch {
            let work = self.work_in(root, holder, &branch);
            let work = work.with_context(|| format!("{} is no working copy any more", root.display()))?;
            let mut changed = BTreeSet::new();
            for root in roots {
                let working_copy = WorkingCopy::containing(root)?;
                let pushed_to = working_copy.pushed_branch_at_head(&work.branch);
                changed.extend(changes::changed(&working_copy, &pushed_to, &paths).await?);
            }
            let (kept, unchanged): (Vec<String>, Vec<String>) =
                paths.into_iter().partition(|path| changed.contains(path));
            if !unchanged.is_empty() {
                let files = list_paths(&unchanged);
                self.release_unchanged(&work, root, unchanged).await?;
                log_line(&format!("released {files}"));
                if let Some(agent_id) = &work.agent_id {
                    // If the conversation is resumed, it gets a note.
                    SessionNotes::change(&work.working_copy, agent_id, |notes| {
                        notes.add(format!(
                            "RELEASED: {files} at the end of coord mcp: not changed, or pushed."
                        ));
                    });
                }
            }
            if !kept.is_empty() {
                log_line(&format!(
                    "kept {}: there are changes that are not pushed; the locks expire unless they are claimed again",
                    list_paths(&kept)
                ));
            }
        }
        Ok(())
    }

    /// Releases `paths`, which are as the branch has them: with its head, so that others are notified of pushed changes, or
    /// without, if nothing was changed since the claim.
    async fn release_unchanged(&self, work: &Work, root: &Path, paths: Vec<String>) -> anyhow::Result<()> {
        let mut release = work.release(paths.clone(), MESSAGE.to_owned());
        let pushed_to = work.working_copy.pushed_branch_at_head(&work.branch);
        let head = work.working_copy.base_head(&pushed_to);
        release.new_repo_head = head.map(|head| head.to_string());
        let answer = self
            .backend
            .ask(root, async |client| client.post_status(&release).await);
        let mut answer = answer.await.map_err(|failure| sentence(failure.for_agent()))?;
        if answer.orchestration.action == Action::Push {
            let abandon = work.abandon(paths, MESSAGE.to_owned());
            let again = self
                .backend
                .ask(root, async |client| client.post_status(&abandon).await);
            answer = again.await.map_err(|failure| sentence(failure.for_agent()))?;
        }
        anyhow::ensure!(answer.success, "{}", answer.orchestration.reason);
        Ok(())
    }
}

fn sentence(error: coord_protocol::AgentError) -> anyhow::Error {
    anyhow::anyhow!(error.error.message)
}

fn list_paths(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("'{path}'")).collect();
    quoted.join(", ")
}
