use super::keys;
use super::scripts::PROBE;
use crate::state::read::Read;
use crate::state::reply::{arguments, call};
use crate::store::{Request, Store, StoreError};

/// Writes a key that expires after a minute.
///
/// # Errors
/// When the key is not written: see [`StoreError`].
pub async fn probe(store: &dyn Store) -> Result<(), StoreError> {
    let reply = call(store, &PROBE, vec![keys::PROBE.to_owned()], arguments(["60"])).await?;
    match reply.outcome.as_str() {
        "WRITTEN" => Ok(()),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Whether the store responds at all.
pub fn ping() -> Read<()> {
    Read::new([Request::command(["PING"])], |[_]| Ok(()))
}
