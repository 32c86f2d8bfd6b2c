use serde::Serialize;

use super::scripts::ANNOUNCE_INTERFACE_CHANGES;
use crate::admission::{AdmissionTerms, RequestKind};
use crate::reply::{Counted, call};
use crate::request_keys::lock_keys;
use coord_store::{Store, StoreError};

/// Maximum number of files of one run of the script, so that it does not block the store for long.
const MAX_AT_ONCE: usize = 32;

/// A file whose interface has changed, although it was to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenInterfacePromise {
    pub path: String,
    /// The names that differ; none where the interface cannot be read.
    pub names: Vec<String>,
}

/// Arguments of `announce_interface_changes.lua` beside the terms of the admission.
#[derive(Serialize)]
struct InterfaceChangesArgs<'a> {
    changes: &'a [BrokenInterfacePromise],
}

/// Announces `broken` in batches, and adds notices to the locks on neighbors, for their holders. Returns the number of these locks.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn announce_interface_changes(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    broken: &[BrokenInterfacePromise],
) -> Result<u64, StoreError> {
    let mut notified = 0;
    for changes in broken.chunks(MAX_AT_ONCE) {
        let keys = lock_keys(terms);
        let args = terms.args(
            RequestKind::Release,
            changes.len(),
            &keys,
            &InterfaceChangesArgs { changes },
        );
        let reply = call(store, &ANNOUNCE_INTERFACE_CHANGES, keys, args).await?;
        notified += reply.object_of::<Counted>("TOLD")?.count;
    }
    Ok(notified)
}
