//! Lines of the ledger, with their chain.

use coord_intents::ledger::Record;
use coord_protocol::LedgerResponse;

use super::newest_seal::{newest_seal, seal_status};
use crate::ledger::{SealedLine, read_lines};
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, FilePath, RepoId};
use coord_intents_state::ledger::Seal;
use coord_server::admission::admit_to_repository;
use coord_server::app::App;
use coord_server::error::ApiError;

/// Lines that are read in one round trip if there is a filter.
const WINDOW_LINES: usize = 512;

/// The most round trips that read the lines of one page.
const MAX_WINDOWS: usize = 4;

/// Bytes of lines after which a page ends.
const PAGE_BYTES: usize = 2 << 20;

#[derive(Debug)]
pub struct LedgerRequest {
    pub repo: RepoId,
    /// Only lines of this intent.
    pub intent: Option<String>,
    /// Only lines that name this file.
    pub file: Option<FilePath>,
    pub range: LedgerRange,
    /// The most lines.
    pub limit: usize,
    /// The caller in the repository.
    pub caller: CallerIdentity,
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
/// When the caller is denied, or the store does not respond.
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
    let query = seal_status(&repo);
    let (_, status) = admit_to_repository(app, &repo, None, caller, caller_agent, query).await?;
    let reader = PageReader {
        app,
        repo: &repo,
        intent: intent.as_deref(),
        file: file.as_ref().map(FilePath::as_str),
        limit,
    };
    let mut seal = newest_seal(app, &repo, status).await;
    // If lines are dropped while they are read, the new seal says where the others begin.
    const ROUNDS: usize = 3;
    for _ in 0..ROUNDS {
        let page = match range {
            LedgerRange::After(after) => reader.lines_after(&seal, after).await?,
            LedgerRange::Newest => reader.newest_lines(&seal).await?,
        };
        if let Some((lines, next)) = page {
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

/// Lines, and the line after which to continue; `None` if lines were dropped meanwhile.
type LinesPage = Option<(Vec<SealedLine>, Option<u64>)>;

struct PageReader<'a> {
    app: &'a App,
    repo: &'a RepoId,
    intent: Option<&'a str>,
    file: Option<&'a str>,
    limit: usize,
}

impl PageReader<'_> {
    fn has_filter(&self) -> bool {
        self.intent.is_some() || self.file.is_some()
    }

    /// How many lines are read in one round trip.
    fn window(&self) -> usize {
        if self.has_filter() { WINDOW_LINES } else { self.limit }
    }

    async fn read(&self, seal: &Seal, after: u64, limit: usize) -> Result<Option<Vec<SealedLine>>, ApiError> {
        Ok(read_lines(&*self.app.store, self.repo, seal, after, limit).await?)
    }

    async fn lines_after(&self, seal: &Seal, after: u64) -> Result<LinesPage, ApiError> {
        let (mut matching, mut bytes) = (Vec::new(), 0);
        let mut last = after.max(seal.base.point.seq);
        for _ in 0..MAX_WINDOWS {
            let Some(lines) = self.read(seal, last, self.window()).await? else {
                return Ok(None);
            };
            if lines.is_empty() {
                return Ok(Some((matching, None)));
            }
            for line in lines {
                last = line.seq;
                if self.matches(&line) {
                    bytes += line.text.len();
                    matching.push(line);
                }
                if matching.len() == self.limit || bytes >= PAGE_BYTES {
                    break;
                }
            }
            if matching.len() == self.limit || bytes >= PAGE_BYTES || last >= seal.sealed.point.seq {
                break;
            }
        }
        let next = Some(last).filter(|last| *last < seal.sealed.point.seq);
        Ok(Some((matching, next)))
    }

    async fn newest_lines(&self, seal: &Seal) -> Result<LinesPage, ApiError> {
        let (mut matching, mut bytes) = (Vec::new(), 0);
        let mut end = seal.sealed.point.seq;
        for _ in 0..MAX_WINDOWS {
            let first = end.saturating_sub(self.window() as u64).max(seal.base.point.seq);
            let Some(mut lines) = self.read(seal, first, (end - first) as usize).await? else {
                return Ok(None);
            };
            lines.retain(|line| line.seq <= end && self.matches(line));
            for line in lines.into_iter().rev() {
                if matching.len() < self.limit && bytes < PAGE_BYTES {
                    bytes += line.text.len();
                    matching.push(line);
                }
            }
            end = first;
            if matching.len() == self.limit || bytes >= PAGE_BYTES || end == seal.base.point.seq {
                break;
            }
        }
        matching.reverse();
        Ok(Some((matching, None)))
    }

    fn matches(&self, line: &SealedLine) -> bool {
        if !self.has_filter() {
            return true;
        }
        let Ok(record) = Record::read(line.text.as_bytes()) else {
            return false;
        };
        let has_intent = |intent: &str| record.intent_id.as_deref() == Some(intent);
        let has_file = |file: &str| record.target_files.iter().any(|target| target == file);
        self.intent.is_none_or(has_intent) && self.file.is_none_or(has_file)
    }
}
