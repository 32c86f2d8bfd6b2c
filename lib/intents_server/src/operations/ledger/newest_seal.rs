//! The seal after the newest line.

use crate::ledger::seal_lines;
use crate::registered::Intents;
use coord_domain::RepoId;
use coord_intents_state::ledger::{Seal, has_unsealed_lines, seal};
use coord_server::app::App;
use coord_state::Read;

/// Reads the seal, and whether lines follow it.
pub(super) fn seal_status(repo: &RepoId) -> Read<(Seal, bool)> {
    seal(repo).and(has_unsealed_lines(repo))
}

/// The seal after the newest line. If the seal cannot be moved, `current` is still valid.
pub(super) async fn newest_seal(app: &App, repo: &RepoId, (current, has_more): (Seal, bool)) -> Seal {
    if !has_more {
        return current;
    }
    match seal_lines(&*app.store, repo, Intents::of(app).config.ledger_max_lines).await {
        Ok(newest) => newest,
        Err(error) => {
            tracing::warn!(%repo, %error, "the ledger cannot be sealed now");
            current
        }
    }
}
