//! The queries of requests that read the ledger.

use coord_protocol::schema::{Branch as BranchName, FilePath as FilePathName, IntentId as IntentName, RepoUrl, one_of};
use serde::Deserialize;
use utoipa::openapi::schema::Object;

use crate::operations::ledger::{CheckpointRequest, LedgerRange, LedgerRequest, MapRequest};
use coord_auth::{Caller, CallerIdentity};
use coord_domain::{Branch, FilePath, RepoId};
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, id_in, in_field, require};

/// The most lines of a response.
const MAX_LINES: usize = 500;

/// The number of lines without `limit`.
const DEFAULT_LINES: usize = 100;

/// The query for lines, as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LedgerQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// The lines after the one with this number; 0 by default, the first that is kept.
    #[param(value_type = u64, required = false, minimum = 0)]
    after: Option<String>,
    /// The newest lines, so many; not together with `after` and `limit`.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 500)]
    last: Option<String>,
    /// Most lines; 100 by default. A response has fewer where they are long.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 500)]
    limit: Option<String>,
    /// Lines of this intent alone, among some 2,000.
    #[param(value_type = IntentName, required = false)]
    intent: Option<String>,
    /// Lines that name this file alone, among some 2,000.
    #[param(value_type = FilePathName, required = false, example = "src/db.ts")]
    file: Option<String>,
}

/// The query for a checkpoint, as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CheckpointQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
}

/// The query for the map, as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct MapQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// Intents about this branch alone, and about every branch.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
    /// `markdown`: as `intent_map.md` has it.
    #[param(schema_with = format, required = false)]
    format: Option<String>,
}

fn format() -> Object {
    one_of(&["json", "markdown"], "The form of the response")
}

/// The repository, and the caller in it.
fn parse_repository(repo_url: &Option<String>, caller: Caller) -> Result<(RepoId, CallerIdentity), ApiError> {
    let repo = RepoId::parse(require("repo_url", repo_url)?).map_err(in_field("repo_url"))?;
    let caller = caller.in_repository(&repo)?;
    Ok((repo, caller))
}

fn parse_count(field: &'static str, text: &str) -> Result<usize, ApiError> {
    let count = text.parse().ok().filter(|count| (1..=MAX_LINES).contains(count));
    count.ok_or_else(|| ApiError::InvalidField {
        field,
        problem: format!("must be a whole number from 1 to {MAX_LINES}"),
    })
}

/// The most digits of a line's number. The store counts to about 9 * 10^18, and adds to the number.
const MAX_DIGITS: usize = 18;

impl LedgerQuery {
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<LedgerRequest, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let file = self.file.as_deref().map(FilePath::parse).transpose();
        let intent = self.intent.as_deref().map(|id| id_in("intent", id)).transpose()?;
        let limit = self.limit.as_deref().map(|text| parse_count("limit", text));
        let limit = limit.transpose()?;
        let last = self.last.as_deref().map(|text| parse_count("last", text));
        let last = last.transpose()?;
        let after = self.after.as_deref().map(|text| {
            let is_number = text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<u64>().ok().filter(|_| is_number);
            number.ok_or_else(|| ApiError::InvalidField {
                field: "after",
                problem: "must be a whole number: the next of an answer, or the seq of a line".to_owned(),
            })
        });
        let after = after.transpose()?;
        if last.is_some() && (after.is_some() || limit.is_some()) {
            return Err(ApiError::InvalidField {
                field: "last",
                problem: "cannot be combined with after and limit".to_owned(),
            });
        }
        Ok(LedgerRequest {
            repo,
            intent: intent.map(str::to_owned),
            file: file.map_err(in_field("file"))?,
            range: match last {
                Some(_) => LedgerRange::Newest,
                None => LedgerRange::After(after.unwrap_or(0)),
            },
            limit: last.or(limit).unwrap_or(DEFAULT_LINES),
            caller,
            caller_agent: agent_of(None, agent)?,
        })
    }
}

impl CheckpointQuery {
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<CheckpointRequest, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        Ok(CheckpointRequest {
            repo,
            caller,
            caller_agent: agent_of(None, agent)?,
        })
    }
}

impl MapQuery {
    /// The request, and whether the response is Markdown.
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<(MapRequest, bool), ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let branch = self.branch.as_deref().map(Branch::parse).transpose();
        let is_markdown = match self.format.as_deref() {
            None | Some("json") => false,
            Some("markdown") => true,
            Some(_) => {
                return Err(ApiError::InvalidField {
                    field: "format",
                    problem: "must be json or markdown".to_owned(),
                });
            }
        };
        let request = MapRequest {
            repo,
            branch: branch.map_err(in_field("branch"))?,
            caller,
            caller_agent: agent_of(None, agent)?,
        };
        Ok((request, is_markdown))
    }
}

/// The error of a query that cannot be read.
pub(super) fn unreadable() -> ApiError {
    ApiError::MalformedBody {
        field: None,
        message: "the query is not valid; send repo_url and the filters, each once".to_owned(),
    }
}
