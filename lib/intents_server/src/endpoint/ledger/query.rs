//! The queries of requests that read the ledger.

use axum::extract::rejection::QueryRejection;
use coord_protocol::schema::{Branch as BranchName, FilePath as FilePathName, IntentId as IntentName, RepoUrl, one_of};
use serde::Deserialize;
use utoipa::openapi::schema::Object;

use crate::operations::ledger::{LedgerRange, LedgerRequest, MapRequest};
use coord_auth::Caller;
use coord_domain::{Branch, FilePath};
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, id_in, parse_count, parse_optional, parse_repository};

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
    pub(super) repo_url: Option<String>,
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

/// The most digits of a line's number. The store counts to about 9 * 10^18, and adds to the number.
const MAX_DIGITS: usize = 18;

impl LedgerQuery {
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<LedgerRequest, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let intent = self.intent.as_deref().map(|id| id_in("intent", id)).transpose()?;
        let count = |field, text: &Option<String>| {
            let count = text.as_deref().map(|text| parse_count(field, text, MAX_LINES));
            count.transpose()
        };
        let limit = count("limit", &self.limit)?;
        let last = count("last", &self.last)?;
        let after = self.after.as_deref().map(|text| {
            let is_number = text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<u64>().ok().filter(|_| is_number);
            let problem = "must be a whole number: the next of an answer, or the seq of a line";
            number.ok_or_else(|| ApiError::invalid_field("after", problem))
        });
        let after = after.transpose()?;
        if last.is_some() && (after.is_some() || limit.is_some()) {
            return Err(ApiError::invalid_field(
                "last",
                "cannot be combined with after and limit",
            ));
        }
        Ok(LedgerRequest {
            repo,
            intent: intent.map(str::to_owned),
            file: parse_optional("file", self.file.as_deref(), FilePath::parse)?,
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

impl MapQuery {
    /// The request, and whether the response is Markdown.
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<(MapRequest, bool), ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let is_markdown = match self.format.as_deref() {
            None | Some("json") => false,
            Some("markdown") => true,
            Some(_) => return Err(ApiError::invalid_field("format", "must be json or markdown")),
        };
        let request = MapRequest {
            repo,
            branch: parse_optional("branch", self.branch.as_deref(), Branch::parse)?,
            caller,
            caller_agent: agent_of(None, agent)?,
        };
        Ok((request, is_markdown))
    }
}

/// The error of a query that cannot be read.
pub(super) fn unreadable(_: QueryRejection) -> ApiError {
    ApiError::malformed("the query is not valid; send repo_url and the filters, each once")
}
