//! The costs of the work on an intent.

use coord_intents::intent::Status;
use coord_intents::ledger::blank_credentials;
use coord_protocol::{Action, ErrorCode, IntentResponse, Orchestration, ToolCall, UsageRequest};
use futures::FutureExt;

use super::intent_caller::{IntentCaller, id_in};
use super::origin::{check_length, origin};
use super::overlap::cannot_be_selected;
use crate::registered::{Intents, unknown_intent};
use coord_auth::Caller;
use coord_intents_state::intents::{Limit, Usage, UseOutcome, use_intent as run};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_store::script::sha1_hex;

/// The most tokens of a session.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// Counts the costs of the work on the intent `id`. `agent` is the header `X-Coord-Agent`, if sent. One round trip.
///
/// # Errors
/// When a field is not valid, there is no such intent, the caller is denied, or the store does not respond. A refused
/// call is a response.
pub async fn use_intent(
    app: &App,
    id: &str,
    request: &UsageRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let caller = IntentCaller::parse(&request.repo_url, None, request.agent_id.as_deref(), caller, agent)?;
    let id = id_in("id", id)?;
    let call = request.tool_call.as_ref().map(counted_call).transpose()?;
    let tokens = match &request.tokens {
        None => None,
        Some(tokens) if tokens.total <= MAX_TOKENS => Some((check_length("tokens", &tokens.session_id)?, tokens.total)),
        Some(_) => {
            let problem = format!("has a total of more than {MAX_TOKENS}");
            return Err(ApiError::invalid_field("tokens", problem));
        }
    };
    let mut admission = caller.begin(app).await?;
    let origin = origin(request.session.as_ref())?;
    let usage = Usage {
        id,
        call: call.as_ref().map(|(name, digest)| (name.as_str(), digest.as_str())),
        breaker_calls: Intents::of(app).config.breaker_calls,
        tokens: tokens.as_ref().map(|(session, total)| (session.as_str(), *total)),
        origin: &origin,
    };
    let refusal = |state, code, reason| Ok(IntentResponse::refusal(id, None, state, (code, Action::Stop, reason)));
    match admission
        .run_plain(&usage, |store, terms, usage| run(store, terms, usage).boxed())
        .await?
    {
        UseOutcome::Used {
            state,
            turns,
            tokens,
            max_turns,
            max_tokens,
        } => {
            let reason = format!("Intent {id} has cost {turns} turns and {tokens} tokens");
            let orchestration = Orchestration::new(Action::Proceed, reason);
            let mut response = IntentResponse::new(None, state, orchestration);
            let limits = [("turns", turns, max_turns), ("tokens", tokens, max_tokens)];
            response.warnings = limits
                .into_iter()
                .filter_map(|limit| budget_warning(id, limit))
                .collect();
            Ok(response)
        }
        UseOutcome::Unknown => Err(unknown_intent(id)),
        UseOutcome::NotActive(state, status) => {
            let (code, why) = match status {
                Status::Pending => (ErrorCode::IntentNotActive, "has not begun; select it first".to_owned()),
                Status::Blocked => (ErrorCode::IntentBlocked, cannot_be_selected(status, None)),
                _ => (ErrorCode::IntentNotActive, cannot_be_selected(status, None)),
            };
            refusal(state, code, format!("Intent {id} {why}"))
        }
        UseOutcome::Stopped(state, limit, reason) => {
            Intents::of(app).seal_later(&app.store, &caller.repo);
            let code = match limit {
                Limit::Budget => ErrorCode::BudgetExhausted,
                Limit::Breaker => ErrorCode::CircuitOpen,
            };
            refusal(
                state,
                code,
                format!("{reason}; the intent is blocked until a person unblocks it"),
            )
        }
    }
}

/// The name of a tool, and the digest of name and input by which calls are counted.
pub fn counted_call(call: &ToolCall) -> Result<(String, String), ApiError> {
    let name = blank_credentials(&check_length("tool_call", &call.name)?).into_owned();
    let digest = check_length("tool_call", &call.digest)?;
    if name.is_empty() || digest.is_empty() {
        return Err(ApiError::invalid_field("tool_call", "needs a name and a digest"));
    }
    let digest = sha1_hex(&format!("{name}\n{digest}"));
    Ok((name, digest))
}

/// A warning if at least 80 % of a limit is used.
fn budget_warning(id: &str, (unit, used, limit): (&str, u64, Option<u64>)) -> Option<String> {
    let limit = limit?;
    let is_low = used.saturating_mul(5) >= limit.saturating_mul(4);
    is_low.then(|| format!("BUDGET_LOW: Intent {id} has used {used} of {limit} {unit}; finish soon."))
}
