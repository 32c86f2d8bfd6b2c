//! `/api/intents/{id}/ACT`: acts on an intent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::intents::AgentSession;
use crate::schema::{AgentId, Branch, FilePath, IntentId, PlainLine, RepoUrl};

/// The acting caller, and its repository and branch. A person's act is one without `agent_id`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ActCaller {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// The branch of the work; `main` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub branch: Option<String>,
    /// The session of the agent, for the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

/// The selection of an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SelectIntentRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
}

/// The completion of an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CompleteIntentRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
    /// Although criteria are not met: a person's act, with a `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlainLine>)]
    pub reason: Option<String>,
}

/// The end of an intent that is not done, or its stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct StopIntentRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PlainLine, required = true)]
    pub reason: Option<String>,
}

/// The consent that a blocked intent goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct UnblockIntentRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlainLine>)]
    pub reason: Option<String>,
}

/// The consent that two intents overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AllowOverlapRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
    /// The other intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentId, required = true)]
    pub other: Option<String>,
}

/// The files that an intent takes over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TakeOverRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
    /// The files. At most 64 KiB of paths together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<FilePath>, required = true, min_items = 1, max_items = 512)]
    pub file_paths: Option<Vec<String>>,
}

/// An act on an intent, with its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum IntentAct {
    /// The caller works on it from now on; PENDING becomes IN_PROGRESS.
    Select(SelectIntentRequest),
    /// It is done.
    Complete(CompleteIntentRequest),
    /// It is given up.
    Abandon(StopIntentRequest),
    /// It is stopped.
    Block(StopIntentRequest),
    /// It goes on. A person's act.
    Unblock(UnblockIntentRequest),
    /// It may overlap with another one. A person's act.
    Allow(AllowOverlapRequest),
    /// It takes files over that another one owns. A person's act.
    TakeOver(TakeOverRequest),
}

impl IntentAct {
    /// The last segment of the path.
    pub fn name(&self) -> &'static str {
        match self {
            IntentAct::Select(_) => "select",
            IntentAct::Complete(_) => "complete",
            IntentAct::Abandon(_) => "abandon",
            IntentAct::Block(_) => "block",
            IntentAct::Unblock(_) => "unblock",
            IntentAct::Allow(_) => "allow",
            IntentAct::TakeOver(_) => "take_over",
        }
    }

    /// The acting caller, and its repository and branch.
    pub fn caller(&self) -> &ActCaller {
        match self {
            IntentAct::Select(request) => &request.caller,
            IntentAct::Complete(request) => &request.caller,
            IntentAct::Abandon(request) | IntentAct::Block(request) => &request.caller,
            IntentAct::Unblock(request) => &request.caller,
            IntentAct::Allow(request) => &request.caller,
            IntentAct::TakeOver(request) => &request.caller,
        }
    }
}
