//! Reads of the registry before an operation, and for its response.

use coord_protocol::{Action, ErrorCode, IntentResponse, IntentView, Metadata, Orchestration};

use super::view::{owned_file_count, view, wire_state};
use crate::registered::{Intents, unknown_intent};
use coord_domain::{Holder, RepoId};
use coord_intents_state::intents::{
    IntentRecord, Registry, Session, StoredIntent, intent_texts, owned_paths, registry,
};
use coord_server::app::App;
use coord_server::error::ApiError;

/// An intent with the registry around it.
pub(super) struct RegistryContext {
    pub registry: Registry,
    pub record: IntentRecord,
    pub stored: StoredIntent,
}

impl RegistryContext {
    pub async fn read(app: &App, repo: &RepoId, holder: &Holder, id: &str) -> Result<Self, ApiError> {
        let registry = registry(repo, holder).run(&*app.store).await?;
        let Some(record) = registry.records.get(id).cloned() else {
            return Err(unknown_intent(id));
        };
        let mut texts = intent_texts(&*app.store, repo, &[id]).await?;
        Ok(RegistryContext {
            registry,
            record,
            stored: texts.remove(id).unwrap_or_default(),
        })
    }
}

/// The current view of the intent `id`, and the handshake of `holder`.
async fn read_current(
    app: &App,
    repo: &RepoId,
    holder: &Holder,
    id: &str,
) -> Result<(Option<IntentView>, Session), ApiError> {
    let query = registry(repo, holder).and(owned_paths(repo));
    let (registry, owned) = query.run(&*app.store).await?;
    let (store, ids) = (&*app.store, [id]);
    let (owners, texts) = tokio::try_join!(owned.owners(store, repo), intent_texts(store, repo, &ids))?;
    let cost = registry.uses.get(id).copied().unwrap_or_default();
    let record = registry.records.get(id);
    let view = record.map(|record| view(id, record, texts.get(id), cost, owned_file_count(id, &owners)));
    Ok((view, registry.session))
}

/// The response after a change.
pub(super) async fn intent_response(
    app: &App,
    repo: &RepoId,
    holder: &Holder,
    id: &str,
    reason: String,
) -> Result<IntentResponse, ApiError> {
    Intents::of(app).seal_later(&app.store, repo);
    let (view, session) = read_current(app, repo, holder, id).await?;
    let orchestration = Orchestration::new(Action::Proceed, reason);
    Ok(IntentResponse::new(view, wire_state(session.state), orchestration))
}

/// The response to a refusal by the rules.
pub(super) async fn refusal_response(
    app: &App,
    repo: &RepoId,
    holder: &Holder,
    id: &str,
    (code, action, reason): (ErrorCode, Action, String),
) -> Result<IntentResponse, ApiError> {
    Intents::of(app).seal_later(&app.store, repo);
    let (view, session) = read_current(app, repo, holder, id).await?;
    let orchestration = Orchestration::new(action, reason).with(Metadata {
        intent_id: Some(id.to_owned()),
        ..Metadata::default()
    });
    Ok(IntentResponse::refusal(
        code,
        view,
        wire_state(session.state),
        orchestration,
    ))
}
