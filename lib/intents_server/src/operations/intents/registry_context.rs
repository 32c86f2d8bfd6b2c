//! Reads of the registry before an operation, and for its response.

use coord_protocol::{Action, ErrorCode, IntentResponse, IntentView, Orchestration};

use super::view::{owned_file_count, view};
use crate::registered::{Intents, unknown_intent};
use coord_intents_state::intents::{
    IntentRecord, Registry, Session, StoredIntent, intent_texts, owned_paths, registry,
};
use coord_server::admission::Admission;
use coord_server::error::ApiError;

/// An intent with the registry around it.
pub(super) struct RegistryContext {
    pub registry: Registry,
    pub record: IntentRecord,
    pub stored: StoredIntent,
}

impl RegistryContext {
    /// The intent `id`, for the admitted caller.
    pub async fn read(admission: &Admission<'_>, id: &str) -> Result<Self, ApiError> {
        let (store, repo) = (&*admission.app.store, admission.repo);
        let registry = registry(repo, admission.holder()).run(store).await?;
        let Some(record) = registry.records.get(id).cloned() else {
            return Err(unknown_intent(id));
        };
        let mut texts = intent_texts(store, repo, &[id]).await?;
        Ok(RegistryContext {
            registry,
            record,
            stored: texts.remove(id).unwrap_or_default(),
        })
    }
}

/// The current view of the intent `id`, and the handshake of the admitted caller. The lines that the operation has
/// appended are sealed after the response.
async fn read_current(admission: &Admission<'_>, id: &str) -> Result<(Option<IntentView>, Session), ApiError> {
    let Admission { app, repo, .. } = admission;
    Intents::of(app).seal_later(&app.store, repo);
    let query = registry(repo, admission.holder()).and(owned_paths(repo));
    let (registry, owned) = query.run(&*app.store).await?;
    let (store, ids) = (&*app.store, [id]);
    let (owners, texts) = tokio::try_join!(owned.owners(store, repo), intent_texts(store, repo, &ids))?;
    let is_known = registry.records.contains_key(id);
    let view = is_known.then(|| view(id, &registry, texts.get(id), owned_file_count(id, &owners)));
    Ok((view, registry.session))
}

/// The response after a change.
pub(super) async fn intent_response(
    admission: &Admission<'_>,
    id: &str,
    reason: String,
) -> Result<IntentResponse, ApiError> {
    let (view, session) = read_current(admission, id).await?;
    let orchestration = Orchestration::new(Action::Proceed, reason);
    Ok(IntentResponse::new(view, session.state, orchestration))
}

/// The response to a refusal by the rules.
pub(super) async fn refusal_response(
    admission: &Admission<'_>,
    id: &str,
    refusal: (ErrorCode, Action, String),
) -> Result<IntentResponse, ApiError> {
    let (view, session) = read_current(admission, id).await?;
    Ok(IntentResponse::refusal(id, view, session.state, refusal))
}
