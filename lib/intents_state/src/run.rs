use serde::Serialize;

use coord_state::admission::{AdmissionTerms, Admitted, RequestKind, decode_admission};
use coord_state::reply::{Reply, call};
use coord_state::request_keys::share_keys;
use coord_store::{Script, Store, StoreError};

/// Runs a script with the fields of `own`, for a request of this kind with this number of paths; `decode` reads what is no denial.
pub(crate) async fn run<T>(
    store: &dyn Store,
    script: &'static Script,
    terms: &AdmissionTerms<'_>,
    (kind, paths): (RequestKind, usize),
    own: &impl Serialize,
    decode: impl FnOnce(&Reply) -> Result<T, StoreError>,
) -> Result<Admitted<T>, StoreError> {
    let keys = share_keys(terms);
    let args = terms.args(kind, paths, &keys, own);
    let reply = call(store, script, keys, args).await?;
    decode_admission(&reply, decode)
}
