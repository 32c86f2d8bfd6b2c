use super::keys;
use super::scripts::PROBE;
use crate::state::reply::{arguments, call};
use crate::store::{Store, StoreError};

/// Writes a key that expires after a minute.
///
/// # Errors
/// When the key is not written: see [`StoreError`].
pub async fn probe(store: &dyn Store) -> Result<(), StoreError> {
    let bytes = store.probe_bytes().to_string();
    let reply = call(store, &PROBE, vec![keys::PROBE.to_owned()], arguments(["60", &bytes])).await?;
    match reply.outcome.as_str() {
        "WRITTEN" => Ok(()),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}
