//! The arguments of the tools of MCP that select and update intents. Each stands for one of several requests of HTTP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::intents::{CriterionEvidence, EditIntentRequest, IntentActRequest, IntentFields, NewIntentRequest};
use crate::schema::{AgentId, Branch, IntentId, RepoUrl};

/// The arguments of `select_active_intent`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SelectIntentCall {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// The branch that the work is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub branch: Option<String>,
    /// The intent; without it, the intents that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentId>)]
    pub intent_id: Option<String>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

impl SelectIntentCall {
    /// The request that selects its intent.
    pub fn request(&self) -> IntentActRequest {
        IntentActRequest {
            repo_url: self.repo_url.clone(),
            branch: self.branch.clone(),
            agent_id: self.agent_id.clone(),
            ..IntentActRequest::default()
        }
    }
}

/// What `update_intent` does.
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

/// The arguments of `update_intent`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct UpdateIntentCall {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// The intent; with NEW, the id that it gets, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentId>)]
    pub intent_id: Option<String>,
    /// NEW writes an intent. COMPLETE needs each criterion met.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentUpdate, required = true)]
    pub action: Option<IntentUpdate>,
    /// With ABANDON and BLOCK: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With EDIT: criteria that are met, each with its proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub met: Vec<CriterionEvidence>,
    /// A short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Files that it may change, as patterns such as `src/db/**`. Frozen once it has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owned_scope: Option<Vec<String>>,
    /// When it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance_criteria: Option<Vec<String>>,
    /// The intent whose scope it widens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentId>)]
    pub supplements: Option<String>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

impl UpdateIntentCall {
    /// The new intent that it stands for.
    pub fn into_new(self) -> NewIntentRequest {
        NewIntentRequest {
            repo_url: self.repo_url.clone(),
            id: self.intent_id.clone(),
            agent_id: self.agent_id.clone(),
            fields: self.into_fields(),
        }
    }

    /// The change that it stands for.
    pub fn into_edit(mut self) -> EditIntentRequest {
        EditIntentRequest {
            repo_url: self.repo_url.take(),
            met: std::mem::take(&mut self.met),
            unmet: Vec::new(),
            agent_id: self.agent_id.take(),
            fields: self.into_fields(),
        }
    }

    /// The act that it stands for.
    pub fn into_act(self) -> IntentActRequest {
        IntentActRequest {
            repo_url: self.repo_url,
            reason: self.reason,
            agent_id: self.agent_id,
            ..IntentActRequest::default()
        }
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
