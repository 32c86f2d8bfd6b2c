use coord_intents::ledger::State;

use super::record::StoredIntent;
use super::scripts::WRITE_INTENT;
use crate::state::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::state::reply::{arguments, call};
use crate::state::request_keys::share_keys;
use crate::store::{Store, StoreError};

/// An intent as it is to be stored.
#[derive(Clone, Copy, Debug)]
pub struct WrittenIntent<'a> {
    /// Version of the registry by which the change was decided; none for a new intent.
    pub seen: Option<&'a str>,
    /// The intent.
    pub stored: &'a StoredIntent,
    /// The digest of its scope; empty without one.
    pub digest: &'a str,
    /// Whether its holders have to know.
    pub is_for_holders: bool,
    /// What is changed, for the ledger.
    pub change: &'a str,
    /// The origin of the line.
    pub origin: &'a str,
    /// Whether a person asks.
    pub is_person: bool,
}

/// The outcome of writing an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Done; the state of the caller.
    Written(State),
    /// Another intent has this id.
    Exists,
    /// There are too many intents.
    Full,
    /// The caller's login has its share of them; nothing changed.
    LoginFull,
    /// There is no such intent.
    Unknown,
    /// The registry has changed; decide anew.
    Changed,
    /// It has begun, and is another login's.
    Person,
}

/// Writes an intent.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn write_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    written: &WrittenIntent<'_>,
) -> Result<Admitted<WriteOutcome>, StoreError> {
    let intent = &written.stored.intent;
    let json = serde_json::to_string(written.stored).map_err(|error| StoreError::Malformed(error.to_string()))?;
    let budget = intent.budget.unwrap_or_default();
    let number = |limit: Option<u64>| limit.map(|limit| limit.to_string()).unwrap_or_default();
    let keys = share_keys(terms);
    let mut args = terms.arguments(Kind::Read, 1, &keys);
    args.extend(arguments([
        &intent.id,
        written.seen.unwrap_or_default(),
        &json,
        intent.branch.as_deref().unwrap_or_default(),
        written.digest,
        &number(budget.max_turns),
        &number(budget.max_tokens),
        if written.is_for_holders { "1" } else { "0" },
        written.change,
        written.origin,
        if written.is_person { "1" } else { "0" },
        written.stored.author(),
        intent.assigned_agent.as_deref().unwrap_or_default(),
    ]));
    let reply = call(store, &WRITE_INTENT, keys, args).await?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "WRITTEN" => Ok(WriteOutcome::Written(reply.state()?)),
        "EXISTS" => Ok(WriteOutcome::Exists),
        "TOO_MANY" => match reply.text()?.as_str() {
            "REPOSITORY" => Ok(WriteOutcome::Full),
            "LOGIN" => Ok(WriteOutcome::LoginFull),
            _ => Err(reply.malformed("an unknown share")),
        },
        "UNKNOWN" => Ok(WriteOutcome::Unknown),
        "CHANGED" => Ok(WriteOutcome::Changed),
        "PERSON" => Ok(WriteOutcome::Person),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}
