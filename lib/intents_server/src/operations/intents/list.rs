//! The intents of a repository, or one of them.

use std::collections::{BTreeMap, BTreeSet};

use coord_intents::intent::Status;
use coord_protocol::{Action, IntentResponse, IntentView, IntentsResponse, IntentsView, Orchestration};

use super::context::{choice_context, selected_context};
use super::intent_caller::{IntentCaller, id_in};
use super::view::{owned_file_count, view};
use crate::config::IntentPolicy;
use crate::registered::{Intents, unknown_intent};
use coord_auth::Caller;
use coord_domain::Holder;
use coord_intents_state::intents::{Owners, Registry, intent_texts, owned_paths, registry};
use coord_server::admission::admit_as_holder;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::list_locks::held_locks;
use coord_state::locks::live_locks;

/// The most bytes of texts in one response.
const MAX_BYTES: usize = 4 << 20;

/// A request for intents. `agent` is the header `X-Coord-Agent`, if sent.
#[derive(Debug)]
pub struct IntentsRequest<'a> {
    pub repo_url: &'a Option<String>,
    /// The branch of the work, for the context.
    pub branch: Option<&'a str>,
    /// Only intents of this status.
    pub status: Option<Status>,
    pub view: IntentsView,
    pub caller: Caller,
    pub agent: Option<&'a str>,
}

/// Lists the intents.
///
/// # Errors
/// When a field is not valid, the caller is denied, or the store does not respond.
pub async fn list_intents(app: &App, request: IntentsRequest<'_>) -> Result<IntentsResponse, ApiError> {
    let (status, requested_view) = (request.status, request.view);
    let (caller, holder, registry, owners) = read(app, request).await?;
    let has_status = |id: &&str| status.is_none_or(|status| registry.records[*id].status == status);
    let ids: Vec<&str> = registry.ids().into_iter().filter(has_status).collect();
    let mut bytes = 0;
    let fitting = ids.iter().rev().take_while(|id| {
        bytes += registry.records[**id].bytes;
        bytes <= MAX_BYTES
    });
    let omitted = ids.len() - fitting.count();
    let ids = &ids[omitted..];
    let texts = intent_texts(&*app.store, &caller.repo, ids).await?;
    let mut owned_files: BTreeMap<&str, u64> = BTreeMap::new();
    for entries in owners.values() {
        let intents: BTreeSet<&str> = entries.iter().map(|owner| owner.intent.as_str()).collect();
        for intent in intents {
            *owned_files.entry(intent).or_default() += 1;
        }
    }
    let intents: Vec<IntentView> = ids
        .iter()
        .map(|id| {
            let owned_files = owned_files.get(id).copied().unwrap_or_default();
            view(id, &registry, texts.get(*id), owned_files)
        })
        .collect();
    let has_state = requested_view == IntentsView::State;
    let locks = match has_state {
        true => Some(held_locks(live_locks(&caller.repo).run(&*app.store).await?.entries)),
        false => None,
    };
    let selected = registry.session.intent.clone();
    let context = match (&selected, requested_view) {
        (_, IntentsView::List | IntentsView::State) => None,
        (Some(id), _) if registry.records.contains_key(id) => {
            Some(selected_context(app, &caller.repo, &holder, id, &caller.branch).await?)
        }
        (_, IntentsView::Context) => Some(choice_context(app, &caller.repo, &registry).await?),
    };
    Ok(IntentsResponse {
        intents,
        is_required: Intents::of(app).config.policy == IntentPolicy::Required,
        state: registry.session.state,
        selected,
        owners: has_state.then(|| active_owners(&registry, &owners)),
        locks,
        context,
        intents_omitted: omitted as u64,
    })
}

/// Reads the intent `id`.
///
/// # Errors
/// As those of [`list_intents`], and when there is no such intent.
pub async fn read_intent(app: &App, id: &str, request: IntentsRequest<'_>) -> Result<IntentResponse, ApiError> {
    let requested_view = request.view;
    let (caller, holder, registry, owners) = read(app, request).await?;
    let id = id_in("id", id)?;
    let Some(record) = registry.records.get(id) else {
        return Err(unknown_intent(id));
    };
    let texts = intent_texts(&*app.store, &caller.repo, &[id]).await?;
    let view = view(id, &registry, texts.get(id), owned_file_count(id, &owners));
    let reason = format!("Intent {id} is {}", record.status.as_str());
    let orchestration = Orchestration::new(Action::Proceed, reason);
    let mut response = IntentResponse::new(Some(view), registry.session.state, orchestration);
    if requested_view == IntentsView::Context {
        response.context = Some(selected_context(app, &caller.repo, &holder, id, &caller.branch).await?);
    }
    Ok(response)
}

async fn read(app: &App, request: IntentsRequest<'_>) -> Result<(IntentCaller, Holder, Registry, Owners), ApiError> {
    let caller = IntentCaller::parse(request.repo_url, request.branch, None, request.caller, request.agent)?;
    let IntentCaller { repo, branch, .. } = &caller;
    let (identity, agent_id) = (caller.caller.clone(), caller.agent_id.clone());
    let query = |holder: &Holder| registry(repo, holder).and(owned_paths(repo));
    let (holder, (registry, owned)) = admit_as_holder(app, repo, Some(branch), identity, agent_id, query).await?;
    let owners = owned.owners(&*app.store, repo).await?;
    Ok((caller, holder, registry, owners))
}

/// The files that active intents own.
fn active_owners(registry: &Registry, owners: &Owners) -> BTreeMap<String, Vec<String>> {
    let is_active = |id: &str| registry.records.get(id).is_some_and(|record| record.status.is_active());
    let active = owners.iter().map(|(path, entries)| {
        let intents = entries.iter().map(|owner| owner.intent.clone());
        (path.clone(), intents.filter(|id| is_active(id)).collect::<Vec<_>>())
    });
    active.filter(|(_, intents)| !intents.is_empty()).collect()
}
