//! Resources: what HTTP shows to people, by URI. Which repository is meant stands in the query of the URI, by the names that HTTP has.

use axum::extract::Query;
use axum::http::Uri;
use coord_protocol::ErrorCode;
use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::resource_list::JSON;
use super::session::Session;
use crate::domain::{Branch, RepoId};
use crate::error::ApiError;
use crate::http::{GraphQuery, LocksQuery, read_graph_view};
use crate::operations::fields::{agent_of, in_field, required};
use crate::operations::{ActivityRequest, list_activity, list_locks};

/// Errors that JSON-RPC has no code for: the store or GitHub gives no answer, the caller asks too often or may not.
const SERVER_ERROR: rmcp::model::ErrorCode = rmcp::model::ErrorCode(-32_000);

/// The query of `coord://activity`.
#[derive(Deserialize)]
struct ActivityQuery {
    repo_url: Option<String>,
    branch: Option<String>,
}

/// What `uri` has, or the error that the client gets.
///
/// # Errors
/// When the place of the repository does not take the caller's credential.
pub(super) async fn read(session: &Session, uri: &str) -> Result<Result<ReadResourceResult, ErrorData>, ApiError> {
    match contents(session, uri).await {
        Ok(Some(text)) => {
            let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
            Ok(Ok(ReadResourceResult::new(vec![contents])))
        }
        Ok(None) => {
            let sentence = "there is no such resource; see resources/templates/list";
            Ok(Err(ErrorData::resource_not_found(
                sentence,
                Some(json!({ "uri": uri })),
            )))
        }
        Err(error @ ApiError::Unauthorized(_)) => Err(error),
        Err(error) => Ok(Err(as_json_rpc(&error, uri))),
    }
}

async fn contents(session: &Session, uri: &str) -> Result<Option<String>, ApiError> {
    let Some(uri) = uri.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("coord")) else {
        return Ok(None);
    };
    let caller = session.caller.clone();
    let path = uri.path().trim_start_matches('/');
    let json = match (uri.authority().map(|authority| authority.as_str()), path) {
        (Some("locks"), "") => {
            let request = query::<LocksQuery>(&uri)?.parse(caller, session.agent.as_deref())?;
            serde_json::to_string(&list_locks(&session.app, request).await?)
        }
        (Some("activity"), "") => {
            let query: ActivityQuery = query(&uri)?;
            let repo = RepoId::parse(required("repo_url", &query.repo_url)?).map_err(in_field("repo_url"))?;
            let branch = query.branch.as_deref().map(Branch::parse).transpose();
            let request = ActivityRequest {
                caller: caller.in_repository(&repo)?,
                repo,
                branch: branch.map_err(in_field("branch"))?,
                caller_agent: agent_of(None, session.agent.as_deref())?,
            };
            serde_json::to_string(&list_activity(&session.app, request).await?)
        }
        (Some("graph"), path) if !path.is_empty() => {
            let path = percent_decode_str(path)
                .decode_utf8()
                .map_err(|_| ApiError::InvalidField {
                    field: "path",
                    problem: "is not UTF-8".to_owned(),
                })?;
            let query = query::<GraphQuery>(&uri)?.around(path.into_owned());
            return read_graph_view(&session.app, &query, caller).await.map(Some);
        }
        _ => return Ok(None),
    };
    json.map(Some).map_err(|_| ApiError::Internal)
}

fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let Query(query) = Query::try_from_uri(uri).map_err(|_| ApiError::MalformedBody {
        field: None,
        message: "the query of the URI cannot be read; send each name once".to_owned(),
    })?;
    Ok(query)
}

/// `error` by the codes of JSON-RPC, with what HTTP would answer and the URI as its data.
fn as_json_rpc(error: &ApiError, uri: &str) -> ErrorData {
    let mut data = json!(error.for_agent());
    data["uri"] = uri.into();
    let (sentence, data) = (error.to_string(), Some(data));
    match error.code() {
        ErrorCode::InvalidField | ErrorCode::MalformedBody => ErrorData::invalid_params(sentence, data),
        ErrorCode::UnknownRepository | ErrorCode::UnknownBranch | ErrorCode::UnknownFile => {
            ErrorData::resource_not_found(sentence, data)
        }
        ErrorCode::Internal => ErrorData::internal_error(sentence, data),
        _ => ErrorData::new(SERVER_ERROR, sentence, data),
    }
}
