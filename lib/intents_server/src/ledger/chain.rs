//! Sealed lines with their chain, which is rebuilt from the last known position before them.

use coord_intents::ledger::Sealer;

use coord_domain::RepoId;
use coord_intents_state::ledger::{AppendedLine, ChainPosition, Seal, lines_after, seal};
use coord_store::{Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedLine {
    pub seq: u64,
    /// Its text, without a newline.
    pub text: String,
}

/// Reads at most `limit` sealed lines of `repo` after the line `after`, which is not before the base of `known_seal`.
/// `None` if lines were dropped meanwhile: then read the seal again. One round trip.
///
/// # Errors
/// When the store does not respond, or its response cannot be parsed.
pub async fn read_lines(
    store: &dyn Store,
    repo: &RepoId,
    known_seal: &Seal,
    after: u64,
    limit: usize,
) -> Result<Option<Vec<SealedLine>>, StoreError> {
    if limit == 0 {
        // For a count of 0, the store does not return a list if there are lines.
        return Ok(Some(Vec::new()));
    }
    let from = known_seal.position_before(after);
    let skipped = usize::try_from(after.saturating_sub(from.point.seq)).unwrap_or(usize::MAX);
    // The seal is read after the lines. If its base is still before them, none of them was dropped.
    let query = lines_after(repo, from.id, limit.saturating_add(skipped)).and(seal(repo));
    let (appended, current_seal) = query.run(store).await?;
    if current_seal.base.point.seq > from.point.seq {
        return Ok(None);
    }
    let (mut lines, is_whole) = chain_lines(known_seal, from, &appended);
    if !is_whole {
        tracing::error!(%repo, after, "lines of the ledger are not those that were sealed");
    }
    lines.retain(|line| line.seq > after);
    Ok(Some(lines))
}

/// Chains the lines `appended`, which follow `from`, and says whether the chain passes through all known positions. It
/// restarts at each of them, so that lines that were changed in the store do not lead to the next one.
fn chain_lines(seal: &Seal, from: ChainPosition, appended: &[AppendedLine]) -> (Vec<SealedLine>, bool) {
    let mut sealer = Sealer::after(from.point);
    let mut positions = seal.positions_after(from).peekable();
    let (mut lines, mut is_whole) = (Vec::new(), true);
    for line in appended.iter().take_while(|line| line.id <= seal.sealed.id) {
        while let Some(passed) = positions.next_if(|position| position.id < line.id) {
            is_whole &= sealer.point() == passed.point;
            sealer = Sealer::after(passed.point);
        }
        let mut text = Vec::new();
        // Text that no script has appended is not a line. Sealing has skipped it, too.
        let Ok(point) = sealer.append(&mut text, &line.text) else {
            continue;
        };
        text.pop();
        if let Some(reached) = positions.peek().filter(|position| position.id == line.id) {
            is_whole &= reached.point == point;
        }
        lines.push(SealedLine {
            seq: point.seq,
            text: String::from_utf8(text).unwrap_or_default(),
        });
    }
    (lines, is_whole)
}
