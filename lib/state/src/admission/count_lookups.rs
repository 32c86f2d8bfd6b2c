use serde::Serialize;

use super::admit::{Admitted, decode_admission};
use super::scripts::COUNT_LOOKUPS;
use super::terms::{AdmissionTerms, RequestKind};
use crate::reply::call;
use coord_store::{Store, StoreError};

/// A lookup at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Lookup {
    /// Commits, their trees and their contents.
    Commits,
    /// The head of a branch that the store does not have.
    Branch,
}

/// Arguments of `count_lookups.lua` beside the terms of the admission.
#[derive(Serialize)]
struct CountLookupsArgs {
    lookup: Lookup,
    amount: u32,
    spared: u32,
}

/// Counts `amount` further lookups for a request that was admitted on `terms`, if `spared` others remain. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn count_lookups(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    lookup: Lookup,
    (amount, spared): (u32, u32),
) -> Result<Admitted<()>, StoreError> {
    let keys = terms.keys();
    let count = CountLookupsArgs { lookup, amount, spared };
    let args = terms.args(RequestKind::Read, 1, &keys, &count);
    let reply = call(store, &COUNT_LOOKUPS, keys, args).await?;
    decode_admission(&reply, |reply| reply.check_outcome("COUNTED"))
}
