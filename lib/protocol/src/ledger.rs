//! `/api/ledger`: actions of agents, their intents, and their results.

use serde::{Deserialize, Serialize};
use serde_json::Map;
use serde_json::Value as Json;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use crate::intents::AgentSession;
use crate::orchestration::Orchestration;
use crate::schema::{Branch, ContentHash, FilePath, IntentId, TraceId, one_of};

wire! {
    /// Events to record.
    #[derive(Default)]
    pub struct RecordRequest {
        repo_url,
        /// The branch that the work is for; `main` if omitted.
        pub branch: optional Branch as String,
        /// The intent; if omitted, the one that the caller has selected.
        pub intent_id: optional IntentId as String,
        /// The agent's data about itself.
        #[serde(default)]
        pub session: AgentSession,
        /// The events, in order: 32 at most.
        #[schema(min_items = 1, max_items = 32)]
        pub entries: required Vec<RecordEntry> as Vec<RecordEntry>,
        agent_id,
    }
}

/// The kind of an event that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// A file was changed: `file_path` and `hash`. Without a lock on the file it is recorded as a failure.
    Mutation,
    /// A write was refused because the content was not the one that was read: `file_path` and `error_message`.
    Stale,
    /// The agent was given its context.
    Context,
    /// The agent was given a prompt: its state becomes REASONING.
    Prompt,
    /// The session of the agent has ended: its state becomes REQUEST.
    End,
    /// A tool was used and changed no file.
    Call,
    /// Lines of other programs at the beginning of a file are adopted: `hash` of their bytes, `tool_input` with `bytes` and `lines`, the
    /// 64 digits of the hash as `trace_id`, and no other member.
    Adoption,
}

wire! {
    /// An event that is recorded.
    pub struct RecordEntry {
        /// The id of the event: 1 to 64 letters, digits, `.`, `_`, `-`. Events that are sent twice within a day are
        /// recorded once.
        #[schema(value_type = TraceId)]
        pub trace_id: String,
        /// Its kind.
        pub kind: RecordKind,
        /// The tool.
        #[serde(default)]
        #[schema(max_length = 128)]
        pub tool_name: Option<String>,
        /// The tool's input, or the part that may leave the machine.
        #[serde(default)]
        pub tool_input: optional Object as Map<String, Json>,
        /// Why.
        #[serde(default)]
        pub reasoning: Option<String>,
        /// The file.
        #[serde(default)]
        pub file_path: optional FilePath as String,
        /// Its content afterwards: `sha256:` and 64 digits, or `DELETED`.
        #[serde(default)]
        pub hash: optional ContentHash as String,
        /// Fencing token of the lock under which it was changed.
        #[serde(default)]
        #[schema(minimum = 1)]
        pub token: Option<i64>,
        /// One line about the outcome.
        #[serde(default)]
        pub output_summary: String,
        /// Why it failed or was refused. A `mutation` or `call` that has one is a failure.
        #[serde(default)]
        pub error_message: Option<String>,
        /// `AST_REFACTOR` or `INTENT_EVOLUTION`, if the agent states it.
        #[serde(default)]
        #[schema(schema_with = mutation_class, required = false)]
        pub mutation_class: Option<String>,
    }
}

impl RecordEntry {
    /// An event without optional fields.
    pub fn new(trace_id: String, kind: RecordKind) -> Self {
        RecordEntry {
            trace_id,
            kind,
            tool_name: None,
            tool_input: None,
            reasoning: None,
            file_path: None,
            hash: None,
            token: None,
            output_summary: String::new(),
            error_message: None,
            mutation_class: None,
        }
    }
}

/// The values of `mutation_class`.
pub const MUTATION_CLASSES: [&str; 2] = ["AST_REFACTOR", "INTENT_EVOLUTION"];

fn mutation_class() -> Object {
    one_of(&MUTATION_CLASSES, "The kind of the change, if the agent states it")
}

/// The outcome for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Recorded {
    /// Recorded as done.
    Success,
    /// Recorded as a failure: the caller has no lock on the file, or reported the failure itself.
    Failure,
    /// Recorded as refused.
    Denied,
    /// Recorded before.
    Repeated,
}

/// The outcome for the events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct RecordResponse {
    /// One for each event, in order.
    pub recorded: Vec<Recorded>,
    /// Sentences that begin with a code and a colon.
    #[schema(schema_with = crate::schema::warnings)]
    pub warnings: Vec<String>,
    /// The next step.
    pub orchestration: Orchestration,
}

wire! {
    /// A part of the ledger.
    #[schema(as = LedgerPage)]
    pub struct LedgerResponse {
        /// The lines as they are, with their `chain` and without a newline. The oldest first.
        pub lines: Vec<String>,
        /// The value of `after` for the next lines; absent at the end.
        pub next: maybe u64,
        /// The `seq` and hash of the newest sealed line: `COUNT:HASH`.
        pub sealed: String,
        /// The point after which the lines that are kept begin: `COUNT:HASH`.
        pub base: String,
    }

    /// Files whose content is compared with the ledger.
    #[derive(Default)]
    pub struct VerifyRequest {
        repo_url,
        /// The branch; without it, the last record of any branch counts.
        pub branch: optional Branch as String,
        /// The files: 512 at most.
        #[schema(min_items = 1, max_items = 512)]
        pub files: required Vec<FileContent> as Vec<FileContent>,
        agent_id,
    }
}

/// A file and its content.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct FileContent {
    /// The file.
    #[schema(value_type = FilePath)]
    pub file_path: String,
    /// `sha256:` and 64 digits, or `DELETED` where there is none.
    #[schema(value_type = ContentHash)]
    pub hash: String,
}

/// How a file differs from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum FileVerdict {
    /// It has the content that was recorded last.
    Intact,
    /// It has a content that was never recorded.
    Changed,
    /// It has a content that was recorded earlier.
    Reverted,
    /// It does not exist, and was not recorded as deleted.
    Missing,
    /// The ledger has no record of it.
    Unrecorded,
}

wire! {
    /// The verdict on a file.
    pub struct FileReport {
        /// The file.
        #[schema(value_type = FilePath)]
        pub file_path: String,
        /// The verdict.
        pub verdict: FileVerdict,
        /// The intent under which it was recorded last.
        pub intent_id: maybe IntentId as String,
        /// The content that was recorded last.
        pub recorded: maybe String,
    }
}

/// The verdicts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct VerifyResponse {
    /// One for each file, in order.
    pub files: Vec<FileReport>,
}

/// The files that intents have changed or own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = IntentMap)]
pub struct MapResponse {
    /// Sorted by path.
    pub files: Vec<MappedFile>,
}

wire! {
    /// A row of the map.
    pub struct MappedFile {
        /// The file.
        #[schema(value_type = FilePath)]
        pub file_path: String,
        /// The intent that owns it or changed it last.
        #[schema(value_type = IntentId)]
        pub intent_id: String,
        /// The content that was recorded last; absent where it is owned and was not changed yet.
        pub hash: maybe String,
        /// Whether the intent is active and not idle: others may not write the file.
        pub is_locked: bool,
        /// The branch of the intent; absent for every branch.
        pub branch: maybe Branch as String,
    }
}
