//! Libraries of functions of other versions, which no process has called for a week.

use super::functions::{Words, use_key, words};
use super::round_trip::{Dialect, RoundTrip};
use super::script::{Library, is_library};
use super::{Limits, StoreError, Value};

/// Exists for a day after unused libraries were looked for.
const SWEPT: &str = "coord:libraries:swept";

/// How often unused libraries are looked for.
const SWEPT_EVERY: &str = "86400";

/// Deletes libraries of other versions that were not used for a week, once a day.
pub(super) async fn delete_unused(
    own: &Library,
    wire: &impl RoundTrip,
    dialect: &Dialect,
    limits: &Limits,
) -> Result<(), StoreError> {
    if !dialect.functions.are_used() {
        return Ok(());
    }
    let ask = async |batch: Vec<Words<'static>>| {
        let sent = tokio::time::timeout(limits.call, wire.send(&batch)).await;
        sent.map_err(|_| StoreError::Timeout(limits.call))?
            .map_err(|failure| failure.error)
    };
    let prefix = own.prefix;
    let swept = ask(vec![words(["SET", SWEPT, "", "NX", "EX", SWEPT_EVERY])]).await?;
    if !matches!(swept.first(), Some(Value::Status(_))) {
        return Ok(());
    }
    let listed = ask(vec![words(["FUNCTION", "LIST", "LIBRARYNAME", &format!("{prefix}_*")])]).await?;
    let own = own.name(dialect.flag);
    let mut others = names(listed.first());
    others.retain(|name| is_library(prefix, name) && *name != own);
    if others.is_empty() {
        return Ok(());
    }
    let used = others.iter().map(|name| words(["EXISTS", &use_key(name)]));
    let used = ask(used.collect()).await?;
    let unused = others.iter().zip(&used).filter(|(_, used)| **used == Value::Int(0));
    let delete: Vec<Words<'static>> = unused.map(|(name, _)| words(["FUNCTION", "DELETE", name])).collect();
    if !delete.is_empty() {
        tracing::info!(
            count = delete.len(),
            "libraries of earlier versions are deleted, unused for a week"
        );
        ask(delete).await?;
    }
    Ok(())
}

/// The names in a reply to FUNCTION LIST: each library is a list of names and values.
fn names(listed: Option<&Value>) -> Vec<String> {
    let libraries = listed.and_then(Value::as_array).unwrap_or_default();
    let name = |library: &Value| {
        let (fields, _) = library.as_array()?.as_chunks::<2>();
        let [_, name] = fields
            .iter()
            .find(|[field, _]| field.as_str() == Some("library_name"))?;
        name.as_str().map(str::to_owned)
    };
    libraries.iter().filter_map(name).collect()
}
