//! Values that are not valid, and the sentence about each.

/// The problem with a value, as one sentence with the fix. It may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

/// At most the first 80 characters of `text`, escaped, to quote a caller's text in an error.
pub(crate) fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    format!("'{short}'")
}
