//! The context of a caller: its selected intent, or those that it can select.

use coord_intents::intent::Status;
use coord_intents::ledger::Record;
use coord_protocol::IntentView;
use coord_protocol::plain_text::{quote_line, visible_line};

use super::context_text::{Choice, Context};
use super::view::{owned_file_count, view};
use crate::registered::unknown_intent;
use coord_domain::{Branch, Holder, LockMode, RepoId};
use coord_intents_state::intents::{Owner, Owners, Registry, intent_texts, owned_paths, registry};
use coord_intents_state::ledger::{AppendedLine, newest_lines};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_state::locks::{LiveLocks, live_locks};

/// How many of the newest ledger lines are searched.
const SEARCHED_LINES: usize = 200;

/// The most ledger lines in a context.
const MAX_LINES: usize = 5;

/// The most active intents, and the most locks, of others in a context.
const MAX_NEARBY: usize = 5;

/// How many digits of a hash are shown.
const HASH_DIGITS: usize = 12;

/// The most intents to select from.
const MAX_CHOICES: usize = 50;

/// The text about the intent `id` for `holder`, whose work is on `branch`.
pub(super) async fn selected_context(
    app: &App,
    repo: &RepoId,
    holder: &Holder,
    id: &str,
    branch: &Branch,
) -> Result<String, ApiError> {
    let query = registry(repo, holder)
        .and(owned_paths(repo))
        .and(live_locks(repo).and(newest_lines(repo, SEARCHED_LINES)));
    let ((registry, owned), (locks, lines)) = query.run(&*app.store).await?;
    let others = active_others(&registry, id);
    let mut ids = vec![id];
    ids.extend(&others);
    let store = &*app.store;
    let (owners, texts) = tokio::try_join!(owned.owners(store, repo), intent_texts(store, repo, &ids))?;
    if !registry.records.contains_key(id) {
        return Err(unknown_intent(id));
    }
    let mut nearby: Vec<String> = Vec::new();
    for other in others {
        let Some(stored) = texts.get(other) else { continue };
        let scope = quote_line(&stored.intent.owned_scope.join(", "));
        nearby.push(format!(
            "intent {other} (login {}): {scope}",
            visible_line(stored.author())
        ));
    }
    nearby.extend(locks_of_others(&locks, holder, branch));
    let intent = view(id, &registry, texts.get(id), owned_file_count(id, &owners));
    let context = Context {
        author: author(&intent, holder.user_id.as_str()),
        intent,
        lines: lines_about(id, &lines),
        changed_files: changed_files(id, &owners),
        nearby,
    };
    Ok(context.text())
}

/// The text about the intents that `holder` can select.
pub(super) async fn choice_context(app: &App, repo: &RepoId, registry: &Registry) -> Result<String, ApiError> {
    let is_open = |id: &&str| matches!(registry.records[*id].status, Status::Pending | Status::InProgress);
    let ids: Vec<&str> = registry.ids().into_iter().filter(is_open).collect();
    // The newest are the most likely choices.
    let ids = &ids[ids.len().saturating_sub(MAX_CHOICES)..];
    let texts = intent_texts(&*app.store, repo, ids).await?;
    let intents = ids.iter().map(|id| view(id, registry, texts.get(*id), 0));
    let editors = ids
        .iter()
        .map(|id| texts.get(*id).map(|stored| stored.editor().to_owned()));
    let choice = Choice {
        editors: editors.map(Option::unwrap_or_default).collect(),
        intents: intents.collect(),
        last: registry.session.last.clone(),
    };
    Ok(choice.text())
}

/// The author and editor of the intent, unless `login` has written all of it.
fn author(intent: &IntentView, login: &str) -> Option<String> {
    let is_own = intent.author.as_deref() == Some(login) && intent.editor.is_none();
    (!is_own).then(|| intent.authorship())
}

fn active_others<'a>(registry: &'a Registry, id: &str) -> Vec<&'a str> {
    let is_active = |other: &&str| *other != id && registry.records[*other].status.is_active();
    registry.ids().into_iter().filter(is_active).take(MAX_NEARBY).collect()
}

fn locks_of_others(locks: &LiveLocks, holder: &Holder, branch: &Branch) -> Vec<String> {
    let is_other = |user: &str, agent: Option<&str>| {
        user != holder.user_id.as_str() || agent.unwrap_or_default() != holder.agent_or_empty()
    };
    let entries = locks
        .entries
        .iter()
        .filter(|entry| entry.branch == branch.as_str() && is_other(&entry.user_id, entry.agent_id.as_deref()));
    let mut lines: Vec<String> = entries
        .map(|entry| {
            let verb = match entry.status {
                LockMode::Writing => "writes",
                LockMode::Reading => "reads",
            };
            format!(
                "{} {verb} {}: {}",
                entry.user_id,
                entry.file_path,
                quote_line(&entry.message)
            )
        })
        .collect();
    lines.sort();
    lines.truncate(MAX_NEARBY);
    lines
}

fn lines_about(id: &str, lines: &[AppendedLine]) -> Vec<String> {
    let mut lines: Vec<String> = lines
        .iter()
        .filter_map(|line| Record::read(line.text.as_bytes()).ok())
        .filter(|record| record.intent_id.as_deref() == Some(id))
        .take(MAX_LINES)
        .map(|record| ledger_line(&record))
        .collect();
    lines.reverse();
    lines
}

fn ledger_line(record: &Record) -> String {
    let time = record.timestamp.get(11..19).unwrap_or_default();
    let files = record.target_files.join(", ");
    let texts = [&files, &record.reasoning, &record.output_summary, &record.error_message];
    let texts: Vec<&str> = texts
        .into_iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect();
    format!(
        "{time} {} {} {}: {}",
        record.agent_id,
        record.action_type,
        record.status,
        quote_line(&texts.join("; "))
    )
}

fn changed_files(id: &str, owners: &Owners) -> Vec<String> {
    let describe = |(path, owners): (&String, &Vec<Owner>)| {
        let owner = owners.iter().find(|owner| owner.intent == id)?;
        let hash = owner.hash.as_deref()?;
        let digits = hash.strip_prefix("sha256:").unwrap_or(hash);
        Some(format!("{path} {}", digits.get(..HASH_DIGITS).unwrap_or(digits)))
    };
    owners.iter().filter_map(describe).collect()
}
