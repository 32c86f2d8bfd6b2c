//! Bodies of responses as JSON, with invisible characters escaped.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use coord_protocol::plain_text::escape;
use serde::Serialize;

/// A body. Escaping invisible characters does not change the meaning of the JSON.
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_string(&self.0) {
            Ok(json) => {
                let json_type = HeaderValue::from_static("application/json");
                ([(CONTENT_TYPE, json_type)], escape(&json).into_owned()).into_response()
            }
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}
