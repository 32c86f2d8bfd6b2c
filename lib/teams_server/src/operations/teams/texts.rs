//! Texts that people write about teams, and the keys of their requests.

use coord_protocol::bounds::{NUMBER, TEXT_BYTES, TITLE_CHARS};
use serde::Serialize;

use coord_domain::is_plain_text;
use coord_domain::team::TaskId;
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, line};

/// The title of a task that has none.
const NO_TITLE: &str = "Untitled Task";

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

/// The key of a request. Empty if the request has none.
pub(super) fn request_key(key: Option<&str>) -> Result<&str, ApiError> {
    let Some(key) = key else { return Ok("") };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&key.len()) && key.bytes().all(is_plain) {
        return Ok(key);
    }
    Err(ApiError::InvalidField {
        field: "request_key",
        problem: "must be 1 to 64 letters, digits, '.', '_' or '-'".to_owned(),
    })
}

/// The content of a request, which distinguishes it from others with the same key.
pub(super) fn content(request: &impl Serialize) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

/// The number of a message or a task.
pub(super) fn number(field: &'static str, number: Option<u64>) -> Result<Option<u64>, ApiError> {
    if number.is_some_and(|number| number > NUMBER) {
        return Err(ApiError::InvalidField {
            field,
            problem: format!("must be at most {NUMBER}"),
        });
    }
    Ok(number)
}
