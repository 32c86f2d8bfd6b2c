use super::scripts::TELL_INTERFACES;
use crate::state::admission::{AdmissionTerms, Kind};
use crate::state::reply::call;
use crate::state::request_keys::lock_keys;
use crate::store::{Store, StoreError};

/// A file whose interface has changed, although it was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPromise {
    /// The file.
    pub path: String,
    /// The names that differ; none where the interface cannot be read.
    pub names: Vec<String>,
}

/// Announces `broken`, and leaves it with the locks on neighbors for their holders. Returns the number of these locks.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn tell_interfaces(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    broken: &[BrokenPromise],
) -> Result<u64, StoreError> {
    let mut args = terms.arguments(Kind::Release, broken.len());
    for promise in broken {
        args.push(promise.path.as_bytes().to_vec());
        args.push(promise.names.join("\n").into_bytes());
    }
    let mut reply = call(store, &TELL_INTERFACES, lock_keys(terms), args).await?;
    match reply.outcome.as_str() {
        "TOLD" => Ok(reply.number()?.unsigned_abs()),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}
