//! The verdict on files, by the locks of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::file_path::to_nfc;
use coord_protocol::locks::LockType;
use coord_protocol::plain_text::{quoted_line, shown_line};
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

/// Most locks that are shown.
const MOST_LINES: usize = 10;

/// Files that `coord sync` writes about intents: everyone commits them, and no scope includes them.
const PROJECTION: [&str; 3] = [
    ".orchestration/active_intents.yaml",
    ".orchestration/agent_trace.jsonl",
    ".orchestration/intent_map.md",
];

/// The locks of others that concern a commit or a push, by file.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    refused: BTreeMap<String, OtherLock>,
    neighbors: BTreeMap<String, OtherLock>,
    /// Refusals by scope or owner, as sentences.
    outside: BTreeSet<String>,
    /// Files that an agent would be refused; a person is warned.
    warned: BTreeSet<String>,
    /// Files whose names cannot be locked, as they are shown.
    unlockable: BTreeSet<String>,
    /// Files that would be put back, by the newest commit that would be undone.
    undone: BTreeMap<String, String>,
    /// Files that the caller holds.
    held: BTreeSet<String>,
}

impl Verdict {
    /// Adds others' locks on `files`, and on their neighbors, on the branch of `work`.
    ///
    /// # Errors
    /// A sentence, when the server gives no answer.
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
            self.outside.insert(reason);
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
            let is_held = |lock: &OtherLock| {
                !lock.shared && !matches!(lock.lock_type, Some(LockType::Neighbor | LockType::Waiting))
            };
            let orchestration = &response.orchestration;
            let is_of_intents = match orchestration.action {
                Action::Stop => true,
                Action::SwitchTask => {
                    let metadata = orchestration.metadata.as_ref();
                    metadata.is_some_and(|metadata| metadata.owner_intent.is_some())
                        || !response.locks.values().any(is_held)
                }
                _ => false,
            };
            if response.status == Status::Conflict && is_of_intents {
                // A person commits without having selected anything; scope and owner count for everybody.
                let is_about_files = [SCOPE, OWNER].iter().any(|sign| orchestration.reason.contains(sign));
                match is_about_files || work.agent_id.is_some() {
                    true => self.outside.insert(orchestration.reason.clone()),
                    false => self.warned.insert(orchestration.reason.clone()),
                };
            }
            for (file, lock) in response.locks {
                match lock.lock_type {
                    Some(LockType::Neighbor) => self.neighbors.insert(file, lock),
                    Some(LockType::Waiting) => None,
                    // Git merges it, or the tool makes it again.
                    _ if lock.shared => None,
                    _ => self.refused.insert(file, lock),
                };
            }
        }
        Ok(())
    }

    /// Adds files that would be put back to an earlier content. Files that the caller holds were changed by the caller.
    pub(super) fn add_undone(&mut self, undone: BTreeMap<String, String>) {
        let others = undone
            .into_iter()
            .filter(|(file, _)| !self.held.contains(&*to_nfc(file)));
        self.undone.extend(others);
    }

    /// Whether someone else holds a file, or a file would be reverted.
    pub(super) fn is_refusal(&self) -> bool {
        !self.refused.is_empty() || !self.outside.is_empty() || !self.undone.is_empty()
    }

    /// For a terminal; empty where there is nothing to say. An agent does not learn how to bypass the check.
    pub(super) fn text(&self, hook: &str, is_agent: bool) -> String {
        let mut text = String::new();
        if !self.unlockable.is_empty() {
            let names: Vec<&str> = self.unlockable.iter().take(MOST_LINES).map(String::as_str).collect();
            let _ = writeln!(
                text,
                "coord guard {hook}: warning: not checked, because names like these cannot be locked: {}",
                names.join(", ")
            );
        }
        for reason in &self.outside {
            let _ = writeln!(text, "coord guard {hook}: refused: {reason}");
        }
        for reason in &self.warned {
            let _ = writeln!(text, "coord guard {hook}: warning: {reason}");
        }
        for (locks, title) in [
            (&self.refused, "refused: others hold"),
            (
                &self.neighbors,
                "warning: others are changing files that import these, or that these import:",
            ),
        ] {
            if locks.is_empty() {
                continue;
            }
            let _ = writeln!(text, "coord guard {hook}: {title}");
            for (file, lock) in locks.iter().take(MOST_LINES) {
                let agent = lock
                    .agent_id
                    .as_ref()
                    .map(|agent| format!(" ({agent})"))
                    .unwrap_or_default();
                let (mode, message) = (lock.status.as_str(), quoted_line(&lock.message));
                let _ = writeln!(text, "  {file}: {mode} by {}{agent}: {message}", lock.user);
            }
            if let Some(more) = locks.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
                let _ = writeln!(text, "  and {more} more");
            }
        }
        if !self.undone.is_empty() {
            let _ = writeln!(
                text,
                "coord guard {hook}: refused: your index is older than the branch, and this commit would revert newer changes:"
            );
            for (file, commit) in self.undone.iter().take(MOST_LINES) {
                let _ = writeln!(text, "  {file}: as it was before {}", shown_line(commit));
            }
            let _ = writeln!(
                text,
                "Take each file as it is on the branch: git restore --source=HEAD --staged --worktree FILE"
            );
        }
        if !self.refused.is_empty() || !self.outside.is_empty() {
            let _ = writeln!(text, "Leave these files out, or wait until they are free.");
        }
        if self.is_refusal() && !is_agent {
            let _ = writeln!(text, "{}=1 goes past this check, and is noted.", env_vars::COORD_BYPASS);
        }
        text
    }
}
