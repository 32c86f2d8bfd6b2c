//! Lines of the ledger, with their chain.

use coord_intents::ledger::Record;
use coord_protocol::LedgerResponse;

use super::newest_seal::{newest_seal, seal_and_rest};
use crate::ledger::{SealedLine, read_lines};
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, FilePath, RepoId};
use coord_intents_state::ledger::Seal;
use coord_server::admission::admit_to_repository;
use coord_server::app::App;
use coord_server::error::ApiError;

/// Lines that are looked at in one round trip, where not all of them are wanted.
const WINDOW_LINES: usize = 512;

/// Round trips of one request for that.
const MOST_WINDOWS: usize = 4;

/// Bytes of lines after which a page ends.
const PAGE_BYTES: usize = 2 << 20;

/// Which lines are wanted.
#[derive(Debug)]
pub struct LedgerRequest {
    pub repo: RepoId,
    /// Of this intent alone.
    pub intent: Option<String>,
    /// That name this file alone.
    pub file: Option<FilePath>,
    /// Which part of the ledger.
    pub range: LedgerRange,
    /// How many at most.
    pub limit: usize,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// Which agent of the caller's asks.
    pub caller_agent: Option<AgentId>,
}

/// A part of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerRange {
    /// The lines after this one.
    After(u64),
    Newest,
}

/// The lines that `request` asks for, the oldest first.
///
/// # Errors
/// When the caller is denied, or the store gives no answer.
pub async fn page(app: &App, request: LedgerRequest) -> Result<LedgerResponse, ApiError> {
    let LedgerRequest {
        repo,
        intent,
        file,
        range,
        limit,
        caller,
        caller_agent,
    } = request;
    let read = seal_and_rest(&repo);
    let (_, found) = admit_to_repository(app, &repo, None, caller, caller_agent, read).await?;
    let reading = PageRead {
        app,
        repo: &repo,
        intent: intent.as_deref(),
        file: file.as_ref().map(FilePath::as_str),
        limit,
    };
    let mut seal = newest_seal(app, &repo, found).await;
    // Lines may be dropped while they are read; then the seal shows where the rest begins.
    const ROUNDS: usize = 3;
    for _ in 0..ROUNDS {
        let found = match range {
            LedgerRange::After(after) => reading.forward(&seal, after).await?,
            LedgerRange::Newest => reading.newest(&seal).await?,
        };
        if let Some((lines, next)) = found {
            return Ok(LedgerResponse {
                lines: lines.into_iter().map(|line| line.text).collect(),
                next,
                sealed: seal.sealed.point.to_string(),
                base: seal.base.point.to_string(),
            });
        }
        seal = coord_intents_state::ledger::seal(&repo).run(&*app.store).await?;
    }
    Err(ApiError::StoreUnavailable(
        "the oldest lines are being dropped; try again soon".to_owned(),
    ))
}

/// Lines, and after which line to go on; none where some were dropped meanwhile.
type LinesPage = Option<(Vec<SealedLine>, Option<u64>)>;

struct PageRead<'a> {
    app: &'a App,
    repo: &'a RepoId,
    intent: Option<&'a str>,
    file: Option<&'a str>,
    limit: usize,
}

impl PageRead<'_> {
    /// Lines that are looked at in one round trip.
    fn window(&self) -> usize {
        if self.intent.is_none() && self.file.is_none() {
            self.limit
        } else {
            WINDOW_LINES
        }
    }

    async fn read(&self, seal: &Seal, after: u64, most: usize) -> Result<Option<Vec<SealedLine>>, ApiError> {
        Ok(read_lines(&*self.app.store, self.repo, seal, after, most).await?)
    }

    async fn forward(&self, seal: &Seal, after: u64) -> Result<LinesPage, ApiError> {
        let (mut wanted, mut bytes) = (Vec::new(), 0);
        let mut last = after.max(seal.base.point.seq);
        for _ in 0..MOST_WINDOWS {
            let Some(lines) = self.read(seal, last, self.window()).await? else {
                return Ok(None);
            };
            if lines.is_empty() {
                return Ok(Some((wanted, None)));
            }
            for line in lines {
                last = line.seq;
                if self.wants(&line) {
                    bytes += line.text.len();
                    wanted.push(line);
                }
                if wanted.len() == self.limit || bytes >= PAGE_BYTES {
                    break;
                }
            }
            if wanted.len() == self.limit || bytes >= PAGE_BYTES || last >= seal.sealed.point.seq {
                break;
            }
        }
        let next = Some(last).filter(|last| *last < seal.sealed.point.seq);
        Ok(Some((wanted, next)))
    }

    async fn newest(&self, seal: &Seal) -> Result<LinesPage, ApiError> {
        let (mut wanted, mut bytes) = (Vec::new(), 0);
        let mut end = seal.sealed.point.seq;
        for _ in 0..MOST_WINDOWS {
            let first = end.saturating_sub(self.window() as u64).max(seal.base.point.seq);
            let Some(mut lines) = self.read(seal, first, (end - first) as usize).await? else {
                return Ok(None);
            };
            lines.retain(|line| line.seq <= end && self.wants(line));
            for line in lines.into_iter().rev() {
                if wanted.len() < self.limit && bytes < PAGE_BYTES {
                    bytes += line.text.len();
                    wanted.push(line);
                }
            }
            end = first;
            if wanted.len() == self.limit || bytes >= PAGE_BYTES || end == seal.base.point.seq {
                break;
            }
        }
        wanted.reverse();
        Ok(Some((wanted, None)))
    }

    fn wants(&self, line: &SealedLine) -> bool {
        if self.intent.is_none() && self.file.is_none() {
            return true;
        }
        let Ok(record) = Record::read(line.text.as_bytes()) else {
            return false;
        };
        let is_of_intent = |intent: &str| record.intent_id.as_deref() == Some(intent);
        let names = |file: &str| record.target_files.iter().any(|named| named == file);
        self.intent.is_none_or(is_of_intent) && self.file.is_none_or(names)
    }
}
