//! Reads the query of a resource's URI, and writes the content of the resource.

use axum::extract::Query;
use axum::http::Uri;
use coord_protocol::plain_text::clean;
use serde::Serialize;
use serde::de::DeserializeOwned;

use coord_server::error::ApiError;

/// An HTTP response as the content of a resource.
///
/// # Errors
/// When JSON cannot represent it.
pub fn as_json(answer: &impl Serialize) -> Result<String, ApiError> {
    let mut json = serde_json::to_value(answer).map_err(|_| ApiError::Internal)?;
    clean(&mut json);
    Ok(json.to_string())
}

/// The query of `uri`.
///
/// # Errors
/// When it cannot be read.
pub fn parse_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    match Query::try_from_uri(uri) {
        Ok(Query(query)) => Ok(query),
        Err(_) => Err(ApiError::malformed(
            "the query of the URI cannot be read; send each name once",
        )),
    }
}
