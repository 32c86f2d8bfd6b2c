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
        /// The branch of the work; `main` where it is left out.
        pub branch: optional Branch as String,
        /// The session of the agent, for the ledger.
        pub session: Option<AgentSession>,
        agent_id,
    }
}

/// The selection of an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SelectIntentRequest {
    /// The acting caller, and its repository and branch.
    #[serde(flatten)]
    pub caller: ActCaller,
}

wire! {
    /// The completion of an intent.
    #[derive(Default)]
    pub struct CompleteIntentRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// Although criteria are not met: a person's act, with a `reason`.
        pub force: Option<bool>,
        /// Why.
        pub reason: optional PlainLine as String,
    }

    /// The end of an intent that is not done, or its stop.
    #[derive(Default)]
    pub struct StopIntentRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// Why.
        pub reason: required PlainLine as String,
    }

    /// The consent that a blocked intent goes on.
    #[derive(Default)]
    pub struct UnblockIntentRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// Why.
        pub reason: optional PlainLine as String,
    }

    /// The consent that two intents overlap.
    #[derive(Default)]
    pub struct AllowOverlapRequest {
        /// The acting caller, and its repository and branch.
        #[serde(flatten)]
        pub caller: ActCaller,
        /// The other intent.
        pub other: required IntentId as String,
    }

    /// The files that an intent takes over.
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
    /// It continues. A person's act.
    Unblock(UnblockIntentRequest),
    /// It may overlap with another one. A person's act.
    Allow(AllowOverlapRequest),
    /// It takes over files that another intent owns. A person's act.
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
