//! Whether an intent may begin: how much its scope covers, and whether it overlaps with that of an active intent.

use coord_intents::intent::{Intent, Status, have_common_branch};
use coord_scopes::{Overlap, Scope, StepBudget};

use super::members::parse_scope;
use crate::registered::Intents;
use coord_domain::{Branch, RepoId};
use coord_intents_state::intents::{IntentRecord, Registry, intent_texts};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::sentences::reason_by_login;
use coord_state::builds::{graph_hash, keys};

/// An active intent with an overlapping scope.
pub(super) struct ScopeOverlap {
    pub id: String,
    pub overlap: Overlap,
}

/// The first active intent on a common branch whose scope overlaps with that of `intent`. Skips intents that a person
/// has allowed to overlap, and those that supplement it or that it supplements.
pub(super) async fn first_overlap(
    app: &App,
    repo: &RepoId,
    registry: &Registry,
    intent: &Intent,
    record: &IntentRecord,
) -> Result<Option<ScopeOverlap>, ApiError> {
    let scope = parse_scope(&intent.owned_scope)?;
    let is_rival = |id: &str, other: &IntentRecord| {
        id != intent.id
            && other.status.is_active()
            && !record.may_overlap.iter().any(|allowed| allowed == id)
            && have_common_branch(record.branch.as_deref(), other.branch.as_deref())
    };
    let ids: Vec<&str> = registry
        .ids()
        .into_iter()
        .filter(|id| is_rival(id, &registry.records[*id]))
        .collect();
    let texts = intent_texts(&*app.store, repo, &ids).await?;
    let mut rivals = Vec::new();
    for id in ids {
        let Some(other) = texts.get(id).map(|stored| &stored.intent) else {
            continue;
        };
        let is_same_work = intent.supplements.as_deref() == Some(id) || other.supplements.as_ref() == Some(&intent.id);
        if !is_same_work {
            rivals.push((id.to_owned(), other.owned_scope.clone()));
        }
    }
    // A hundred scopes with maliciously slow patterns take a tenth of a second.
    tokio::task::spawn_blocking(move || compare_scopes(&scope, rivals))
        .await
        .map_err(|_| ApiError::Internal)
}

fn compare_scopes(scope: &Scope, rivals: Vec<(String, Vec<String>)>) -> Option<ScopeOverlap> {
    let mut steps = StepBudget::new();
    for (id, patterns) in rivals {
        // A scope that only an older version accepted does not block a selection.
        let Ok(other) = Scope::parse(&patterns) else { continue };
        if let Some(overlap) = scope.overlap(&other, &mut steps) {
            return Some(ScopeOverlap { id, overlap });
        }
    }
    None
}

/// Checks how much of a branch the scope of an intent covers. The inner error is a sentence that it is too much, and
/// the inner value a warning if the files of the branch are unknown.
pub(super) async fn check_breadth(
    app: &App,
    repo: &RepoId,
    branch: &Branch,
    intent: &Intent,
) -> Result<Result<Option<String>, String>, ApiError> {
    let scope = parse_scope(&intent.owned_scope)?;
    let max_files = Intents::of(app).config.max_files;
    let key = keys::graph_json(repo, branch);
    let version = graph_hash(repo, branch).run(&*app.store).await?.version;
    let graph = match version {
        Some(version) => app.graph_cache.load(&app.store, key, &version).await?.ok(),
        None => None,
    };
    let is_known = graph.is_some();
    let count = tokio::task::spawn_blocking(move || match graph {
        Some(graph) => scope.check_breadth(graph.stored.nodes.iter().map(|node| node.id.as_str()), max_files),
        None => scope.check_breadth([""; 0], max_files),
    });
    Ok(match count.await.map_err(|_| ApiError::Internal)? {
        Err(too_broad) => Err(too_broad.to_string()),
        Ok(_) if is_known => Ok(None),
        Ok(_) => Ok(Some(format!(
            "BREADTH_UNKNOWN: The files of {branch} are not known yet, so the files in the scope were not counted."
        ))),
    })
}

/// Why an intent of this status cannot be selected, as the part of a sentence after its id.
pub(super) fn cannot_be_selected(status: Status, record: Option<&IntentRecord>) -> String {
    let [reason, by] = record.map_or([None, None], |record| {
        [record.reason.as_deref(), record.reason_by.as_deref()]
    });
    let why = reason_by_login(reason.unwrap_or_default(), by.unwrap_or_default());
    match status {
        Status::Blocked => format!("is blocked{why}; a person has to unblock it"),
        Status::Completed => "is completed; select another, or write a new one".to_owned(),
        Status::Abandoned => "was abandoned; select another, or write a new one".to_owned(),
        Status::Pending | Status::InProgress => "can be selected".to_owned(),
    }
}
