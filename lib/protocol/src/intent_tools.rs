//! The arguments of the MCP tools that select and update intents. A call becomes one of several HTTP requests.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::intent_acts::{ActCaller, CompleteIntentRequest, IntentAct, SelectIntentRequest, StopIntentRequest};
use crate::intents::{CriterionEvidence, EditIntentRequest, IntentFields, NewIntentRequest};
use crate::schema::{Branch, IntentId};

wire! {
    /// The arguments of `select_active_intent`.
    #[derive(Default)]
    pub struct SelectIntentCall {
        repo_url,
        /// The branch that the work is for.
        pub branch: optional Branch as String,
        /// The intent; if omitted, all intents are listed.
        pub intent_id: optional IntentId as String,
        agent_id,
    }
}

impl SelectIntentCall {
    /// The act that selects the intent of this call.
    pub fn act(&self) -> IntentAct {
        let caller = ActCaller {
            repo_url: self.repo_url.clone(),
            branch: self.branch.clone(),
            session: None,
            agent_id: self.agent_id.clone(),
        };
        IntentAct::Select(SelectIntentRequest { caller })
    }
}

/// Acts of `update_intent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum IntentUpdate {
    /// Writes a new intent, with a name and a scope.
    New,
    /// Marks criteria as met, or changes members.
    Edit,
    /// Ends it as done: each criterion is marked as met.
    Complete,
    /// Gives it up, with a reason.
    Abandon,
    /// Stops it until a person unblocks it, with a reason.
    Block,
}

wire! {
    /// The arguments of `update_intent`.
    #[derive(Default)]
    pub struct UpdateIntentCall {
        repo_url,
        /// The intent; with NEW, the id that it gets, or none.
        pub intent_id: optional IntentId as String,
        /// NEW writes an intent. COMPLETE needs each criterion met.
        pub action: required IntentUpdate as IntentUpdate,
        /// With ABANDON and BLOCK: why.
        pub reason: Option<String>,
        /// With EDIT: criteria that are met, each with evidence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub met: Vec<CriterionEvidence>,
        /// A short name.
        pub name: Option<String>,
        /// Why.
        pub description: Option<String>,
        /// Files that it may change, as patterns such as `src/db/**`. Frozen once it has begun.
        pub owned_scope: Option<Vec<String>>,
        /// When it is done.
        pub acceptance_criteria: Option<Vec<String>>,
        /// The intent whose scope it widens.
        pub supplements: optional IntentId as String,
        agent_id,
    }
}

/// The HTTP request of a call of `update_intent`. None of them is a person's act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntentUpdateRequest {
    /// A new intent.
    New(NewIntentRequest),
    /// A change of an intent's fields.
    Edit(EditIntentRequest),
    /// An act on an intent.
    Act(IntentAct),
}

impl UpdateIntentCall {
    /// The HTTP request of this call; `None` without an `action`.
    pub fn into_request(mut self) -> Option<IntentUpdateRequest> {
        let caller = ActCaller {
            repo_url: self.repo_url.clone(),
            agent_id: self.agent_id.clone(),
            ..ActCaller::default()
        };
        let reason = self.reason.take();
        Some(match self.action? {
            IntentUpdate::New => IntentUpdateRequest::New(NewIntentRequest {
                repo_url: caller.repo_url,
                id: self.intent_id.clone(),
                agent_id: caller.agent_id,
                fields: self.into_fields(),
            }),
            IntentUpdate::Edit => IntentUpdateRequest::Edit(EditIntentRequest {
                repo_url: caller.repo_url,
                met: std::mem::take(&mut self.met),
                unmet: Vec::new(),
                agent_id: caller.agent_id,
                fields: self.into_fields(),
            }),
            IntentUpdate::Complete => IntentUpdateRequest::Act(IntentAct::Complete(CompleteIntentRequest {
                caller,
                force: None,
                reason,
            })),
            IntentUpdate::Abandon => IntentUpdateRequest::Act(IntentAct::Abandon(StopIntentRequest { caller, reason })),
            IntentUpdate::Block => IntentUpdateRequest::Act(IntentAct::Block(StopIntentRequest { caller, reason })),
        })
    }

    fn into_fields(self) -> IntentFields {
        IntentFields {
            name: self.name,
            description: self.description,
            owned_scope: self.owned_scope,
            acceptance_criteria: self.acceptance_criteria,
            supplements: self.supplements,
            ..IntentFields::default()
        }
    }
}
