//! Moves the seal. Sealers may race: the script moves the seal only from where it was read, so there is one chain. If a
//! process ends and leaves unsealed lines, the next one seals them.

use coord_intents::ledger::Sealer;

use coord_domain::RepoId;
use coord_intents_state::ledger::{
    AppendedLine, ChainPosition, Seal, SealMove, WAYPOINT_LINES, lines_after, move_seal, seal,
};
use coord_store::{Store, StoreError};

/// Lines that are sealed at once: 4 MiB at most.
const BATCH_LINES: usize = 512;

/// The most batches of one call. The next call seals the other lines.
const MAX_BATCHES: usize = 64;

/// Seals the lines of `repo`, and drops the oldest beyond `most_lines`. Returns the resulting seal.
///
/// # Errors
/// When the store does not respond, or its response cannot be parsed.
pub async fn seal_lines(store: &dyn Store, repo: &RepoId, most_lines: usize) -> Result<Seal, StoreError> {
    let mut current = seal(repo).run(store).await?;
    for _ in 0..MAX_BATCHES {
        let lines = lines_after(repo, current.sealed.id, BATCH_LINES).run(store).await?;
        let Some((to, waypoints)) = seal_batch(repo, current.sealed, &lines) else {
            break;
        };
        let seal_move = move_seal(store, repo, &current, to, &waypoints, most_lines).await?;
        current = seal(repo).run(store).await?;
        if seal_move == SealMove::Sealed && lines.len() < BATCH_LINES {
            break;
        }
    }
    Ok(current)
}

/// The position after `lines`, which follow `from`, and the waypoints in between; `None` if there are no lines.
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
            // No script appends such text. The chain skips it.
            Err(error) => tracing::error!(%repo, id = %line.id, %error, "the ledger has an entry that is not a line"),
        }
    }
    let point = sealer.point();
    lines
        .last()
        .map(|last| (ChainPosition { point, id: last.id }, waypoints))
}
