//! Resources: the HTTP views for people, by URI. The query of the URI names the repository, with the parameters of HTTP.

use axum::extract::Query;
use axum::http::Uri;
use coord_protocol::plain_text::clean;
use coord_protocol::{AgentError, ErrorCode};
use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::resource_list::JSON;
use coord_http::Session;
use coord_http::{ActivityQuery, GraphQuery, LocksQuery, read_graph_view};
use coord_server::error::ApiError;
use coord_server::operations::{list_activity, list_locks};

/// Errors that JSON-RPC has no code for: the store or GitHub gives no answer, the caller asks too often or may not.
const SERVER_ERROR: rmcp::model::ErrorCode = rmcp::model::ErrorCode(-32_000);

/// The content of `uri`, or the error for the client.
///
/// # Errors
/// When the place of the repository does not take the caller's credential.
pub(super) async fn read(session: &Session, uri: &str) -> Result<Result<ReadResourceResult, ErrorData>, ApiError> {
    match contents(session, uri).await {
        Ok(Some(text)) => {
            let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
            Ok(Ok(ReadResourceResult::new(vec![contents])))
        }
        Ok(None) => Ok(Err(no_such_resource(uri))),
        Err(error @ ApiError::Unauthorized(_)) => Err(error),
        Err(error) => Ok(Err(as_json_rpc(&error.for_agent(), uri))),
    }
}

/// A resource that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `coord://locks`
    Locks,
    /// `coord://activity`
    Activity,
    /// `coord://intents`
    Intents,
    /// `coord://ledger`
    Ledger,
    /// `coord://team/TEAM`, with the name of the team.
    Team(String),
    /// `coord://tasks/ID`, with the id of the task.
    Task(String),
    /// `coord://graph/PATH`, with the path of the file.
    Graph(String),
}

impl Resource {
    /// The resource that `uri` names, and the URI, whose query has the particulars. `None` where it names none.
    ///
    /// # Errors
    /// When the path of a file is not UTF-8.
    pub fn named_by(uri: &str) -> Result<Option<(Resource, Uri)>, ApiError> {
        let Some(uri) = uri.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("coord")) else {
            return Ok(None);
        };
        let path = uri.path().trim_start_matches('/');
        let resource = match (uri.authority().map(|authority| authority.as_str()), path) {
            (Some("locks"), "") => Resource::Locks,
            (Some("activity"), "") => Resource::Activity,
            (Some("intents"), "") => Resource::Intents,
            (Some("ledger"), "") => Resource::Ledger,
            (Some("team"), name) if !name.is_empty() => Resource::Team(decoded(name)?),
            (Some("tasks"), id) if !id.is_empty() => Resource::Task(decoded(id)?),
            (Some("graph"), path) if !path.is_empty() => Resource::Graph(decoded(path)?),
            _ => return Ok(None),
        };
        Ok(Some((resource, uri)))
    }
}

fn decoded(path: &str) -> Result<String, ApiError> {
    let text = percent_decode_str(path).decode_utf8();
    let text = text.map_err(|_| ApiError::InvalidField {
        field: "path",
        problem: "is not UTF-8".to_owned(),
    })?;
    Ok(text.into_owned())
}

async fn contents(session: &Session, uri: &str) -> Result<Option<String>, ApiError> {
    let Some((resource, uri)) = Resource::named_by(uri)? else {
        return Ok(None);
    };
    let caller = session.caller.clone();
    let json = match resource {
        Resource::Locks => {
            let request = query::<LocksQuery>(&uri)?.parse(caller, session.agent.as_deref())?;
            serde_json::to_value(list_locks(&session.app, request).await?)
        }
        Resource::Activity => {
            let request = query::<ActivityQuery>(&uri)?.parse(caller, session.agent.as_deref())?;
            serde_json::to_value(list_activity(&session.app, request).await?)
        }
        #[cfg(feature = "intents")]
        Resource::Intents => {
            let query = query::<coord_intents_server::IntentsQuery>(&uri)?;
            let request = query.parse(caller, session.agent.as_deref())?;
            serde_json::to_value(coord_intents_server::operations::intents::list_intents(&session.app, request).await?)
        }
        #[cfg(feature = "intents")]
        Resource::Ledger => {
            let query = query::<coord_intents_server::LedgerQuery>(&uri)?;
            let request = query.parse(caller, session.agent.as_deref())?;
            serde_json::to_value(coord_intents_server::operations::ledger::page(&session.app, request).await?)
        }
        #[cfg(feature = "teams")]
        Resource::Team(name) => {
            let sent = query::<coord_teams_server::TeamsQuery>(&uri)?;
            serde_json::to_value(super::team_calls::team(session, caller, &name, &sent.repo_url).await?)
        }
        #[cfg(feature = "teams")]
        Resource::Task(id) => {
            let sent = query::<coord_teams_server::TaskQuery>(&uri)?.caller();
            serde_json::to_value(super::team_calls::task(session, caller, &id, &sent).await?)
        }
        Resource::Graph(path) => {
            let query = query::<GraphQuery>(&uri)?.around(path);
            return read_graph_view(&session.app, &query, caller).await.map(Some);
        }
        #[cfg(not(all(feature = "intents", feature = "teams")))]
        _ => return Ok(None),
    };
    let mut json = json.map_err(|_| ApiError::Internal)?;
    clean(&mut json);
    Ok(Some(json.to_string()))
}

fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let Query(query) = Query::try_from_uri(uri).map_err(|_| ApiError::MalformedBody {
        field: None,
        message: "the query of the URI cannot be read; send each name once".to_owned(),
    })?;
    Ok(query)
}

/// The error of a URI that names nothing.
pub fn no_such_resource(uri: &str) -> ErrorData {
    let sentence = "there is no such resource; see resources/templates/list";
    ErrorData::resource_not_found(sentence, Some(json!({ "uri": uri })))
}

/// `error`, which HTTP would answer, by the codes of JSON-RPC, with the URI in its data.
pub fn as_json_rpc(error: &AgentError, uri: &str) -> ErrorData {
    let mut data = json!(error);
    data["uri"] = uri.into();
    let (sentence, data) = (error.error.message.clone(), Some(data));
    match error.error.error {
        ErrorCode::InvalidField | ErrorCode::MalformedBody => ErrorData::invalid_params(sentence, data),
        ErrorCode::UnknownRepository
        | ErrorCode::UnknownBranch
        | ErrorCode::UnknownFile
        | ErrorCode::UnknownIntent
        | ErrorCode::UnknownTeam
        | ErrorCode::UnknownTask => ErrorData::resource_not_found(sentence, data),
        ErrorCode::Internal => ErrorData::internal_error(sentence, data),
        _ => ErrorData::new(SERVER_ERROR, sentence, data),
    }
}
