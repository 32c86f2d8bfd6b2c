//! Before a tool runs: its files are claimed, or the tool is denied.

use std::path::PathBuf;

use coord_git::WorkingCopy;
use coord_protocol::LockMode;

use crate::agent::connection::Connection;
use crate::agent::session_notes::SessionNotes;

use super::caller::{Caller, LIMIT};
use super::event::{Decision, Tool};
use super::places::{self, Place};
use super::shell::{self, Effects};
use super::{heard, reason, renewal, shared_tree};

/// What a tool is about to do.
fn effects(caller: &Caller<'_>) -> Effects {
    let folder = caller.folder();
    match &caller.call.tool {
        Tool::Edit(paths) => Effects {
            writes: paths.iter().map(|path| folder.join(path)).collect(),
            ..Effects::default()
        },
        Tool::Shell {
            command,
            folder: of_command,
        } => {
            let folder = match of_command {
                Some(of_command) => folder.join(of_command),
                None => folder,
            };
            shell::effects(command, &folder)
        }
        Tool::Other => Effects::default(),
    }
}

/// Claims what the tool writes.
///
/// # Errors
/// A sentence, when it cannot be told whether the tool may run.
pub(super) async fn decide(caller: &Caller<'_>) -> Result<Decision, String> {
    let Effects { writes, trees, .. } = effects(caller);
    let places = places::of(&writes)?;
    note_heard(caller, &places);
    for change in &trees {
        if let Some(reason) = shared_tree::refusal(caller, change).await? {
            return Ok(Decision::Deny { reason });
        }
    }
    for place in places {
        if let Some(reason) = claim(caller, place).await? {
            return Ok(Decision::Deny { reason });
        }
    }
    Ok(Decision::PROCEED)
}

/// Files count for the repository that they are in; any other tool for that of the agent's folder.
fn note_heard(caller: &Caller<'_>, places: &[Place]) {
    let own: Option<WorkingCopy> = match places {
        [] => caller.working_copy(),
        _ => None,
    };
    let noted = places.iter().map(|place| &place.working_copy).chain(&own);
    for working_copy in noted {
        heard::note(working_copy, caller.agent, caller.event);
    }
}

/// Claims the files of one working copy. The reason where they are refused.
async fn claim(caller: &Caller<'_>, place: Place) -> Result<Option<String>, String> {
    let Place { working_copy, files } = place;
    if files.is_empty() {
        return Ok(None);
    }
    let failed = |error: anyhow::Error| format!("{error:#}");
    let work = caller.work(working_copy).map_err(failed)?;
    let Some(holder) = work.agent_id.clone() else {
        return Err("the session has no agent_id".to_owned());
    };
    let notes = SessionNotes::read(&work.working_copy, &holder);
    let message = notes
        .task
        .unwrap_or_else(|| format!("Editing {}", reason::listed(&files)));
    let opened = Connection::open(caller.args, &work.working_copy, Some(&holder), LIMIT);
    let connection = opened.map_err(|error| reason::unreachable(&error))?;
    let request = work.claim(files, LockMode::Writing, message);
    let (response, ()) = tokio::join!(
        connection.client.post_status(&request),
        renewal::renew_if_due(&connection.client, &work, &holder)
    );
    let response = response.map_err(|error| reason::failure(&error))?;
    if !response.success {
        return Ok(Some(reason::refusal(&response)));
    }
    let root: PathBuf = work.working_copy.root().to_owned();
    let branch = work.branch.to_string();
    let head = work.working_copy.tip(&work.branch).map(|tip| tip.commit.to_string());
    SessionNotes::change(&work.working_copy, &holder, |notes| {
        notes.add_worktree(&root);
        if let Some(head) = head {
            notes.heads.entry(branch).or_insert(head);
        }
    });
    Ok(None)
}
