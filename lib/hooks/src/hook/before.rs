//! Before a tool runs: claims its files, or denies the tool. The first denial ends the checks, in this order: working
//! copy, handshake, stale content, and the one request, in which the server decides on intent, scope, owner, budget,
//! circuit breaker and locks.

use std::path::Path;

use coord_agent::connection::Connection;
use coord_agent::mail_notes::MailNotes;
use coord_agent::next_command::{self, RepeatedRequest};
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{
    ErrorCode, InterfacePromise, LockMode, PostRequest, PostResponse, RecordEntry, RecordKind, ToolCall,
};

use super::caller::{Caller, LIMIT, SHORT_LIMIT, find};
use super::connected_session::ConnectedSession;
use super::event::{Decision, Tool};
use super::session_working_copy::SessionWorkingCopy;
use super::shell::{Effects, is_hook};
use super::working_copy_files::{self, WorkingCopyFiles};
use super::{
    event_times, guard, handshake, holder_handoff, ignored, intents, interfaces, reason, record, release, renewal,
    shared_tree, stale, usage, warnings,
};

/// The effects that a tool is about to have.
fn effects(caller: &Caller<'_>) -> Effects {
    let folder = caller.folder();
    match &caller.call.tool {
        Tool::Edit(paths) => Effects {
            changes: true,
            writes: paths.iter().map(|path| folder.join(path)).collect(),
            ..Effects::default()
        },
        Tool::Shell { .. } => caller.command_effects(),
        Tool::Read(path) => Effects {
            reads: path.iter().map(|path| folder.join(path)).collect(),
            ..Effects::default()
        },
        Tool::ReadOnly | Tool::Coord(_) => Effects::default(),
        Tool::Unknown => Effects {
            changes: true,
            ..Effects::default()
        },
    }
}

/// Decides whether the tool may run, and claims the files that it writes.
///
/// # Errors
/// A sentence, if the decision is impossible.
pub(super) async fn decide(caller: &Caller<'_>) -> Result<Decision, String> {
    ensure_decidable(caller)?;
    let mut effects = effects(caller);
    let copies = working_copy_files::group(&effects.writes)?;
    record_event_time(caller, &copies);
    // A failed read of a missing file updates the session's record of it. Other reads cost nothing here.
    let missing = effects.reads.iter().filter(|path| !path.exists());
    stale::note_reads(caller, &missing.cloned().collect::<Vec<_>>());
    if let Some(reason) = forbidden_effect(caller, &effects).await? {
        return Ok(deny(reason));
    }
    effects.changes = match handshake::may_change(caller, effects.changes) {
        Ok(changes) => changes,
        Err(damage) => return Ok(deny(damage)),
    };
    let home = match effects.changes {
        true => SessionWorkingCopy::of(caller)?,
        false => None,
    };
    if let Some(home) = &home
        && let Some(reason) = handshake::refusal(caller, home).await?
    {
        return Ok(deny(reason));
    }
    if let Some(reason) = stale_content(caller, &copies).await? {
        return Ok(deny(reason));
    }
    // One call counts once, however many files it writes.
    let mut call = match &home {
        Some(home) => usage::tool_call(caller, &home.working_copy, &home.holder),
        None => None,
    };
    let mut note = unlockable_note(&copies);
    let has_files = copies.iter().any(|copy| !copy.files.is_empty());
    for copy in copies {
        if let Some(reason) = claim(caller, copy, &mut call).await? {
            return Ok(deny(reason));
        }
    }
    if let (Some(home), Some(call), false) = (&home, call, has_files) {
        match usage::count(caller, home, call).await {
            Ok(None) => {}
            Ok(Some(reason)) => return Ok(deny(reason)),
            Err(failure) => note = note.or(Some(format!("Coord: the call is not counted: {failure}"))),
        }
    }
    if let Some(home) = &home
        && matches!(caller.call.tool, Tool::Shell { .. })
    {
        home.begin_command().await;
    }
    Ok(match holder_handoff::arguments(caller) {
        Some(arguments) => Decision::Rewrite { arguments, note },
        None => Decision::Proceed { context: None, note },
    })
}

/// Why the tool must not run, if an effect is forbidden whatever files it writes: an act that is reserved for people, a
/// bypass of the guard, or a change of a whole working copy.
async fn forbidden_effect(caller: &Caller<'_>, effects: &Effects) -> Result<Option<String>, String> {
    if let Some(act) = &effects.person_act {
        return Ok(Some(handshake::refuse_person_act(act)));
    }
    let edits_hook = || matches!(caller.call.tool, Tool::Edit(_)) && effects.writes.iter().any(|path| is_hook(path));
    let guard_bypass = effects.guard_bypass.clone();
    let guard_bypass = guard_bypass.or_else(|| edits_hook().then(|| "an edit of git's hooks".to_owned()));
    if let Some(act) = guard_bypass
        && let Some(working_copy) = find(&caller.command_folder())
        && let Some(reason) = guard::refusal(&working_copy, &act).await
    {
        return Ok(Some(reason));
    }
    for change in &effects.tree_changes {
        if let Some(reason) = shared_tree::refusal(caller, change).await? {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// Why the tool must not run, if it writes content that the session has not seen. Records the refusal.
async fn stale_content(caller: &Caller<'_>, copies: &[WorkingCopyFiles]) -> Result<Option<String>, String> {
    for copy in copies {
        let holder = caller
            .holder(&copy.working_copy)
            .map_err(|error| format!("{error:#}"))?;
        if let Some(refusal) = stale::refusal(caller, copy, &holder) {
            record_refusal(caller, &copy.working_copy, refusal.entry).await;
            return Ok(Some(refusal.reason));
        }
    }
    Ok(None)
}

/// Names the files that are written without a lock.
fn unlockable_note(copies: &[WorkingCopyFiles]) -> Option<String> {
    let unlockable: Vec<String> = copies
        .iter()
        .flat_map(|copy| &copy.unlockable)
        .map(|path| display_name(path))
        .collect();
    (!unlockable.is_empty()).then(|| {
        format!(
            "Coord: {} is written without a lock, because no lock can have such a name; others can write it too",
            reason::list_files(&unlockable)
        )
    })
}

/// Without a folder, only absolute paths identify the written files.
fn ensure_decidable(caller: &Caller<'_>) -> Result<(), String> {
    let is_decidable = match &caller.call.tool {
        Tool::Edit(paths) => paths.iter().all(|path| Path::new(path).is_absolute()),
        Tool::Shell { folder, .. } => folder.as_ref().is_some_and(|folder| Path::new(folder).is_absolute()),
        Tool::Read(_) | Tool::ReadOnly | Tool::Coord(_) => true,
        Tool::Unknown => false,
    };
    match is_decidable || !caller.has_no_folder {
        true => Ok(()),
        false => Err(
            "the session's folder was removed, so the tool's files are unknown; use absolute paths, or continue in a \
             folder that exists"
                .to_owned(),
        ),
    }
}

/// The name of a file, with invisible characters escaped.
fn display_name(path: &Path) -> String {
    format!("{:?}", path.file_name().unwrap_or_default().to_string_lossy())
}

fn deny(reason: String) -> Decision {
    Decision::Deny { reason }
}

/// Records the event in the repositories of the written files. For a tool that writes none, that of the agent's folder
/// counts.
fn record_event_time(caller: &Caller<'_>, copies: &[WorkingCopyFiles]) {
    let own: Option<WorkingCopy> = match copies {
        [] => caller.working_copy(),
        _ => None,
    };
    for working_copy in copies.iter().map(|copy| &copy.working_copy).chain(&own) {
        event_times::record(working_copy, caller.agent, caller.event);
    }
}

/// Records that a write was refused here, if the repository has intents.
async fn record_refusal(caller: &Caller<'_>, working_copy: &WorkingCopy, entry: Option<RecordEntry>) {
    let (Some(entry), Some(working_copy)) = (entry, find(working_copy.root())) else {
        return;
    };
    let Ok((work, holder)) = caller.work(working_copy) else {
        return;
    };
    let notes = SessionNotes::read(&work.working_copy, &holder);
    if notes.has_intents != Some(true) {
        return;
    }
    let connection = Connection::open_running(caller.args, &work.working_copy, Some(&holder), SHORT_LIMIT);
    let requests = record::requests(caller, &work, &notes, &[entry]);
    record::send(connection.ok().flatten().as_ref(), &work, requests).await;
}

/// Claims the files of one working copy. Returns the reason if they are refused.
async fn claim(
    caller: &Caller<'_>,
    copy: WorkingCopyFiles,
    call: &mut Option<ToolCall>,
) -> Result<Option<String>, String> {
    if copy.files.is_empty() {
        return Ok(None);
    }
    let WorkingCopyFiles {
        working_copy, files, ..
    } = copy;
    let (work, holder) = caller.work(working_copy).map_err(|error| format!("{error:#}"))?;
    let work = Work {
        // A command in a shell starts in the agent's folder.
        folder: caller.folder(),
        ..work
    };
    let notes = SessionNotes::read(&work.working_copy, &holder);
    if let Some(reason) = ignored_file(caller, &work, &notes, &files).await {
        return Ok(Some(reason));
    }
    let message = reason::claim_message(&notes, &files);
    let connection = Connection::open(caller.args, &work.working_copy, Some(&holder), LIMIT)
        .map_err(|error| reason::unreachable(&error))?;
    let session = ConnectedSession {
        connection: &connection,
        work: &work,
        holder: &holder,
    };
    let lead = holder.lead();
    let changed = interfaces::changed_by_call(caller, &work, &files);
    let request = PostRequest {
        interface: Some(InterfacePromise::Keeps),
        interface_changes: interfaces::changed_files(&changed),
        tool_call: call.take(),
        // A writer works under its session's intent.
        intent_id: notes.intent.clone().filter(|_| lead.is_some()),
        session: Some(usage::session(caller, &notes)),
        ..work.claim(files.clone(), LockMode::Writing, message)
    };
    let (response, ()) = tokio::join!(connection.client.post_status(&request), renewal::renew_if_due(session));
    let mut response = match response {
        Ok(response) => response,
        Err(error) => return Err(reason::claim_failure(&error, &work).await),
    };
    let repeated = RepeatedRequest {
        files: &files,
        ..RepeatedRequest::default()
    };
    next_command::adapt_command(&work, &mut response.orchestration, repeated).await;
    note_response(&work, &holder, &files, &response);
    if let (Some(lead), Some(writer)) = (lead, &caller.call.writer) {
        notify_lead(&work, &lead, writer, &response);
    }
    MailNotes::note_claim(&work.working_copy, &holder, &response);
    if !response.success {
        return Ok(Some(interfaces::explain(
            reason::refusal(&response),
            &response,
            &changed,
        )));
    }
    let locks = response.locks.unwrap_or_default();
    let copy = WorkingCopyFiles::new(work.working_copy, files);
    stale::begin_writes(&copy, &holder, &changed, |file| locks.get(file).map(|lock| lock.token));
    Ok(None)
}

/// Why the session's intent may not change one of `files`, by the working copy's own list. Records the refusal.
async fn ignored_file(caller: &Caller<'_>, work: &Work, notes: &SessionNotes, files: &[String]) -> Option<String> {
    let (file, reason) = ignored::refusal(work, notes.intent.as_ref()?, files)?;
    let entry = RecordEntry {
        file_path: Some(file),
        error_message: Some(reason.clone()),
        ..record::call(caller, RecordKind::Call)
    };
    record_refusal(caller, &work.working_copy, Some(entry)).await;
    Some(reason::scope_refusal(&reason))
}

/// Notes the response to a claim of `files`.
fn note_response(work: &Work, holder: &AgentId, files: &[String], response: &PostResponse) {
    let branch = work.branch.to_string();
    let head = release::pushed_head(work);
    let code = response.error.as_ref().map(|error| error.error);
    let is_locked = !response.success && code == Some(ErrorCode::LockConflict);
    SessionNotes::change(&work.working_copy, holder, |notes| {
        intents::note(notes, response);
        warnings::note(notes, &response.warnings);
        notes.note_wait(&branch, files, is_locked);
        notes.taken.extend(taken_over(response).map(str::to_owned));
        if response.success {
            notes.add_worktree(work.working_copy.root());
            if let Some(head) = head {
                notes.heads.entry(branch.clone()).or_insert(head);
            }
        }
    });
}

/// The files that a claim has taken over.
fn taken_over(response: &PostResponse) -> impl Iterator<Item = &str> {
    let locks = response.locks.iter().flatten();
    locks
        .filter(|(_, lock)| lock.taken_from.is_some())
        .map(|(file, _)| file.as_str())
}

/// Notifies the lead of the files that its subagent has taken over.
fn notify_lead(work: &Work, lead: &AgentId, writer: &str, response: &PostResponse) {
    let files: Vec<&str> = taken_over(response).collect();
    if !files.is_empty() {
        SessionNotes::change(&work.working_copy, lead, |notes| {
            notes.add(format!(
                "TAKEN_OVER: your subagent {writer:?} needs {}, which you had claimed: leave it alone until the \
                 subagent has ended, and read it again then.",
                reason::list_files(&files)
            ));
        });
    }
}
