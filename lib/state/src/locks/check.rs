use serde::Serialize;

use super::gate::{GateTerms, SentGate};
use super::policy::{PolicyTerms, SentPolicy};
use super::scripts::CHECK_STATUS;
use super::survey::{Survey, lookups, read_survey};
use crate::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::reply::call;
use crate::request_keys::{check_keys, with_what_is_needed};
use coord_domain::{FilePath, LockMode};
use coord_store::{Store, StoreError};

/// What `check_status.lua` reads beside the terms of the admission.
#[derive(Serialize)]
struct Check<'a> {
    wanted: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<SentGate<'a>>,
    policy: SentPolicy<'a>,
    lookups: String,
    paths: Vec<&'a str>,
}

/// What stands in the way of `intent`, and what intents say of it. One round trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn check_status(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    paths: &[FilePath],
    intent: LockMode,
    policy: &PolicyTerms,
    gate: &GateTerms<'_>,
) -> Result<Admitted<Survey>, StoreError> {
    let ask = |entry: AdmissionTerms<'_>, everything: bool| {
        let keys = check_keys(&entry, everything);
        let check = Check {
            wanted: intent.as_str(),
            gate: everything.then(|| gate.sent()),
            policy: policy.sent(paths, 0),
            lookups: lookups(paths),
            paths: paths.iter().map(FilePath::as_str).collect(),
        };
        let args = entry.request(Kind::Read, paths.len(), &keys, &check);
        call(store, &CHECK_STATUS, keys, args)
    };
    let reply = with_what_is_needed(entry, gate.is_needed(), ask).await?;
    admitted(reply, |reply| match reply.outcome.as_str() {
        "CHECKED" => {
            let survey = read_survey(&reply)?;
            survey.gate.learn(entry.uses);
            Ok(survey)
        }
        _ => Err(reply.malformed("an unknown outcome")),
    })
}
