//! Texts that people write about teams, and other fields of several requests.

use coord_protocol::bounds::{NUMBER, TEXT_BYTES, TITLE_CHARS};
use serde::Serialize;

use coord_domain::is_plain_text;
use coord_domain::team::TaskId;
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, line};
use coord_teams_state::teams::RequestKey;

/// The title of a task that has none.
const NO_TITLE: &str = "Untitled Task";

/// The number of tasks or messages in a page if the request sets no limit.
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

/// A text that may have several lines. Empty if the request has none.
pub(super) fn long_text<'a>(field: &'static str, text: Option<&'a str>) -> Result<&'a str, ApiError> {
    let text = text.unwrap_or_default();
    let problem = if text.len() > TEXT_BYTES {
        format!("has more than {TEXT_BYTES} bytes")
    } else if !is_plain_text(text) {
        "has invisible characters".to_owned()
    } else {
        return Ok(text);
    };
    Err(ApiError::InvalidField { field, problem })
}

pub(super) fn title(text: Option<&str>) -> Result<String, ApiError> {
    match text.unwrap_or_default() {
        "" => Ok(NO_TITLE.to_owned()),
        text => line("title", text, TITLE_CHARS),
    }
}

pub(super) fn task_id(field: &'static str, text: &str) -> Result<TaskId, ApiError> {
    TaskId::parse(text).map_err(in_field(field))
}

/// The key of a request, empty if it has none. `content` distinguishes the request from others with the same key.
pub(super) fn request_key<'a>(key: Option<&'a str>, content: &'a str) -> Result<RequestKey<'a>, ApiError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if key.is_none_or(|key| (1..=64).contains(&key.len()) && key.bytes().all(is_plain)) {
        let key = key.unwrap_or_default();
        return Ok(RequestKey { key, content });
    }
    let problem = "must be 1 to 64 letters, digits, '.', '_' or '-'";
    Err(ApiError::invalid_field("request_key", problem))
}

/// The content of a request, for its key.
pub(super) fn content(request: &impl Serialize) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

/// The number of a message or a task.
pub(super) fn number(field: &'static str, number: Option<u64>) -> Result<Option<u64>, ApiError> {
    if number.is_some_and(|number| number > NUMBER) {
        return Err(ApiError::invalid_field(field, format!("must be at most {NUMBER}")));
    }
    Ok(number)
}

/// The most tasks or messages of a page.
pub(super) fn page_limit(limit: Option<usize>) -> Result<usize, ApiError> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ApiError::invalid_field("limit", format!("must be 1 to {MAX_LIMIT}")));
    }
    Ok(limit)
}
