//! Before a tool runs: its files are claimed, or the tool is denied. In this order, the first denial ends it: working copy, handshake,
//! stale content, and the one request, in which the server decides on intent, scope, owner, budget, breaker and locks.

use std::path::{Path, PathBuf};

use coord_agent::connection::Connection;
use coord_agent::mail_notes::MailNotes;
use coord_agent::next_command::{self, RepeatedRequest};
use coord_agent::seen_content::SeenContent;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{
    ErrorCode, InterfacePromise, LockMode, PostRequest, PostResponse, RecordEntry, RecordKind, ToolCall,
};

use super::caller::{Caller, LIMIT, find};
use super::copy_files::{self, CopyFiles};
use super::event::{Decision, Tool};
use super::session_copy::SessionCopy;
use super::shell::{Effects, is_hook};
use super::{
    event_times, guard, handshake, holder_handoff, ignored, intents, interfaces, reason, record, release, renewal,
    shared_tree, stale, turn, warnings,
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
        Tool::Reads | Tool::Own(_) => Effects::default(),
        Tool::Unknown => Effects {
            changes: true,
            ..Effects::default()
        },
    }
}

/// Claims the files that the tool writes.
///
/// # Errors A sentence, if the decision is impossible.
pub(super) async fn decide(caller: &Caller<'_>) -> Result<Decision, String> {
    ensure_decidable(caller)?;
    let mut effects = effects(caller);
    let places = copy_files::of(&effects.writes)?;
    note_event_time(caller, &places);
    forget_missing(caller, &effects.reads);
    if let Some(act) = &effects.person {
        return Ok(deny(handshake::persons_act(act)));
    }
    let edits_hook = || matches!(caller.call.tool, Tool::Edit(_)) && effects.writes.iter().any(|path| is_hook(path));
    let guard_bypass = effects.guard_bypass.clone();
    let guard_bypass = guard_bypass.or_else(|| edits_hook().then(|| "an edit of git's hooks".to_owned()));
    if let Some(act) = guard_bypass
        && let Some(working_copy) = find(&caller.command_folder())
        && let Some(reason) = guard::refusal(&working_copy, &act).await
    {
        return Ok(deny(reason));
    }
    for change in &effects.trees {
        if let Some(reason) = shared_tree::refusal(caller, change).await? {
            return Ok(deny(reason));
        }
    }
    effects.changes = match handshake::changes(caller, effects.changes) {
        Ok(changes) => changes,
        Err(damage) => return Ok(deny(damage)),
    };
    let home = match effects.changes {
        true => SessionCopy::of(caller)?,
        false => None,
    };
    if let Some(home) = &home
        && let Some(reason) = handshake::refusal(caller, home).await?
    {
        return Ok(deny(reason));
    }
    for place in &places {
        let holder = caller
            .holder(&place.working_copy)
            .map_err(|error| format!("{error:#}"))?;
        if let Some(refusal) = stale::refusal(caller, place, &holder) {
            note_refusal(caller, place, refusal.entry).await;
            return Ok(deny(refusal.reason));
        }
    }
    // One call is one turn, whatever it writes.
    let mut call = match &home {
        Some(home) => turn::call(caller, &home.working_copy, &home.holder),
        None => None,
    };
    let unlockable: Vec<String> = places
        .iter()
        .flat_map(|place| &place.unlockable)
        .map(|path| display_path(path))
        .collect();
    let mut note = (!unlockable.is_empty()).then(|| {
        format!(
            "Coord: {} is written without a lock, because no lock can have such a name; others are not kept from writing it",
            reason::list_files(&unlockable)
        )
    });
    let has_files = places.iter().any(|place| !place.files.is_empty());
    for place in places {
        if let Some(reason) = claim(caller, place, &mut call).await? {
            return Ok(deny(reason));
        }
    }
    if let (Some(home), Some(call), false) = (&home, call, has_files) {
        match turn::count(caller, home, call).await {
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

/// Without a folder, only absolute paths identify the written files.
fn ensure_decidable(caller: &Caller<'_>) -> Result<(), String> {
    let is_decidable = match &caller.call.tool {
        Tool::Edit(paths) => paths.iter().all(|path| Path::new(path).is_absolute()),
        Tool::Shell { folder, .. } => folder.as_ref().is_some_and(|folder| Path::new(folder).is_absolute()),
        Tool::Read(_) | Tool::Reads | Tool::Own(_) => true,
        Tool::Unknown => false,
    };
    match is_decidable || !caller.is_adrift {
        true => Ok(()),
        false => Err(
            "the session's folder was removed, so the tool's files are unknown; use absolute paths, or continue in a folder that exists"
                .to_owned(),
        ),
    }
}

/// A path whose characters may not be seen.
fn display_path(path: &Path) -> String {
    format!("{:?}", path.file_name().unwrap_or_default().to_string_lossy())
}

fn deny(reason: String) -> Decision {
    Decision::Deny { reason }
}

/// Files count for the repository that they are in; any other tool for that of the agent's folder.
fn note_event_time(caller: &Caller<'_>, places: &[CopyFiles]) {
    let own: Option<WorkingCopy> = match places {
        [] => caller.working_copy(),
        _ => None,
    };
    let noted = places.iter().map(|place| &place.working_copy).chain(&own);
    for working_copy in noted {
        event_times::note(working_copy, caller.agent, caller.event);
    }
}

/// A failed read of a missing file updates the session's record of it. Other reads cost nothing here.
fn forget_missing(caller: &Caller<'_>, reads: &[PathBuf]) {
    let missing: Vec<PathBuf> = reads.iter().filter(|path| !path.exists()).cloned().collect();
    for place in copy_files::of(&missing).unwrap_or_default() {
        if let Ok(holder) = caller.holder(&place.working_copy) {
            SeenContent::change(&place.working_copy, &holder, |seen| {
                place.files.iter().for_each(|file| seen.read(&place.path(file)));
            });
        }
    }
}

/// Records that a write was refused here, where the repository has intents.
async fn note_refusal(caller: &Caller<'_>, place: &CopyFiles, entry: Option<RecordEntry>) {
    let (Some(entry), Some(working_copy)) = (entry, find(place.working_copy.root())) else {
        return;
    };
    let Ok(work) = caller.work(working_copy) else { return };
    let Some(holder) = work.agent_id.clone() else { return };
    let notes = SessionNotes::read(&work.working_copy, &holder);
    if notes.has_intents != Some(true) {
        return;
    }
    let connection = Connection::open_running(
        caller.args,
        &work.working_copy,
        Some(&holder),
        super::caller::SHORT_LIMIT,
    );
    let requests = record::requests(caller, &work, &notes, &[entry]);
    record::send(connection.ok().flatten().as_ref(), &work, requests).await;
}

/// Claims the files of one working copy. The reason where they are refused.
async fn claim(caller: &Caller<'_>, place: CopyFiles, call: &mut Option<ToolCall>) -> Result<Option<String>, String> {
    if place.files.is_empty() {
        return Ok(None);
    }
    let failed = |error: anyhow::Error| format!("{error:#}");
    let CopyFiles {
        working_copy, files, ..
    } = place;
    let work = caller.work(working_copy).map_err(failed)?;
    let Some(holder) = work.agent_id.clone() else {
        return Err("the session has no agent_id".to_owned());
    };
    let notes = SessionNotes::read(&work.working_copy, &holder);
    if let Some((file, reason)) = notes
        .intent
        .as_ref()
        .and_then(|intent| ignored::refusal(&work, intent, &files))
    {
        let entry = RecordEntry {
            file_path: Some(file),
            error_message: Some(reason.clone()),
            ..record::call(caller, RecordKind::Call)
        };
        let place = CopyFiles::new(work.working_copy, files);
        note_refusal(caller, &place, Some(entry)).await;
        return Ok(Some(reason::scope(&reason)));
    }
    let message = reason::message(&notes, &files);
    let opened = Connection::open(caller.args, &work.working_copy, Some(&holder), LIMIT);
    let connection = opened.map_err(|error| reason::unreachable(&error))?;
    let lead = holder.lead();
    let changed = interfaces::after_call(caller, &work, &files);
    let request = PostRequest {
        interface: Some(InterfacePromise::Keeps),
        interface_changes: interfaces::changed_files(&changed),
        tool_call: call.take(),
        // A writer works under its session's intent.
        intent_id: notes.intent.clone().filter(|_| lead.is_some()),
        session: Some(turn::session(caller, &notes)),
        ..work.claim(files.clone(), LockMode::Writing, message)
    };
    let (response, ()) = tokio::join!(
        connection.client.post_status(&request),
        renewal::renew_if_due(&connection.client, &work, &holder)
    );
    let mut response = match response {
        Ok(response) => response,
        Err(error) => return Err(reason::failed_claim(&error, &work).await),
    };
    // A command in a shell begins there.
    let work = Work {
        folder: caller.folder(),
        ..work
    };
    let about = RepeatedRequest {
        files: &files,
        ..RepeatedRequest::default()
    };
    next_command::adapt_command(&work, &mut response.orchestration, about).await;
    let root: PathBuf = work.working_copy.root().to_owned();
    let branch = work.branch.to_string();
    let head = release::pushed_head(&work);
    SessionNotes::change(&work.working_copy, &holder, |notes| {
        intents::note(notes, &response);
        warnings::note(notes, &response.warnings);
        notes.note_wait(
            &branch,
            &files,
            !response.success
                && response
                    .error
                    .as_ref()
                    .is_some_and(|error| error.error == ErrorCode::LockConflict),
        );
        notes.taken.extend(taken_over(&response).map(str::to_owned));
        if response.success {
            notes.add_worktree(&root);
            if let Some(head) = head {
                notes.heads.entry(branch.clone()).or_insert(head);
            }
        }
    });
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
    let place = CopyFiles::new(work.working_copy, files);
    stale::begin_writes(&place, &holder, &changed, |file| locks.get(file).map(|lock| lock.token));
    Ok(None)
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
                "TAKEN_OVER: your subagent {writer:?} needs {}, which you had claimed: leave it alone until the subagent has ended, \
                 and read it again then.",
                reason::list_files(&files)
            ));
        });
    }
}
