//! The wire: requests, responses, and a client. Every type serializes and deserializes, so that server, clients and
//! tests share it.
//!
//! - [`bounds`]: limits of a request
//! - [`check_status`], [`post_status`], [`locks`], [`activity`]: requests and responses
//! - [`intent_tools`], [`team_tools`]: arguments of MCP tools that each cover several requests
//! - [`opencode_tools`]: arguments of the tools of the plugin opencode-teams
//! - [`tool_names`]: the names of all MCP tools
//! - [`intents`], [`intent_acts`], [`ledger`]: why files are changed, acts on intents, and the actions of agents
//! - [`teams`], [`tasks`], [`messages`]: teams, their tasks, and their messages
//! - [`waiting`]: pending items for a member, in every response to it
//! - [`orchestration`]: the command for an agent's next step
//! - [`error`]: stable codes, and the body of an error
//! - [`event`], [`team_event`], [`stream`]: events of state changes; other messages of the stream
//! - [`schema`]: strings of the wire as JSON Schema
//! - [`plain_text`]: text of other people, made safe for terminals and models
//! - [`sentence`]: parts of sentences for agents and people
//! - `client` (a feature): an HTTP client

#![warn(missing_docs)]

#[macro_use]
mod wire;

pub mod activity;
pub mod bounds;
pub mod check_status;
#[cfg(feature = "client")]
pub mod client;
pub mod error;
pub mod event;
pub mod intent_acts;
pub mod intent_event;
pub mod intent_tools;
pub mod intents;
pub mod ledger;
pub mod locks;
pub mod loopback;
pub mod messages;
pub mod opencode_tools;
pub mod orchestration;
pub mod plain_text;
pub mod post_status;
pub mod schema;
pub mod sentence;
pub mod stream;
pub mod tasks;
pub mod team_event;
pub mod team_tools;
pub mod teams;
pub mod tool_names;
pub mod waiting;

pub use activity::ActivityResponse;
pub use check_status::{CheckRequest, CheckResponse};
#[cfg(feature = "client")]
pub use client::{
    ActivityFilter, Client, ClientError, ClientSettings, EventStream, GraphFilter, HistoryFilter, LedgerFilter,
    LocksFilter, SERVER_HEADER, StreamItem, TaskFilter,
};
pub use error::{AgentError, ErrorBody, ErrorCode, RefusalCode};
pub use event::{Event, PublishedEvent};
pub use intent_acts::{
    ActCaller, AllowOverlapRequest, CompleteIntentRequest, IntentAct, SelectIntentRequest, StopIntentRequest,
    TakeOverRequest, UnblockIntentRequest,
};
pub use intent_tools::{IntentUpdate, IntentUpdateRequest, SelectIntentCall, UpdateIntentCall};
pub use intents::{
    AgentSession, BudgetLimits, CriterionEvidence, EditIntentRequest, HolderState, IntentBudget, IntentFields,
    IntentResponse, IntentStatus, IntentView, IntentsResponse, IntentsView, MetCriterion, NewIntentRequest,
    SessionTokens, ToolCall, UsageRequest, is_valid_intent_id,
};
pub use ledger::{
    FileContent, FileReport, FileVerdict, LedgerResponse, MapResponse, MappedFile, RecordEntry, RecordKind,
    RecordRequest, RecordResponse, Recorded, VerifyRequest, VerifyResponse,
};
pub use locks::{
    BlockingLock, HeldLock, InterfacePromise, LockMode, LockStatus, LocksResponse, OtherLock, OwnLock, PendingChange,
    Reader, WaitingClaim,
};
pub use orchestration::{Action, ClaimBefore, Metadata, Orchestration, Status, SuggestedTask};
pub use post_status::{PostRequest, PostResponse};
pub use waiting::{Membership, PendingShutdown, Waiting};
