use coord_intents::intent::Status;
use coord_intents::ledger::State;
use serde::{Deserialize, Serialize};

use super::scripts::USE_INTENT;
use crate::run::run;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind};
use coord_state::locks::ToolCallArgs;
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// The costs of the work on an intent.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a> {
    pub id: &'a str,
    /// A call that may change something: the name of the tool, and the digest of name and input.
    pub call: Option<(&'a str, &'a str)>,
    /// Identical calls in a row that are allowed; 0 for any number.
    pub breaker_calls: u32,
    /// A session, and the running total of its tokens.
    pub tokens: Option<(&'a str, u64)>,
    /// Origin of lines of the ledger.
    pub origin: &'a str,
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Limit {
    /// The budget is spent.
    #[serde(rename = "BUDGET_EXHAUSTED")]
    Budget,
    /// The same call was made too often in a row.
    #[serde(rename = "CIRCUIT_OPEN")]
    Breaker,
}

/// The outcome of counting costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseOutcome {
    /// The costs are counted, and the call, if any, is allowed.
    Used {
        /// The state of the caller.
        state: State,
        /// Allowed tool calls.
        turns: u64,
        /// Tokens, as agents report them.
        tokens: u64,
        /// Maximum number of tool calls.
        max_turns: Option<u64>,
        max_tokens: Option<u64>,
    },
    /// There is no such intent.
    Unknown,
    /// The call is refused, because the intent has this status.
    NotActive(State, Status),
    /// The call is refused, and the intent is now blocked for this reason.
    Stopped(State, Limit, String),
}

/// Arguments of `use_intent.lua` beside the terms of the admission.
#[derive(Serialize)]
struct UseIntentArgs<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<ToolCallArgs<'a>>,
    most_repeats: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<TokensArgs<'a>>,
    origin: &'a str,
}

#[derive(Serialize)]
struct TokensArgs<'a> {
    session: &'a str,
    total: u64,
}

#[derive(Deserialize)]
struct Used {
    state: State,
    turns: u64,
    /// A text, because the sum over sessions may have more digits than cjson writes of a number.
    tokens: String,
    max_turns: Option<u64>,
    max_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct NotActive {
    state: State,
    status: Status,
}

#[derive(Deserialize)]
struct Stopped {
    state: State,
    limit: Limit,
    reason: String,
}

/// Counts costs. Tokens count even if a call is refused.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn use_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    usage: &Usage<'_>,
) -> Result<Admitted<UseOutcome>, StoreError> {
    let request = UseIntentArgs {
        id: usage.id,
        call: usage.call.map(|(name, digest)| ToolCallArgs { name, digest }),
        most_repeats: usage.breaker_calls,
        tokens: usage.tokens.map(|(session, total)| TokensArgs { session, total }),
        origin: usage.origin,
    };
    let decode = |reply: &Reply| match reply.outcome.as_str() {
        "USED" => {
            let used: Used = reply.object()?;
            let tokens = used.tokens.parse::<u64>();
            Ok(UseOutcome::Used {
                state: used.state,
                turns: used.turns,
                tokens: tokens.map_err(|_| reply.malformed("no number of tokens"))?,
                max_turns: used.max_turns,
                max_tokens: used.max_tokens,
            })
        }
        "UNKNOWN" => Ok(UseOutcome::Unknown),
        "NOT_ACTIVE" => {
            let NotActive { state, status } = reply.object()?;
            Ok(UseOutcome::NotActive(state, status))
        }
        "STOPPED" => {
            let Stopped { state, limit, reason } = reply.object()?;
            Ok(UseOutcome::Stopped(state, limit, reason))
        }
        _ => reply.unknown(),
    };
    run(store, &USE_INTENT, terms, (RequestKind::Read, 1), &request, decode).await
}
