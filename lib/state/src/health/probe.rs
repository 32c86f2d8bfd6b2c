use serde::Serialize;

use super::keys;
use super::scripts::PROBE;
use crate::request_keys::Keys;
use coord_store::{Store, StoreError};

/// Arguments of `probe.lua`.
#[derive(Serialize)]
struct ProbeArgs {
    kept_for: u32,
    bytes: usize,
}

/// Writes a key that expires after a minute.
///
/// # Errors
/// When the key is not written: see [`StoreError`].
pub async fn probe(store: &dyn Store) -> Result<(), StoreError> {
    let keys = Keys::of([("probe", keys::PROBE.to_owned())]);
    let request = ProbeArgs {
        kept_for: 60,
        bytes: store.probe_bytes(),
    };
    keys.call(store, &PROBE, &request).await?.check_outcome("WRITTEN")
}
