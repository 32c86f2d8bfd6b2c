use super::gate::{Gate, GateTerms};
use super::policy::PolicyTerms;
use super::scripts::CHECK_STATUS;
use super::survey::{Survey, lookups, read_suggested, read_survey};
use crate::domain::{FilePath, LockMode};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::state::reply::{arguments, call};
use crate::state::request_keys::branch_keys;
use crate::state::teams::Membership;
use crate::store::{Store, StoreError};

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
    let mut args = entry.arguments(Kind::Read, paths.len());
    args.extend(gate.arguments());
    args.extend(arguments([intent.as_str()]));
    args.extend(policy.arguments(paths));
    args.extend(arguments([&lookups(paths)]));
    args.extend(paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    let reply = call(store, &CHECK_STATUS, branch_keys(entry), args).await?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "CHECKED" => {
            let survey = read_survey(&mut reply)?;
            let gate = Gate::read(&mut reply)?;
            let waiting = Membership::read(&mut reply)?;
            let suggested = read_suggested(&mut reply)?;
            let free = reply.texts()?;
            Ok(Survey {
                gate,
                waiting,
                suggested,
                free,
                ..survey
            })
        }
        _ => Err(reply.malformed("an unknown outcome")),
    })
}
