//! Resources: the HTTP views for people, by URI. The query of the URI has the same parameters as over HTTP.

use axum::http::Uri;
use coord_protocol::{AgentError, ErrorCode};
use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use serde_json::json;

use super::resource_list::{JSON, resource_types};
use super::tool_set::{ResourceType, ToolSets};
use coord_http::Session;
use coord_server::error::ApiError;

/// Errors that JSON-RPC has no code for: the store or GitHub does not respond, or the caller is rate-limited or denied.
const SERVER_ERROR: rmcp::model::ErrorCode = rmcp::model::ErrorCode(-32_000);

/// The content of `uri`, or the error for the client.
///
/// # Errors
/// When the repository's source refuses the caller's credential.
pub(super) async fn read(
    sets: ToolSets,
    session: &Session,
    uri: &str,
) -> Result<Result<ReadResourceResult, ErrorData>, ApiError> {
    match contents(sets, session, uri).await {
        Ok(Some(text)) => {
            let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
            Ok(Ok(ReadResourceResult::new(vec![contents])))
        }
        Ok(None) => Ok(Err(no_such_resource(uri))),
        Err(error @ ApiError::Unauthorized(_)) => Err(error),
        Err(error) => Ok(Err(to_json_rpc_error(&error.for_agent(), uri))),
    }
}

/// A resource that a URI names.
pub struct Resource {
    pub resource_type: &'static ResourceType,
    /// Empty if resources of this type have no names.
    pub name: String,
    /// The whole URI, with the query.
    pub uri: Uri,
}

impl Resource {
    /// The resource that `uri` names, if there is one.
    ///
    /// # Errors
    /// When the path of a file is not UTF-8.
    pub fn named_by(sets: ToolSets, uri: &str) -> Result<Option<Resource>, ApiError> {
        let Some(uri) = uri.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("coord")) else {
            return Ok(None);
        };
        let name = uri.path().trim_start_matches('/');
        let kind = uri.authority().map(|authority| authority.as_str());
        let is_meant = |resource_type: &&ResourceType| {
            Some(resource_type.kind) == kind && resource_type.has_names() != name.is_empty()
        };
        let Some(resource_type) = resource_types(sets).find(is_meant) else {
            return Ok(None);
        };
        let name = percent_decode_str(name).decode_utf8();
        let name = name
            .map_err(|_| ApiError::invalid_field("path", "is not UTF-8"))?
            .into_owned();
        Ok(Some(Resource {
            resource_type,
            name,
            uri,
        }))
    }
}

async fn contents(sets: ToolSets, session: &Session, uri: &str) -> Result<Option<String>, ApiError> {
    match Resource::named_by(sets, uri)? {
        Some(Resource {
            resource_type,
            name,
            uri,
        }) => (resource_type.read)(session, name, &uri).await.map(Some),
        None => Ok(None),
    }
}

/// The error of a URI that names nothing.
pub fn no_such_resource(uri: &str) -> ErrorData {
    let sentence = "there is no such resource; see resources/templates/list";
    ErrorData::resource_not_found(sentence, Some(json!({ "uri": uri })))
}

/// The HTTP error `error` as an error of JSON-RPC, with the URI in its data.
pub fn to_json_rpc_error(error: &AgentError, uri: &str) -> ErrorData {
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
