use coord_intents::intent::Status;
use coord_intents::ledger::State;

use super::scripts::USE_INTENT;
use crate::state::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::state::reply::{Reply, arguments, call};
use crate::state::request_keys::share_keys;
use crate::store::{Store, StoreError};

/// What the work on an intent costs.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a> {
    /// The intent.
    pub id: &'a str,
    /// The name of a tool, and the digest of name and input: a call that may change something.
    pub call: Option<(&'a str, &'a str)>,
    /// Identical calls in a row that are let in; 0 for any number.
    pub breaker_calls: u32,
    /// A session, and the running total of its tokens.
    pub tokens: Option<(&'a str, u64)>,
    /// Origin of lines of the ledger.
    pub origin: &'a str,
}

/// Why a call is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The budget is spent.
    Budget,
    /// The same call was made too often in a row.
    Breaker,
}

/// The outcome of counting costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseOutcome {
    /// Counted.
    Used {
        /// The state of the caller.
        state: State,
        /// Tool calls that were let in.
        turns: u64,
        /// Tokens, as agents report them.
        tokens: u64,
        /// The most tool calls.
        max_turns: Option<u64>,
        /// The most tokens.
        max_tokens: Option<u64>,
    },
    /// There is no such intent.
    Unknown,
    /// The call is not let in.
    NotActive(State, Status),
    /// The call is not let in, and the intent is blocked now, with the reason.
    Stopped(State, Limit, String),
}

/// Counts costs. Tokens count even if a call is not let in.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn use_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    usage: &Usage<'_>,
) -> Result<Admitted<UseOutcome>, StoreError> {
    let (name, digest) = usage.call.unwrap_or_default();
    let total = usage.tokens.map(|(_, total)| total.to_string());
    let keys = share_keys(terms);
    let mut args = terms.arguments(Kind::Read, 1, &keys);
    args.extend(arguments([
        usage.id,
        name,
        digest,
        &usage.breaker_calls.to_string(),
        usage.tokens.unwrap_or_default().0,
        total.as_deref().unwrap_or_default(),
        usage.origin,
    ]));
    let reply = call(store, &USE_INTENT, keys, args).await?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "USED" => Ok(UseOutcome::Used {
            state: reply.state()?,
            turns: reply.number()?.unsigned_abs(),
            tokens: reply.number()?.unsigned_abs(),
            max_turns: reply.optional_number()?,
            max_tokens: reply.optional_number()?,
        }),
        "UNKNOWN" => Ok(UseOutcome::Unknown),
        "NOT_ACTIVE" => Ok(UseOutcome::NotActive(reply.state()?, reply.status()?)),
        "STOPPED" => Ok(UseOutcome::Stopped(reply.state()?, reply.limit()?, reply.text()?)),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}

impl Reply {
    /// Which limit was met.
    pub(in crate::state) fn limit(&mut self) -> Result<Limit, StoreError> {
        match self.text()?.as_str() {
            "BUDGET_EXHAUSTED" => Ok(Limit::Budget),
            "CIRCUIT_OPEN" => Ok(Limit::Breaker),
            _ => Err(self.malformed("an unknown limit")),
        }
    }
}
