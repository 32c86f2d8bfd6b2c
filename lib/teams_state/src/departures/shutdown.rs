use serde::{Deserialize, Serialize};

use super::scripts::{ANSWER_SHUTDOWN, FORCE_SHUTDOWN, REQUEST_SHUTDOWN};
use crate::teams::{TeamOutcome, TeamTerms, run};
use coord_domain::team::Handle;
use coord_settings::Rates;
use coord_state::admission::{Admitted, RequestKind};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// The state of a shutdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShutdownProgress {
    /// Answers are missing.
    #[default]
    Open,
    /// The member has stopped.
    Stopped,
    /// The team is closed.
    Closed,
    /// It was rejected, which ends it.
    Rejected,
}

/// A call's effect on a shutdown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShutdownStep {
    #[serde(skip)]
    pub progress: ShutdownProgress,
    pub id: String,
    /// Ids of released tasks.
    #[serde(default)]
    pub given_back: Vec<String>,
    /// Handles of members that were stopped by force, without an approval.
    #[serde(default)]
    pub passed_over: Vec<String>,
    /// The unpushed locks of a caller that stops: branch and path of the first 100 of its locks for writing.
    #[serde(default)]
    pub unpushed: Vec<(String, String)>,
    /// The number of these locks.
    #[serde(default)]
    pub unpushed_count: u64,
    /// Members that were not notified of the answer, because their inboxes are full.
    #[serde(default)]
    pub not_told: Vec<String>,
}

fn decode_step(reply: &Reply) -> Result<ShutdownStep, StoreError> {
    let progress = match reply.outcome.as_str() {
        "OPEN" => ShutdownProgress::Open,
        "STOPPED" => ShutdownProgress::Stopped,
        "CLOSED" => ShutdownProgress::Closed,
        "REJECTED" => ShutdownProgress::Rejected,
        _ => return reply.unknown(),
    };
    let step: ShutdownStep = reply.object()?;
    Ok(ShutdownStep { progress, ..step })
}

/// Arguments of `request_shutdown.lua`.
#[derive(Serialize)]
struct RequestShutdownArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    reason: &'a str,
    respond_seconds: u32,
}

/// Arguments of `answer_shutdown.lua`, and without a rejection of `force_shutdown.lua`.
#[derive(Serialize)]
struct EndShutdownArgs<'a> {
    shutdown: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection: Option<&'a str>,
}

/// Asks one member to stop, or the team to close; the caller approves only for itself.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn request_shutdown(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    target: Option<&Handle>,
    reason: &str,
    respond_seconds: u32,
) -> TeamOutcome<ShutdownStep> {
    let request = RequestShutdownArgs {
        target: target.map(Handle::as_str),
        reason,
        respond_seconds,
    };
    run(
        store,
        &REQUEST_SHUTDOWN,
        terms,
        RequestKind::Read,
        &request,
        decode_step,
    )
    .await
}

/// Approves a shutdown for the caller, or rejects it with a reason.
///
/// # Errors
/// As those of [`request_shutdown`].
pub async fn answer_shutdown(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &str,
    rejection: Option<&str>,
) -> TeamOutcome<ShutdownStep> {
    let answer = EndShutdownArgs {
        shutdown: id,
        rejection,
    };
    run(
        store,
        &ANSWER_SHUTDOWN,
        terms,
        RequestKind::Release,
        &answer,
        decode_step,
    )
    .await
}

/// Ends a shutdown whose time to respond is over, for all members that have not approved: some members at a time, so that no run of the
/// script takes long. If the store fails in between, the shutdown is still open, and the same call continues it.
///
/// # Errors
/// As those of [`request_shutdown`].
pub async fn force_shutdown(store: &dyn Store, terms: &TeamTerms<'_>, id: &str) -> TeamOutcome<ShutdownStep> {
    let (mut given_back, mut passed_over) = (Vec::new(), Vec::new());
    let mut terms = *terms;
    let force = EndShutdownArgs {
        shutdown: id,
        rejection: None,
    };
    loop {
        let mut outcome = run(store, &FORCE_SHUTDOWN, &terms, RequestKind::Read, &force, decode_step).await?;
        let Admitted::Outcome(Ok((step, _))) = &mut outcome else {
            return Ok(outcome);
        };
        given_back.append(&mut step.given_back);
        passed_over.append(&mut step.passed_over);
        if step.progress != ShutdownProgress::Open {
            (step.given_back, step.passed_over) = (given_back, passed_over);
            return Ok(outcome);
        }
        // All runs count as one request.
        terms.admission.rates = Rates::NONE;
    }
}
