//! Changes of people in `active_intents.yaml`, as requests.

use coord_intents::files::take_in::Change;
use coord_intents::intent::{Intent, Status};
use coord_protocol::{
    Client, ClientError, EditIntentRequest, IntentAct, IntentActRequest, IntentFields, IntentResponse, NewIntentRequest,
};

use crate::agent::intents::differences;

/// The reason of an act that a file asks for.
const REASON: &str = "Changed in active_intents.yaml";

/// The acts that lead from one status to another; `force` where a criterion may not be met.
fn acts(from: Status, to: Status) -> &'static [IntentAct] {
    match (from, to) {
        (Status::Pending, Status::InProgress) => &[IntentAct::Select],
        (Status::Pending, Status::Completed) => &[IntentAct::Select, IntentAct::Complete],
        (Status::Pending, Status::Blocked) => &[IntentAct::Select, IntentAct::Block],
        (Status::Blocked, Status::InProgress) => &[IntentAct::Unblock],
        (Status::InProgress, Status::Completed) => &[IntentAct::Complete],
        (Status::InProgress, Status::Blocked) => &[IntentAct::Block],
        (Status::Pending | Status::InProgress | Status::Blocked, Status::Abandoned) => &[IntentAct::Abandon],
        _ => &[],
    }
}

/// Makes `change` of the intent that the store has as `stored`; none for a new one. A sentence where the rules refuse it.
///
/// # Errors
/// When the server returns an error, or no response.
pub(super) async fn take(
    client: &Client,
    repo_url: &str,
    branch: Option<&str>,
    stored: Option<&Intent>,
    change: &Change,
) -> Result<Option<String>, ClientError> {
    let wanted = &change.intent;
    let fields = differences(stored.unwrap_or(&Intent::default()), wanted);
    let repo_url = Some(repo_url.to_owned());
    if stored.is_none() {
        let request = NewIntentRequest {
            repo_url: repo_url.clone(),
            id: Some(wanted.id.clone()),
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
        if let Some(refusal) = refusal(&client.edit_intent(&wanted.id, &request).await?) {
            return Ok(Some(refusal));
        }
    }
    let from = stored.map_or(Status::Pending, |stored| stored.status);
    for act in acts(from, wanted.status) {
        let request = IntentActRequest {
            repo_url: repo_url.clone(),
            branch: branch.map(str::to_owned),
            reason: Some(REASON.to_owned()),
            force: (*act == IntentAct::Complete && change.needs_person).then_some(true),
            ..IntentActRequest::default()
        };
        if let Some(refusal) = refusal(&client.act_on_intent(&wanted.id, *act, &request).await?) {
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
            assert_eq!(acts(from, to).len(), 1, "{from:?} -> {to:?}");
        }
        for status in Status::ALL {
            assert!(acts(status, status).is_empty(), "{status:?}");
        }
    }
}
