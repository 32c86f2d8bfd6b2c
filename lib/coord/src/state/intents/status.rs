use coord_intents::intent::Status;
use coord_intents::ledger::State;

use super::scripts::MOVE_INTENT;
use crate::state::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::state::reply::{Reply, arguments, call};
use crate::state::request_keys::share_keys;
use crate::store::{Store, StoreError};

/// Whether an intent may be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criteria {
    /// All criteria are met.
    Met,
    /// Not all of them, and it is to be completed all the same.
    Forced,
    /// Not all of them.
    Unmet,
}

/// A change of the status of an intent, but for its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// The intent.
    pub id: &'a str,
    /// Its new status.
    pub status: Status,
    /// Whether a person asks.
    pub is_person: bool,
    /// Whether it may be completed.
    pub criteria: Criteria,
    /// Version of the registry by which that was found out.
    pub seen: &'a str,
    /// Why, or empty.
    pub reason: &'a str,
    /// Origin of the line of the ledger.
    pub origin: &'a str,
}

/// The outcome of a change of status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// Done; the state of the caller.
    Moved(State),
    /// There is no such intent.
    Unknown,
    /// No way leads from this status to the new one.
    NoWay(Status),
    /// Only a person may do this.
    Person(Status),
    /// Not all criteria are met.
    Criteria,
    /// The registry has changed; decide anew.
    Changed,
}

/// Changes the status of an intent.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn move_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    wanted: &Move<'_>,
) -> Result<Admitted<MoveOutcome>, StoreError> {
    let keys = share_keys(terms);
    let mut args = terms.arguments(Kind::Read, 1, &keys);
    args.extend(arguments([
        wanted.id,
        wanted.status.as_str(),
        if wanted.is_person { "1" } else { "0" },
        match wanted.criteria {
            Criteria::Met => "MET",
            Criteria::Forced => "FORCED",
            Criteria::Unmet => "UNMET",
        },
        wanted.seen,
        wanted.reason,
        wanted.origin,
    ]));
    let reply = call(store, &MOVE_INTENT, keys, args).await?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "MOVED" => Ok(MoveOutcome::Moved(reply.state()?)),
        "UNKNOWN" => Ok(MoveOutcome::Unknown),
        "NO_WAY" => Ok(MoveOutcome::NoWay(reply.status()?)),
        "PERSON" => Ok(MoveOutcome::Person(reply.status()?)),
        "CRITERIA" => Ok(MoveOutcome::Criteria),
        "CHANGED" => Ok(MoveOutcome::Changed),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}

impl Reply {
    /// The status of an intent.
    pub(in crate::state) fn status(&mut self) -> Result<Status, StoreError> {
        let text = self.text()?;
        Status::parse(&text).ok_or_else(|| self.malformed("an unknown status"))
    }

    /// The state of a holder.
    pub(in crate::state) fn state(&mut self) -> Result<State, StoreError> {
        let text = self.text()?;
        let state = State::ALL.iter().find(|state| state.as_str() == text);
        state.copied().ok_or_else(|| self.malformed("an unknown state"))
    }
}
