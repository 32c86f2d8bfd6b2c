//! The verdict on files, by the locks of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::file_path::to_nfc;
use coord_protocol::locks::LockType;
use coord_protocol::plain_text::{quote_line, visible_line};
use coord_protocol::{Action, CheckRequest, Client, ClientError, ErrorCode, LockMode, OtherLock, Status, bounds};
use coord_settings::env_vars;

use super::change::ChangedNames;
use crate::hook::ignored;

/// Marks the refusal of a file outside of the scope.
const SCOPE: &str = "Scope Violation:";

/// Marks the refusal of a file of another intent.
const OWNER: &str = "Governance Violation:";

/// Time limit of a request.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// Maximum number of printed locks.
const MAX_LINES: usize = 10;

/// Files that `coord sync` writes about intents: everyone commits them, and no scope includes them.
const PROJECTION: [&str; 3] = [
    ".orchestration/active_intents.yaml",
    ".orchestration/agent_trace.jsonl",
    ".orchestration/intent_map.md",
];

/// The locks of others that concern a commit or a push, by file.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    locked: BTreeMap<String, OtherLock>,
    neighbors: BTreeMap<String, OtherLock>,
    /// Refusals because of scope or owner, as sentences.
    intent_refusals: BTreeSet<String>,
    /// Refusals that apply only to agents, as sentences. They warn a person.
    warnings: BTreeSet<String>,
    /// Names that cannot be locked, as they are printed.
    unlockable: BTreeSet<String>,
    /// Files that would be reverted, with the newest commit that would be reverted.
    reverted: BTreeMap<String, String>,
    /// Files that the caller holds.
    held: BTreeSet<String>,
}

impl Verdict {
    /// Adds others' locks on `names` and on their neighbors, on the branch of `work`.
    ///
    /// # Errors
    /// A sentence, when the server does not answer.
    pub(super) async fn add(&mut self, client: &Client, work: &Work, names: ChangedNames) -> Result<(), String> {
        self.unlockable.extend(names.unlockable);
        let files: Vec<String> = names.files.into_iter().collect();
        let intent = work
            .agent_id
            .as_ref()
            .and_then(|agent| SessionNotes::read(&work.working_copy, agent).intent);
        if let Some(intent) = &intent
            && let Some((_, reason)) = ignored::refusal(work, intent, &files)
        {
            self.intent_refusals.insert(reason);
        }
        let files = files.into_iter().filter(|file| !PROJECTION.contains(&file.as_str()));
        for files in bounds::split_files(files.collect()) {
            let request = CheckRequest {
                intent_id: intent.clone(),
                ..work.check(files, Some(LockMode::Writing))
            };
            let response = match client.check_status(&request).await {
                Ok(response) if response.status == Status::Offline => return Err(response.orchestration.reason),
                Ok(response) => response,
                // Nobody can hold files on a branch that the server has not seen yet.
                Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownBranch => return Ok(()),
                Err(error) => return Err(error.to_string()),
            };
            self.held.extend(response.held.into_keys());
            let blocks = |lock: &OtherLock| {
                !lock.shared && !matches!(lock.lock_type, Some(LockType::Neighbor | LockType::Waiting))
            };
            let orchestration = &response.orchestration;
            let is_intent_refusal = match orchestration.action {
                Action::Stop => true,
                Action::SwitchTask => {
                    let metadata = orchestration.metadata.as_ref();
                    metadata.is_some_and(|metadata| metadata.owner_intent.is_some())
                        || !response.locks.values().any(blocks)
                }
                _ => false,
            };
            if response.status == Status::Conflict && is_intent_refusal {
                // A person can commit without a selected intent. Scope and owner apply to everybody.
                let applies_to_everybody = [SCOPE, OWNER].iter().any(|mark| orchestration.reason.contains(mark));
                match applies_to_everybody || work.agent_id.is_some() {
                    true => self.intent_refusals.insert(orchestration.reason.clone()),
                    false => self.warnings.insert(orchestration.reason.clone()),
                };
            }
            for (file, lock) in response.locks {
                match lock.lock_type {
                    Some(LockType::Neighbor) => self.neighbors.insert(file, lock),
                    Some(LockType::Waiting) => None,
                    // Git merges the file, or a tool generates it again.
                    _ if lock.shared => None,
                    _ => self.locked.insert(file, lock),
                };
            }
        }
        Ok(())
    }

    /// Adds files that would be reverted. The caller may revert files that the caller holds.
    pub(super) fn add_reverted(&mut self, reverted: BTreeMap<String, String>) {
        let not_held = reverted
            .into_iter()
            .filter(|(file, _)| !self.held.contains(&*to_nfc(file)));
        self.reverted.extend(not_held);
    }

    /// Whether someone else holds a file, an intent refuses it, or a file would be reverted.
    pub(super) fn is_refusal(&self) -> bool {
        !self.locked.is_empty() || !self.intent_refusals.is_empty() || !self.reverted.is_empty()
    }

    /// The verdict for a terminal; empty if there is nothing to report. Only a person sees how to bypass the check.
    pub(super) fn describe(&self, hook: &str, is_agent: bool) -> String {
        let mut text = String::new();
        if !self.unlockable.is_empty() {
            let names: Vec<&str> = self.unlockable.iter().take(MAX_LINES).map(String::as_str).collect();
            let _ = writeln!(
                text,
                "coord guard {hook}: warning: not checked, because names like these cannot be locked: {}",
                names.join(", ")
            );
        }
        for reason in &self.intent_refusals {
            let _ = writeln!(text, "coord guard {hook}: refused: {reason}");
        }
        for reason in &self.warnings {
            let _ = writeln!(text, "coord guard {hook}: warning: {reason}");
        }
        for (locks, title) in [
            (&self.locked, "refused: others hold"),
            (
                &self.neighbors,
                "warning: others are changing files that import these, or that these import:",
            ),
        ] {
            if locks.is_empty() {
                continue;
            }
            let _ = writeln!(text, "coord guard {hook}: {title}");
            for (file, lock) in locks.iter().take(MAX_LINES) {
                let agent = lock
                    .agent_id
                    .as_ref()
                    .map(|agent| format!(" ({agent})"))
                    .unwrap_or_default();
                let (mode, message) = (lock.status.as_str(), quote_line(&lock.message));
                let _ = writeln!(text, "  {file}: {mode} by {}{agent}: {message}", lock.user);
            }
            if let Some(more) = locks.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
                let _ = writeln!(text, "  and {more} more");
            }
        }
        if !self.reverted.is_empty() {
            let _ = writeln!(
                text,
                "coord guard {hook}: refused: your index is older than the branch, and this commit would revert newer \
                 changes:"
            );
            for (file, commit) in self.reverted.iter().take(MAX_LINES) {
                let _ = writeln!(text, "  {file}: as it was before {}", visible_line(commit));
            }
            let _ = writeln!(
                text,
                "Take each file as it is on the branch: git restore --source=HEAD --staged --worktree FILE"
            );
        }
        if !self.locked.is_empty() || !self.intent_refusals.is_empty() {
            let _ = writeln!(text, "Leave these files out, or wait until they are free.");
        }
        if self.is_refusal() && !is_agent {
            let _ = writeln!(text, "{}=1 bypasses this check, and is noted.", env_vars::COORD_BYPASS);
        }
        text
    }
}
