//! After a tool: the files that it has read and changed, claimed or not. Nothing here makes the tool fail.

use std::path::{Path, PathBuf};

use coord_agent::connection::Connection;
use coord_agent::file_content;
use coord_agent::seen_content::SeenContent;
use coord_agent::session_notes::SessionNotes;
use coord_domain::AgentId;
use coord_files::RootedPath;
use coord_intents::ledger::ContentHash;
use coord_protocol::tool_names;

use super::caller::{Caller, SHORT_LIMIT, find};
use super::copy_files::{self, CopyFiles};
use super::event::Tool;
use super::lock_check::{self, ChangedByHolder};
use super::log::Log;
use super::shell::Effects;
use super::{Trace, intents, interfaces};

/// A written file, and the fencing token of the lock under which the write was granted.
struct WrittenFile {
    file: String,
    /// The content that the tool wrote, if it differs from the disk.
    hash: Option<ContentHash>,
    token: Option<i64>,
}

/// Notes and records the tool's reads and writes. Sentences for the model.
pub(super) async fn tool(caller: &Caller<'_>) -> Vec<String> {
    let effects = caller.command_effects();
    let writes: Vec<PathBuf> = match &caller.call.tool {
        Tool::Edit(paths) => paths.iter().map(|path| caller.folder().join(path)).collect(),
        _ => effects.writes.clone(),
    };
    let mut sentences = Vec::new();
    let mut is_recorded = false;
    for place in copy_files::of(&writes).unwrap_or_default() {
        let Ok(holder) = caller.holder(&place.working_copy) else {
            continue;
        };
        let changed = ended(caller, &place, &holder);
        is_recorded |= !changed.is_empty();
        sentences.extend(interfaces::settle(caller, &place.working_copy, &holder, &place.files).await);
        sentences.extend(record_changes(caller, place, changed).await);
    }
    if matches!(caller.call.tool, Tool::Shell { .. })
        && let Some(working_copy) = find(&caller.command_folder())
        && let Ok(holder) = caller.holder(&working_copy)
    {
        SeenContent::change(&working_copy, &holder, |seen| seen.end_command(working_copy.root()));
        let place = CopyFiles::new(working_copy, Vec::new());
        let (found, more) = compare(caller, place, &holder, is_recorded).await;
        is_recorded |= found;
        sentences.extend(more);
    }
    note_reads(caller, &effects);
    if !is_recorded {
        sentences.extend(record_call(caller, &effects).await);
    }
    note_selection(caller).await;
    sentences
}

/// The writes of the tool to `place` have ended: those that changed something.
fn ended(caller: &Caller<'_>, place: &CopyFiles, holder: &AgentId) -> Vec<WrittenFile> {
    let is_edit = matches!(caller.call.tool, Tool::Edit(_));
    SeenContent::change(&place.working_copy, holder, |seen| {
        let mut changed = Vec::new();
        for file in &place.files {
            let path = place.path(file);
            if is_edit && caller.call.has_failed {
                seen.fail_write(&path);
                continue;
            }
            let hash = match is_edit && place.files.len() == 1 {
                true => written(caller, &path),
                false => None,
            };
            if let Some(written) = seen.end_write(&path, hash) {
                changed.push(WrittenFile {
                    file: file.clone(),
                    hash,
                    token: written.token,
                });
            }
        }
        changed
    })
}

/// The content that the tool wrote, if its input has all of it and the file has changed since: someone else wrote. Line endings and
/// the end of the file are ignored.
fn written(caller: &Caller<'_>, path: &Path) -> Option<ContentHash> {
    const WHOLE: [&str; 2] = ["content", "file_text"];
    let input = &caller.call.input;
    let content = WHOLE.iter().find_map(|name| input.get(name)?.as_str())?;
    let on_disk = RootedPath::beside(path)
        .read(file_content::MOST_BYTES)
        .ok()
        .flatten()
        .unwrap_or_default();
    let plain = |bytes: &[u8]| {
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut text: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'\r').collect();
        let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
        text.truncate(end);
        text
    };
    (plain(content.as_bytes()) != plain(&on_disk)).then(|| ContentHash::of(content.as_bytes()))
}

/// Records the changes in `place`, if the repository has intents.
async fn record_changes(caller: &Caller<'_>, place: CopyFiles, changed: Vec<WrittenFile>) -> Option<String> {
    if changed.is_empty() {
        return None;
    }
    let mut log = Log::open(caller, place).await?;
    for WrittenFile { file, hash, token } in changed {
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

/// Compares the working copy with its state before the command. Whether anything was recorded, and sentences for the model.
async fn compare(caller: &Caller<'_>, place: CopyFiles, holder: &AgentId, is_recorded: bool) -> (bool, Vec<String>) {
    let Some(changed) = lock_check::changed(&place.working_copy, holder).await else {
        return (false, Vec::new());
    };
    if changed.is_empty() {
        return (false, Vec::new());
    }
    let Ok(work) = caller.work(place.working_copy) else {
        return (false, Vec::new());
    };
    let opened = Connection::open_running(caller.args, &work.working_copy, Some(holder), SHORT_LIMIT);
    let not_compared =
        |error: String| format!("Coord: the command's changes were not compared with the locks: {error}.");
    let connection = match opened {
        Ok(Some(connection)) => connection,
        Ok(None) => return (false, Vec::new()),
        Err(error) => return (false, vec![not_compared(format!("{error:#}"))]),
    };
    let ChangedByHolder { own, without, warning } = match lock_check::judge(&connection, &work, holder, changed).await {
        Ok(changes) => changes,
        Err(error) => return (false, vec![not_compared(error.to_string())]),
    };
    let place = CopyFiles::new(work.working_copy, Vec::new());
    let settled = interfaces::settle(caller, &place.working_copy, holder, &own).await;
    // Files that the command names were recorded already.
    let named: Vec<String> = match is_recorded {
        true => copy_files::of(&caller.command_effects().writes)
            .unwrap_or_default()
            .into_iter()
            .flat_map(|place| place.files)
            .collect(),
        false => Vec::new(),
    };
    let files = own.into_iter().chain(without).filter(|file| !named.contains(file));
    let changed: Vec<WrittenFile> = files
        .map(|file| WrittenFile {
            file,
            hash: None,
            token: None,
        })
        .collect();
    let found = !changed.is_empty();
    let mut sentences: Vec<String> = record_changes(caller, place, changed).await.into_iter().collect();
    sentences.extend(settled);
    sentences.extend(warning);
    (found, sentences)
}

/// Notes the content that the tool has shown to the model.
fn note_reads(caller: &Caller<'_>, effects: &Effects) {
    let reads: Vec<PathBuf> = match &caller.call.tool {
        Tool::Read(path) if !caller.call.has_failed => path.iter().map(|path| caller.folder().join(path)).collect(),
        Tool::Shell { .. } => effects.reads.clone(),
        _ => return,
    };
    for place in copy_files::of(&reads).unwrap_or_default() {
        if let Ok(holder) = caller.holder(&place.working_copy) {
            SeenContent::change(&place.working_copy, &holder, |seen| {
                place.files.iter().for_each(|file| seen.read(&place.path(file)));
            });
        }
    }
}

/// Records a call that has changed no file: one that could have, or with `--trace all` each.
async fn record_call(caller: &Caller<'_>, effects: &Effects) -> Option<String> {
    let may_change = effects.changes || caller.call.tool == Tool::Unknown;
    let is_own = matches!(caller.call.tool, Tool::Own(_) | Tool::Edit(_));
    if is_own || !(may_change || caller.trace == Trace::All) {
        return None;
    }
    let place = CopyFiles::new(find(&caller.command_folder())?, Vec::new());
    let mut log = Log::open(caller, place).await?;
    log.add_call(caller);
    log.send(caller).await
}

/// After a tool or command of Coord that may have selected or ended an intent, the server is asked again.
async fn note_selection(caller: &Caller<'_>) {
    let may_select = match &caller.call.tool {
        Tool::Own(tool) => matches!(*tool, tool_names::SELECT_ACTIVE_INTENT | tool_names::UPDATE_INTENT),
        Tool::Shell { command, .. } => command.contains("coord") && command.contains("intent"),
        _ => false,
    };
    let Some(working_copy) = may_select.then(|| find(&caller.command_folder())).flatten() else {
        return;
    };
    let Ok(holder) = caller.holder(&working_copy) else {
        return;
    };
    SessionNotes::change(&working_copy, &holder, |notes| {
        notes.has_intents = None;
        notes.intent = None;
    });
    if let Ok(Some(connection)) = Connection::open_running(caller.args, &working_copy, Some(&holder), SHORT_LIMIT) {
        let repo_url = caller.args.repo_url(&working_copy);
        if let Err(error) = intents::read_context(&connection.client, &working_copy, &repo_url, &holder).await {
            tracing::debug!(%error, "the intents are not known");
        }
    }
}
