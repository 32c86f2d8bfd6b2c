//! After a tool: records the files that it has read and changed, claimed or not. No failure here fails the tool.

use std::path::{Path, PathBuf};

use coord_agent::connection::Connection;
use coord_agent::file_content;
use coord_agent::seen_content::SeenContent;
use coord_agent::session_notes::SessionNotes;
use coord_domain::AgentId;
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use coord_protocol::tool_names;

use super::caller::{Caller, SHORT_LIMIT, find};
use super::connected_session::ConnectedSession;
use super::event::Tool;
use super::lock_check::{self, CommandChanges};
use super::log::Log;
use super::session_working_copy::SessionWorkingCopy;
use super::shell::Effects;
use super::working_copy_files::{self, WorkingCopyFiles};
use super::{Trace, intents, interfaces, stale};

/// A written file, and the fencing token of the lock under which the write was granted.
struct WrittenFile {
    file: String,
    /// The content that the tool wrote, if it differs from the disk.
    hash: Option<ContentHash>,
    token: Option<i64>,
}

/// Records the tool's reads and writes. Returns sentences for the model.
pub(super) async fn record_tool(caller: &Caller<'_>) -> Vec<String> {
    let effects = caller.command_effects();
    let writes: Vec<PathBuf> = match &caller.call.tool {
        Tool::Edit(paths) => paths.iter().map(|path| caller.folder().join(path)).collect(),
        _ => effects.writes.clone(),
    };
    let mut sentences = Vec::new();
    let mut is_recorded = false;
    for copy in working_copy_files::group(&writes).unwrap_or_default() {
        let Ok(holder) = caller.holder(&copy.working_copy) else {
            continue;
        };
        let written = end_writes(caller, &copy, &holder);
        is_recorded |= !written.is_empty();
        sentences.extend(interfaces::declare_changes(caller, &copy.working_copy, &holder, &copy.files).await);
        sentences.extend(record_changes(caller, copy.working_copy, written).await);
    }
    if matches!(caller.call.tool, Tool::Shell { .. })
        && let Ok(Some(SessionWorkingCopy { working_copy, holder })) = SessionWorkingCopy::of(caller)
    {
        SeenContent::change(&working_copy, &holder, |seen| seen.end_command(working_copy.root()));
        let (has_changes, more) = record_tree_changes(caller, working_copy, &holder, is_recorded).await;
        is_recorded |= has_changes;
        sentences.extend(more);
    }
    note_reads(caller, &effects);
    if !is_recorded {
        sentences.extend(record_call(caller, &effects).await);
    }
    note_selection(caller).await;
    sentences
}

/// Ends the tool's writes to `copy`. Returns those that changed something.
fn end_writes(caller: &Caller<'_>, copy: &WorkingCopyFiles, holder: &AgentId) -> Vec<WrittenFile> {
    let is_edit = matches!(caller.call.tool, Tool::Edit(_));
    SeenContent::change(&copy.working_copy, holder, |seen| {
        let mut written = Vec::new();
        for file in &copy.files {
            let path = copy.path(file);
            if is_edit && caller.call.has_failed {
                seen.fail_write(&path);
                continue;
            }
            let hash = match is_edit && copy.files.len() == 1 {
                true => overwritten_content(caller, &path),
                false => None,
            };
            if let Some(result) = seen.end_write(&path, hash) {
                written.push(WrittenFile {
                    file: file.clone(),
                    hash,
                    token: result.token,
                });
            }
        }
        written
    })
}

/// The content that the tool wrote, if its input has all of it and someone else has changed the file since. Line
/// endings and the end of the file are ignored.
fn overwritten_content(caller: &Caller<'_>, path: &Path) -> Option<ContentHash> {
    const CONTENT_FIELDS: [&str; 2] = ["content", "file_text"];
    let input = &caller.call.input;
    let content = CONTENT_FIELDS.iter().find_map(|name| input.get(name)?.as_str())?;
    let on_disk = RootedPath::beside(path)
        .read(file_content::MAX_BYTES)
        .ok()
        .flatten()
        .unwrap_or_default();
    let normalize = |bytes: &[u8]| {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut text: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'\r').collect();
        let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
        text.truncate(end);
        text
    };
    (normalize(content.as_bytes()) != normalize(&on_disk)).then(|| ContentHash::of(content.as_bytes()))
}

/// Records the changes in `working_copy`, if the repository has intents.
async fn record_changes(caller: &Caller<'_>, working_copy: WorkingCopy, written: Vec<WrittenFile>) -> Option<String> {
    if written.is_empty() {
        return None;
    }
    let mut log = Log::open(caller, working_copy).await?;
    for WrittenFile { file, hash, token } in written {
        let hash = match hash {
            Some(hash) => Some(hash),
            None => file_content::to_commit(&log.work.working_copy, &file).await,
        };
        if let Some(hash) = hash {
            log.add_change(&file, hash, token);
        }
    }
    log.send(caller).await
}

/// Compares the working copy with its state before the command, and records changes that are not recorded yet. Returns
/// whether there were any, and sentences for the model.
async fn record_tree_changes(
    caller: &Caller<'_>,
    working_copy: WorkingCopy,
    holder: &AgentId,
    is_recorded: bool,
) -> (bool, Vec<String>) {
    let Some(changed) = lock_check::changed_files(&working_copy, holder).await else {
        return (false, Vec::new());
    };
    if changed.is_empty() {
        return (false, Vec::new());
    }
    let Ok((work, _)) = caller.work(working_copy) else {
        return (false, Vec::new());
    };
    let not_compared =
        |error: String| format!("Coord: the command's changes were not compared with the locks: {error}.");
    let connection = Connection::open_running(caller.args, &work.working_copy, Some(holder), SHORT_LIMIT);
    let connection = match connection {
        Ok(Some(connection)) => connection,
        Ok(None) => return (false, Vec::new()),
        Err(error) => return (false, vec![not_compared(format!("{error:#}"))]),
    };
    let session = ConnectedSession {
        connection: &connection,
        work: &work,
        holder,
    };
    let changes = match lock_check::compare_with_locks(session, changed).await {
        Ok(changes) => changes,
        Err(error) => return (false, vec![not_compared(error.to_string())]),
    };
    let CommandChanges {
        own,
        unclaimed,
        warning,
    } = changes;
    let conflicts = interfaces::declare_changes(caller, &work.working_copy, holder, &own).await;
    // The files that the command names were recorded already.
    let recorded: Vec<String> = match is_recorded {
        true => working_copy_files::group(&caller.command_effects().writes)
            .unwrap_or_default()
            .into_iter()
            .flat_map(|copy| copy.files)
            .collect(),
        false => Vec::new(),
    };
    let files = own.into_iter().chain(unclaimed).filter(|file| !recorded.contains(file));
    let written: Vec<WrittenFile> = files
        .map(|file| WrittenFile {
            file,
            hash: None,
            token: None,
        })
        .collect();
    let has_changes = !written.is_empty();
    let not_sent = record_changes(caller, work.working_copy, written).await;
    let sentences = not_sent.into_iter().chain(conflicts).chain(warning).collect();
    (has_changes, sentences)
}

/// Notes the content that the tool has given to the model.
fn note_reads(caller: &Caller<'_>, effects: &Effects) {
    let reads: Vec<PathBuf> = match &caller.call.tool {
        Tool::Read(path) if !caller.call.has_failed => path.iter().map(|path| caller.folder().join(path)).collect(),
        Tool::Shell { .. } => effects.reads.clone(),
        _ => return,
    };
    stale::note_reads(caller, &reads);
}

/// Records a call that has changed no file although it could have. With `--trace all`, records each call.
async fn record_call(caller: &Caller<'_>, effects: &Effects) -> Option<String> {
    let may_change = effects.changes || caller.call.tool == Tool::Unknown;
    let is_excluded = matches!(caller.call.tool, Tool::Coord(_) | Tool::Edit(_));
    if is_excluded || !(may_change || caller.trace == Trace::All) {
        return None;
    }
    let mut log = Log::open(caller, find(&caller.command_folder())?).await?;
    log.add_call(caller);
    log.send(caller).await
}

/// Fetches the intents again after a tool or command of Coord that may have selected or ended one.
async fn note_selection(caller: &Caller<'_>) {
    let may_select = match &caller.call.tool {
        Tool::Coord(tool) => matches!(*tool, tool_names::SELECT_ACTIVE_INTENT | tool_names::UPDATE_INTENT),
        Tool::Shell { command, .. } => command.contains("coord") && command.contains("intent"),
        _ => false,
    };
    if !may_select {
        return;
    }
    let Ok(Some(SessionWorkingCopy { working_copy, holder })) = SessionWorkingCopy::of(caller) else {
        return;
    };
    SessionNotes::change(&working_copy, &holder, |notes| {
        notes.has_intents = None;
        notes.intent = None;
    });
    if let Ok(Some(connection)) = Connection::open_running(caller.args, &working_copy, Some(&holder), SHORT_LIMIT) {
        let repo_url = caller.args.repo_url(&working_copy);
        if let Err(error) = intents::fetch_context(&connection.client, &working_copy, &repo_url, &holder).await {
            tracing::debug!(%error, "the intents are not known");
        }
    }
}
