//! Applies changes of people in `active_intents.yaml`, as requests.

use coord_agent::intents::differences;
use coord_intents::files::import::Change;
use coord_intents::intent::{Intent, Status};
use coord_protocol::{
    ActCaller, Client, ClientError, CompleteIntentRequest, EditIntentRequest, IntentAct, IntentFields, IntentResponse,
    NewIntentRequest, SelectIntentRequest, StopIntentRequest, UnblockIntentRequest,
};

/// The reason of an act that a file requests.
const REASON: &str = "Changed in active_intents.yaml";

/// The acts that lead from one status to another. With `force`, an intent is completed even if a criterion is not met.
fn acts(from: Status, to: Status, caller: &ActCaller, force: bool) -> Vec<IntentAct> {
    let caller = || caller.clone();
    let reason = || Some(REASON.to_owned());
    let select = || IntentAct::Select(SelectIntentRequest { caller: caller() });
    let complete = || {
        IntentAct::Complete(CompleteIntentRequest {
            caller: caller(),
            force: force.then_some(true),
            reason: reason(),
        })
    };
    let stop = || StopIntentRequest {
        caller: caller(),
        reason: reason(),
    };
    match (from, to) {
        (Status::Pending, Status::InProgress) => vec![select()],
        (Status::Pending, Status::Completed) => vec![select(), complete()],
        (Status::Pending, Status::Blocked) => vec![select(), IntentAct::Block(stop())],
        (Status::Blocked, Status::InProgress) => vec![IntentAct::Unblock(UnblockIntentRequest {
            caller: caller(),
            reason: reason(),
        })],
        (Status::InProgress, Status::Completed) => vec![complete()],
        (Status::InProgress, Status::Blocked) => vec![IntentAct::Block(stop())],
        (Status::Pending | Status::InProgress | Status::Blocked, Status::Abandoned) => {
            vec![IntentAct::Abandon(stop())]
        }
        _ => Vec::new(),
    }
}

/// Applies `change` to the intent `stored`, or creates a new intent without it. Returns a sentence if the rules refuse
/// the change.
///
/// # Errors
/// When the server returns an error, or no response.
pub(super) async fn apply(
    client: &Client,
    repo_url: &str,
    branch: Option<&str>,
    stored: Option<&Intent>,
    change: &Change,
) -> Result<Option<String>, ClientError> {
    let intent = &change.intent;
    let fields = differences(stored.unwrap_or(&Intent::default()), intent);
    let repo_url = Some(repo_url.to_owned());
    if stored.is_none() {
        let request = NewIntentRequest {
            repo_url: repo_url.clone(),
            id: Some(intent.id.clone()),
            fields,
            agent_id: None,
        };
        if let Some(refusal) = refusal(&client.new_intent(&request).await?) {
            return Ok(Some(refusal));
        }
    } else if fields != IntentFields::default() {
        let request = EditIntentRequest {
            repo_url: repo_url.clone(),
            fields,
            ..EditIntentRequest::default()
        };
        if let Some(refusal) = refusal(&client.edit_intent(&intent.id, &request).await?) {
            return Ok(Some(refusal));
        }
    }
    let from = stored.map_or(Status::Pending, |stored| stored.status);
    let caller = ActCaller {
        repo_url,
        branch: branch.map(str::to_owned),
        ..ActCaller::default()
    };
    for act in acts(from, intent.status, &caller, change.needs_person) {
        if let Some(refusal) = refusal(&client.act_on_intent(&intent.id, &act).await?) {
            return Ok(Some(refusal));
        }
    }
    Ok(None)
}

fn refusal(response: &IntentResponse) -> Option<String> {
    (!response.success).then(|| response.orchestration.reason.clone())
}

#[cfg(test)]
mod tests {
    use coord_intents::intent::TRANSITIONS;

    use super::*;

    #[test]
    fn every_transition_has_its_act() {
        for (from, to, _) in TRANSITIONS {
            assert_eq!(
                acts(from, to, &ActCaller::default(), false).len(),
                1,
                "{from:?} -> {to:?}"
            );
        }
        for status in Status::ALL {
            assert!(
                acts(status, status, &ActCaller::default(), false).is_empty(),
                "{status:?}"
            );
        }
    }
}
