//! Function libraries of other versions, which no process has called for a week.

use super::functions::{Words, use_key, words};
use super::round_trip::{Dialect, RoundTrip, within};
use super::script::{Library, is_library};
use super::{Limits, StoreError, Value};

/// The key that exists for a day after a search for unused libraries.
const SWEPT: &str = "coord:libraries:swept";

/// Seconds between two searches for unused libraries.
const SWEPT_EVERY: &str = "86400";

/// Deletes libraries of other versions that were not used for a week, at most once a day.
pub(super) async fn delete_unused(
    own: &Library,
    wire: &impl RoundTrip,
    dialect: &Dialect,
    limits: &Limits,
) -> Result<(), StoreError> {
    if !dialect.functions.are_used() {
        return Ok(());
    }
    let send = async |batch: Vec<Words<'static>>| {
        let outcome = within(limits.call, wire.send(&batch)).await;
        outcome.map_err(StoreError::from)
    };
    let prefix = own.prefix;
    let replies = send(vec![words(["SET", SWEPT, "", "NX", "EX", SWEPT_EVERY])]).await?;
    if !matches!(replies.first(), Some(Value::Status(_))) {
        return Ok(());
    }
    let replies = send(vec![words(["FUNCTION", "LIST", "LIBRARYNAME", &format!("{prefix}_*")])]).await?;
    let own_name = own.name(dialect.flag);
    let mut other_names = library_names(replies.first());
    other_names.retain(|name| is_library(prefix, name) && *name != own_name);
    if other_names.is_empty() {
        return Ok(());
    }
    let checks = other_names.iter().map(|name| words(["EXISTS", &use_key(name)]));
    let in_use = send(checks.collect()).await?;
    let unused = other_names.iter().zip(&in_use);
    let unused = unused.filter(|(_, in_use)| **in_use == Value::Int(0));
    let deletions: Vec<Words<'static>> = unused.map(|(name, _)| words(["FUNCTION", "DELETE", name])).collect();
    if !deletions.is_empty() {
        tracing::info!(
            count = deletions.len(),
            "deleting function libraries that were unused for a week"
        );
        send(deletions).await?;
    }
    Ok(())
}

/// The names in the reply to FUNCTION LIST, in which each library is a list of fields and values.
fn library_names(reply: Option<&Value>) -> Vec<String> {
    let libraries = reply.and_then(Value::as_array).unwrap_or_default();
    let name = |library: &Value| {
        let mut fields = library.as_pairs()?.iter();
        let [_, name] = fields.find(|[field, _]| field.as_str() == Some("library_name"))?;
        name.as_str().map(str::to_owned)
    };
    libraries.iter().filter_map(name).collect()
}
