use serde::Serialize;

use super::gate::{GateArgs, GateTerms};
use super::policy::{PolicyArgs, PolicyTerms};
use super::scripts::CHECK_STATUS;
use super::survey::{Survey, lookups, read_survey};
use crate::admission::{AdmissionTerms, Admitted, RequestKind, decode_admission};
use crate::reply::call;
use crate::request_keys::{check_keys, run_with_required_keys};
use coord_domain::{FilePath, LockMode};
use coord_store::{Store, StoreError};

/// Arguments of `check_status.lua` beside the terms of the admission.
#[derive(Serialize)]
struct CheckStatusArgs<'a> {
    wanted: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<GateArgs<'a>>,
    policy: PolicyArgs<'a>,
    lookups: String,
    paths: &'a [FilePath],
}

/// The locks that block reading or writing `paths`, and the rules of intents for that. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn check_status(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    paths: &[FilePath],
    mode: LockMode,
    policy: &PolicyTerms,
    gate: &GateTerms<'_>,
) -> Result<Admitted<Survey>, StoreError> {
    let check_once = |terms: AdmissionTerms<'_>, uses_all: bool| {
        let keys = check_keys(&terms, uses_all);
        let check = CheckStatusArgs {
            wanted: mode.as_str(),
            gate: uses_all.then(|| gate.to_args()),
            policy: policy.to_args(paths, 0),
            lookups: lookups(paths),
            paths,
        };
        let args = terms.args(RequestKind::Read, paths.len(), &keys, &check);
        call(store, &CHECK_STATUS, keys, args)
    };
    let reply = run_with_required_keys(terms, gate.is_needed(), check_once).await?;
    decode_admission(&reply, |reply| {
        reply.check_outcome("CHECKED")?;
        let survey = read_survey(reply)?;
        survey.gate.record_uses(terms.uses);
        Ok(survey)
    })
}
