//! The seal: where the chain of the kept lines begins, how far it goes, and the waypoints between.

use std::collections::BTreeMap;
use std::fmt;

use coord_intents::ledger::Point;
use serde::Serialize;

use super::keys;
use super::lines::newest_lines;
use super::scripts::SEAL_LEDGER;
use coord_domain::{EventId, RepoId};
use coord_state::events;
use coord_state::read::Read;
use coord_state::request_keys::Keys;
use coord_store::{Request, Store, StoreError, Value};

/// Number of lines from one waypoint to the next.
pub const WAYPOINT_LINES: u64 = 256;

/// A position in the chain, after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    pub point: Point,
    /// The id of the line in the stream.
    pub id: EventId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The position after which the kept lines begin.
    pub base: ChainPosition,
    /// The position after the newest sealed line.
    pub sealed: ChainPosition,
    /// Positions between, by the number of the line.
    waypoints: BTreeMap<u64, ChainPosition>,
    is_stored: bool,
}

impl ChainPosition {
    /// The position before the first line of `repo`.
    pub fn start(repo: &RepoId) -> Self {
        ChainPosition {
            point: Point::start(repo.as_str()),
            id: EventId::START,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (point, id) = text.split_once(' ')?;
        Some(ChainPosition {
            point: point.parse().ok()?,
            id: EventId::parse(id).ok()?,
        })
    }
}

impl fmt::Display for ChainPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.point, self.id)
    }
}

impl Seal {
    /// The last known position that is not after the line `seq`: the chain of the lines that follow is computed from it.
    pub fn position_before(&self, seq: u64) -> ChainPosition {
        let waypoint = self.waypoints.range(..=seq).next_back().map(|(_, waypoint)| *waypoint);
        [Some(self.base), waypoint, Some(self.sealed)]
            .into_iter()
            .flatten()
            .filter(|position| position.point.seq <= seq)
            .max_by_key(|position| position.point.seq)
            .unwrap_or(self.base)
    }

    /// The known positions after `position`, in order, the sealed one last.
    pub fn positions_after(&self, position: ChainPosition) -> impl Iterator<Item = ChainPosition> {
        let after = self.waypoints.range(position.point.seq + 1..);
        let waypoints = after.map(|(_, waypoint)| *waypoint);
        let waypoints = waypoints.filter(move |waypoint| waypoint.point.seq < self.sealed.point.seq);
        let sealed = Some(self.sealed).filter(|sealed| sealed.point.seq > position.point.seq);
        waypoints.chain(sealed)
    }

    /// The sealed position as it is stored, if there is one.
    fn stored(&self) -> Option<String> {
        self.is_stored.then(|| self.sealed.to_string())
    }

    fn decode(repo: &RepoId, fields: &Value) -> Result<Self, StoreError> {
        let malformed = || StoreError::Malformed("the seal of a ledger".to_owned());
        let start = ChainPosition::start(repo);
        let mut seal = Seal {
            base: start,
            sealed: start,
            waypoints: BTreeMap::new(),
            is_stored: false,
        };
        for pair in fields.as_array().ok_or_else(malformed)?.chunks(2) {
            let [name, text] = pair else {
                return Err(malformed());
            };
            let position = text.as_str().and_then(ChainPosition::parse).ok_or_else(malformed)?;
            match name.as_str() {
                Some("base") => seal.base = position,
                Some("sealed") => {
                    seal.sealed = position;
                    seal.is_stored = true;
                }
                _ => {
                    seal.waypoints.insert(position.point.seq, position);
                }
            }
        }
        Ok(seal)
    }
}

pub fn seal(repo: &RepoId) -> Read<Seal> {
    let request = Request::command(["HGETALL", &keys::seal(repo)]);
    let repo = repo.clone();
    Read::new([request], move |[fields]| Seal::decode(&repo, &fields))
}

/// Reads whether `repo` has lines that are not sealed.
pub fn has_unsealed_lines(repo: &RepoId) -> Read<bool> {
    let newest = newest_lines(repo, 1);
    let sealed = Read::new([Request::command(["HGET", &keys::seal(repo), "sealed"])], |[text]| {
        Ok(text.as_str().and_then(ChainPosition::parse).map(|sealed| sealed.id))
    });
    let pair = newest.and(sealed);
    pair.map(|(newest, sealed)| newest.first().is_some_and(|line| Some(line.id) != sealed))
}

/// Whether the seal was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealMove {
    Sealed,
    /// Another process has moved it since it was read; nothing changed.
    Moved,
}

/// Arguments of `seal_ledger.lua`.
#[derive(Serialize)]
struct SealLedgerArgs {
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<String>,
    sealed: String,
    most_lines: usize,
    between: u64,
    waypoints: Vec<String>,
}

/// Moves the seal of `repo`, which was read as `from`, to `to`, with the waypoints between; and drops sealed lines beyond `most_lines`,
/// up to a waypoint. If several logins append, lines of the last day stay, until there are four times as many as `most_lines`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the seal may have been moved.
pub async fn move_seal(
    store: &dyn Store,
    repo: &RepoId,
    from: &Seal,
    to: ChainPosition,
    waypoints: &[ChainPosition],
    most_lines: usize,
) -> Result<SealMove, StoreError> {
    let keys = Keys::of([
        ("seal", keys::seal(repo)),
        ("ledger", keys::ledger(repo)),
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("shares", events::keys::shares(repo)),
    ]);
    let request = SealLedgerArgs {
        read: from.stored(),
        sealed: to.to_string(),
        most_lines,
        between: WAYPOINT_LINES,
        waypoints: waypoints.iter().map(ChainPosition::to_string).collect(),
    };
    let reply = keys.call(store, &SEAL_LEDGER, &request).await?;
    match reply.outcome.as_str() {
        "SEALED" => Ok(SealMove::Sealed),
        "MOVED" => Ok(SealMove::Moved),
        _ => reply.unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> RepoId {
        RepoId::parse("https://github.com/acme/shop").unwrap()
    }

    fn after_line(seq: u64) -> ChainPosition {
        let hash = Point::start(&seq.to_string()).hash;
        ChainPosition {
            point: Point { seq, hash },
            id: EventId::parse(&format!("{seq}-1")).unwrap(),
        }
    }

    fn seal_of(positions: &[(&str, ChainPosition)]) -> Seal {
        let texts = positions
            .iter()
            .flat_map(|(name, position)| [Value::bulk(*name), Value::bulk(position.to_string())]);
        Seal::decode(&repo(), &Value::Array(texts.collect())).unwrap()
    }

    #[test]
    fn a_repository_without_a_seal_begins_at_its_start() {
        let seal = seal_of(&[]);
        assert_eq!(
            (seal.base, seal.sealed),
            (ChainPosition::start(&repo()), ChainPosition::start(&repo()))
        );
        assert_eq!(seal.stored(), None);
        assert_eq!(seal.positions_after(seal.base).count(), 0);
        assert_eq!(
            seal_of(&[("sealed", ChainPosition::start(&repo()))]).stored(),
            Some(ChainPosition::start(&repo()).to_string())
        );
    }

    #[test]
    fn the_chain_is_computed_from_the_last_known_position() {
        let seal = seal_of(&[
            ("512", after_line(512)),
            ("sealed", after_line(800)),
            ("768", after_line(768)),
            ("base", after_line(256)),
        ]);
        for (seq, from) in [
            (0, 256),
            (256, 256),
            (300, 256),
            (512, 512),
            (767, 512),
            (768, 768),
            (799, 768),
            (900, 800),
        ] {
            assert_eq!(seal.position_before(seq), after_line(from), "{seq}");
        }
        let after: Vec<ChainPosition> = seal.positions_after(after_line(512)).collect();
        assert_eq!(after, [after_line(768), after_line(800)]);
        assert_eq!(seal.stored(), Some(after_line(800).to_string()));
    }

    #[test]
    fn a_seal_that_cannot_be_read_is_an_error() {
        for wrong in [
            Value::Nil,
            Value::Array(vec![Value::bulk("sealed")]),
            Value::Array(vec![Value::bulk("sealed"), Value::bulk("3")]),
            Value::Array(vec![Value::bulk("256"), Value::bulk("256:abc 1-0")]),
        ] {
            assert!(Seal::decode(&repo(), &wrong).is_err(), "{wrong:?}");
        }
    }
}
