//! Sealed lines with their chain, made again from the last known place before them.

use coord_intents::ledger::Sealer;

use coord_domain::RepoId;
use coord_intents_state::ledger::{AppendedLine, ChainPosition, Seal, lines_after, seal};
use coord_store::{Store, StoreError};

/// A line with its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedLine {
    pub seq: u64,
    /// Its text, without a newline.
    pub text: String,
}

/// Reads at most `most` sealed lines of `repo` that follow the line `after`, which is not before the base of `known`. `None` where
/// lines were dropped meanwhile, so that the seal has to be read again. One round trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn read_lines(
    store: &dyn Store,
    repo: &RepoId,
    known: &Seal,
    after: u64,
    most: usize,
) -> Result<Option<Vec<SealedLine>>, StoreError> {
    if most == 0 {
        // The store answers a count of none with no list, once it has the first line.
        return Ok(Some(Vec::new()));
    }
    let from = known.place_before(after);
    let skipped = usize::try_from(after.saturating_sub(from.point.seq)).unwrap_or(usize::MAX);
    // The seal is read after the lines: where its base is still before them, none of them was dropped.
    let read = lines_after(repo, from.id, most.saturating_add(skipped)).and(seal(repo));
    let (appended, now) = read.run(store).await?;
    if now.base.point.seq > from.point.seq {
        return Ok(None);
    }
    let (mut lines, is_whole) = chain(known, from, &appended);
    if !is_whole {
        tracing::error!(%repo, after, "lines of the ledger are not those that were sealed");
    }
    lines.retain(|line| line.seq > after);
    Ok(Some(lines))
}

/// Makes the chain of `appended`, which follow `from`. At each known place it goes on from there, so that lines that were changed in
/// the store do not fit to the next place. The flag says whether all of them fit.
fn chain(seal: &Seal, from: ChainPosition, appended: &[AppendedLine]) -> (Vec<SealedLine>, bool) {
    let mut sealer = Sealer::after(from.point);
    let mut places = seal.places_after(from).peekable();
    let (mut lines, mut is_whole) = (Vec::new(), true);
    for line in appended.iter().take_while(|line| line.id <= seal.sealed.id) {
        while let Some(passed) = places.next_if(|place| place.id < line.id) {
            is_whole &= sealer.point() == passed.point;
            sealer = Sealer::after(passed.point);
        }
        let mut text = Vec::new();
        // Text that no script has appended is not a line: it was left out when the lines were sealed, too.
        let Ok(point) = sealer.append(&mut text, &line.text) else {
            continue;
        };
        text.pop();
        if let Some(reached) = places.peek().filter(|place| place.id == line.id) {
            is_whole &= reached.point == point;
        }
        lines.push(SealedLine {
            seq: point.seq,
            text: String::from_utf8(text).unwrap_or_default(),
        });
    }
    (lines, is_whole)
}
