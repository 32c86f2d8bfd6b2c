//! The cause of an error of an HTTP client.

use std::error::Error;

/// The root cause of `error`: more precise than "error sending request", and without the URL.
pub fn root_cause(error: &dyn Error) -> String {
    let Some(mut cause) = error.source() else {
        return "the request failed".to_owned();
    };
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
