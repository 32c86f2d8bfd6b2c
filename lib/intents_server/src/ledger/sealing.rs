//! Moves the seal. Sealers may race: the script moves the seal only from where it was read, so that there is one chain. If a
//! process ends with unsealed lines, the next one seals them.

use coord_intents::ledger::Sealer;

use coord_domain::RepoId;
use coord_intents_state::ledger::{
    AppendedLine, ChainPosition, Seal, SealMove, WAYPOINT_LINES, lines_after, move_seal, seal,
};
use coord_store::{Store, StoreError};

/// Lines that are sealed at once: 4 MiB at most.
const BATCH_LINES: usize = 512;

/// Batches of one call; the rest is sealed by the next.
const MOST_BATCHES: usize = 64;

/// Seals the lines of `repo`, and drops the oldest beyond `most_lines`. Returns the seal as it is then.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn seal_lines(store: &dyn Store, repo: &RepoId, most_lines: usize) -> Result<Seal, StoreError> {
    let mut known = seal(repo).run(store).await?;
    for _ in 0..MOST_BATCHES {
        let lines = lines_after(repo, known.sealed.id, BATCH_LINES).run(store).await?;
        let Some((to, waypoints)) = seal_batch(repo, known.sealed, &lines) else {
            break;
        };
        let moved = move_seal(store, repo, &known, to, &waypoints, most_lines).await?;
        known = seal(repo).run(store).await?;
        if moved == SealMove::Sealed && lines.len() < BATCH_LINES {
            break;
        }
    }
    Ok(known)
}

/// The place after `lines`, which follow `from`, and the waypoints on the way; none where there are no lines.
fn seal_batch(
    repo: &RepoId,
    from: ChainPosition,
    lines: &[AppendedLine],
) -> Option<(ChainPosition, Vec<ChainPosition>)> {
    let mut sealer = Sealer::after(from.point);
    let mut waypoints = Vec::new();
    let mut bytes = Vec::new();
    for line in lines {
        bytes.clear();
        match sealer.append(&mut bytes, &line.text) {
            Ok(point) if point.seq.is_multiple_of(WAYPOINT_LINES) => {
                waypoints.push(ChainPosition { point, id: line.id });
            }
            Ok(_) => {}
            // No script appends such a line; the chain goes past it.
            Err(error) => tracing::error!(%repo, id = %line.id, %error, "the ledger has something else than a line"),
        }
    }
    let point = sealer.point();
    lines
        .last()
        .map(|last| (ChainPosition { point, id: last.id }, waypoints))
}
