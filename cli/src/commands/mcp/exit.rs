//! The end of `coord mcp`. If its session has ended too, it releases the files that this process has claimed, as far as
//! they are unchanged or pushed. Other locks stay, with a message on standard error.

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

use super::backend::Failure;
use super::claims::HolderKey;
use super::proxy::Proxy;
use super::release_retries::list_paths;

/// The reason of such a release, as others see it.
const MESSAGE: &str = "The session of the agent has ended";

/// How long to wait for the end of the agent: agents stop their servers before they end themselves.
const AGENT_END_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between two checks whether the agent has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Prints a line on standard error, whose reader may be gone.
pub fn log_line(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "coord mcp: {sentence}");
}

impl Proxy {
    /// Releases the files that this process has claimed for ended sessions, if they are unchanged or pushed. A session
    /// that continues keeps everything: its agent restarts or replaces this process.
    pub async fn release_files(&self) {
        let _guard = self.posts.write().await;
        self.retry_all().await;
        for note in self.retries.take_notes() {
            log_line(&note);
        }
        let deadline = Instant::now() + AGENT_END_TIMEOUT;
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
        let conversation_has_ended = || {
            let agent_id = AgentId::parse(&holder.agent_id).ok()?;
            let lead = agent_id.lead().unwrap_or(agent_id);
            let working_copy = WorkingCopy::containing(roots.first()?).ok()?;
            conversations::has_ended(&working_copy, &lead)
        };
        conversation_has_ended().unwrap_or_else(|| self.agent_process.is_none_or(|process| !process.is_running()))
    }

    /// Releases the files that `holder` has claimed, if its session ends before `deadline`.
    async fn release_claims_of(&self, holder: &HolderKey, roots: &[PathBuf], deadline: Instant) -> anyhow::Result<()> {
        let root = roots.first().context("its working copies are gone")?;
        let held = self.held_by(holder, root).await.map_err(into_error)?;
        let held: Vec<HeldLock> = held.into_iter().filter(|lock| self.claims.has(holder, lock)).collect();
        if held.is_empty() {
            return Ok(());
        }
        while !self.has_ended(holder, roots) {
            anyhow::ensure!(Instant::now() < deadline, "its session goes on");
            sleep(POLL_INTERVAL).await;
        }
        let mut by_branch: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for lock in held {
            by_branch.entry(lock.branch).or_default().push(lock.file_path);
        }
        for (branch, paths) in by_branch {
            let work = self.work_in(root, holder, &branch);
            let work = work.with_context(|| format!("{} is not a working copy any more", root.display()))?;
            let mut changed = BTreeSet::new();
            for root in roots {
                let working_copy = WorkingCopy::containing(root)?;
                let pushed_branch = working_copy.pushed_branch_at_head(&work.branch);
                changed.extend(changes::changed(&working_copy, &pushed_branch, &paths).await?);
            }
            let (changed, unchanged): (Vec<String>, Vec<String>) =
                paths.into_iter().partition(|path| changed.contains(path));
            if !unchanged.is_empty() {
                let files = list_paths(&unchanged);
                self.release_unchanged(&work, root, unchanged).await?;
                log_line(&format!("released {files}"));
                if let Some(agent_id) = &work.agent_id {
                    // The note is for a conversation that is resumed.
                    SessionNotes::change(&work.working_copy, agent_id, |notes| {
                        notes.add(format!(
                            "RELEASED: {files} at the end of coord mcp: not changed, or pushed."
                        ));
                    });
                }
            }
            if !changed.is_empty() {
                log_line(&format!(
                    "kept {}: there are changes that are not pushed; the locks expire unless they are claimed again",
                    list_paths(&changed)
                ));
            }
        }
        Ok(())
    }

    /// Releases `paths`, whose content is the one on the branch. The release names the head of the branch, so that
    /// others are notified of pushed changes. If nothing was changed since the claim, a release without a push follows.
    async fn release_unchanged(&self, work: &Work, root: &Path, paths: Vec<String>) -> anyhow::Result<()> {
        let mut release = work.release(paths.clone(), MESSAGE.to_owned());
        let pushed_branch = work.working_copy.pushed_branch_at_head(&work.branch);
        let head = work.working_copy.base_head(&pushed_branch);
        release.new_repo_head = head.map(|head| head.to_string());
        let mut response = self.post_status(root, &release).await.map_err(into_error)?;
        if response.orchestration.action == Action::Push {
            let abandon = work.abandon(paths, MESSAGE.to_owned());
            response = self.post_status(root, &abandon).await.map_err(into_error)?;
        }
        anyhow::ensure!(response.success, "{}", response.orchestration.reason);
        Ok(())
    }
}

fn into_error(failure: Failure) -> anyhow::Error {
    anyhow::Error::msg(failure.for_agent().error.message)
}
