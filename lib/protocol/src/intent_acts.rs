//! `/api/intents/{id}/ACT`: acts on an intent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::intents::AgentSession;
use crate::schema::{Branch, FilePath, IntentId, PlainLine};

wire! {
    /// The acting caller, and its repository and branch. A person's act is one without `agent_id`.
    #[derive(Default)]
    pub struct ActCaller {
        repo_url,
        /// The branch of the work; `main` if omitted.
        pub branch: optional Branch as String,
        /// The session of the agent, for the ledger.
        pub session: Option<AgentSession>,
        agent_id,
    }
}

/// Selects an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SelectIntentRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
}

wire! {
    /// Completes an intent.
    #[derive(Default)]
    pub struct CompleteIntentRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// Completes it although criteria are not met. Requires a person and a `reason`.
        pub force: Option<bool>,
        /// Why.
        pub reason: optional PlainLine as String,
    }

    /// Abandons or blocks an intent.
    #[derive(Default)]
    pub struct StopIntentRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// Why.
        pub reason: required PlainLine as String,
    }

    /// Unblocks an intent.
    #[derive(Default)]
    pub struct UnblockIntentRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// Why.
        pub reason: optional PlainLine as String,
    }

    /// Allows two intents to overlap.
    #[derive(Default)]
    pub struct AllowOverlapRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// The other intent.
        pub other: required IntentId as String,
    }

    /// Makes an intent the owner of files.
    #[derive(Default)]
    pub struct TakeOverRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// The files. At most 64 KiB of paths together.
        #[schema(min_items = 1, max_items = 512)]
        pub file_paths: required Vec<FilePath> as Vec<String>,
    }
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
    /// It continues. Requires a person.
    Unblock(UnblockIntentRequest),
    /// It may overlap with another one. Requires a person.
    Allow(AllowOverlapRequest),
    /// It takes over files that another intent owns. Requires a person.
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
