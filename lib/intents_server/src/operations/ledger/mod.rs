//! The ledger: lines are recorded, read with their chain, and vouched for by a checkpoint; and its records of files.

mod adoption;
mod checkpoint;
mod entries;
mod map;
mod page;
mod record;
mod verify;

pub use checkpoint::{CheckpointRequest, checkpoint};
pub use map::{MapRequest, map, markdown};
pub use page::{LedgerRange, LedgerRequest, page};
pub use record::record;
pub use verify::verify;

use crate::ledger::seal_lines;
use crate::registered::Intents;
use coord_domain::RepoId;
use coord_server::app::App;
use coord_state::Read;
use coord_state::ledger::{Seal, has_unsealed_lines, seal};

/// Reads the seal, and whether lines follow it.
fn seal_and_rest(repo: &RepoId) -> Read<(Seal, bool)> {
    seal(repo).and(has_unsealed_lines(repo))
}

/// The seal after the newest line, as far as the store lets it be moved: without that, the older seal is still true.
async fn newest_seal(app: &App, repo: &RepoId, (known, has_more): (Seal, bool)) -> Seal {
    if !has_more {
        return known;
    }
    match seal_lines(&*app.store, repo, Intents::of(app).config.ledger_max_lines).await {
        Ok(newest) => newest,
        Err(error) => {
            tracing::warn!(%repo, %error, "the ledger cannot be sealed now");
            known
        }
    }
}
