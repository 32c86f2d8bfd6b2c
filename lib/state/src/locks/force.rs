//! Force-released locks.

use serde::{Deserialize, Serialize};

use super::scripts::FORCE_RELEASE;
use crate::admission::{AdmissionTerms, Admitted, RequestKind, decode_admission};
use crate::reply::call;
use crate::request_keys::lock_keys;
use crate::seams::Membership;
use coord_domain::{FilePath, LockReason};
use coord_store::{Store, StoreError};

/// Locks that were force-released.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ForceReleaseResult {
    pub locks: Vec<ForceReleasedLock>,
    /// Pending messages and questions for the caller in its teams.
    pub waiting: Vec<Membership>,
}

/// A lock that was force-released.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ForceReleasedLock {
    pub file_path: String,
    /// Login of the holder.
    pub user: String,
    pub agent_id: Option<String>,
}

/// Arguments of `force_release.lua` beside the terms of the admission.
#[derive(Serialize)]
struct ForceReleaseArgs<'a> {
    message: &'a str,
    paths: &'a [FilePath],
}

/// Force-releases all locks of other holders on `paths` on the branch. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the locks may be gone.
pub async fn force_release(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    message: &LockReason,
    paths: &[FilePath],
) -> Result<Admitted<ForceReleaseResult>, StoreError> {
    let keys = lock_keys(terms);
    let force = ForceReleaseArgs {
        message: message.as_str(),
        paths,
    };
    let args = terms.args(RequestKind::Release, paths.len(), &keys, &force);
    let reply = call(store, &FORCE_RELEASE, keys, args).await?;
    decode_admission(&reply, |reply| reply.object_of("FORCED"))
}
