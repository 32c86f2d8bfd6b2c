//! `/api/intents`: why files are changed, how far the work may reach, its limits, and when it is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::error::{ErrorBody, ErrorCode};
use crate::locks::{HeldLock, is_zero};
use crate::orchestration::{Action, Metadata, Orchestration};
use crate::plain_text::visible_line;
use crate::schema::{
    Branch, BranchOrEvery, IntentId, IntentIdOrNone, IntentName, PlainLine, PlainText, RelatedSpecification,
    ScopePattern, ShortText,
};

/// Where an intent is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IntentStatus {
    /// Written, not begun.
    #[default]
    Pending,
    /// Selected; its scope is frozen.
    InProgress,
    /// Each criterion is met, or a person gave a reason.
    Completed,
    /// Given up.
    Abandoned,
    /// Stopped by its budget, its breaker or a person.
    Blocked,
}

impl IntentStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::InProgress,
        Self::Completed,
        Self::Abandoned,
        Self::Blocked,
    ];

    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::InProgress => "IN_PROGRESS",
            Self::Completed => "COMPLETED",
            Self::Abandoned => "ABANDONED",
            Self::Blocked => "BLOCKED",
        }
    }

    /// The status of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Whether an intent of this status owns its files.
    pub fn is_active(self) -> bool {
        matches!(self, Self::InProgress | Self::Blocked)
    }

    /// Whether the work on an intent of this status is over.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Abandoned)
    }
}

/// Whether `id` has 1 to 64 letters, digits, `.`, `_` and `-` (ASCII), and begins with a letter or digit.
pub fn is_valid_intent_id(id: &str) -> bool {
    id.len() <= 64
        && id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// The state of a holder, which decides its next acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HolderState {
    /// Nothing was asked yet, or the work has ended.
    #[default]
    Request,
    /// A prompt is there, and no intent is selected.
    Reasoning,
    /// An intent is selected.
    Action,
}

impl HolderState {
    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Reasoning => "REASONING",
            Self::Action => "ACTION",
        }
    }
}

wire! {
    /// The limits and costs of an intent.
    #[derive(Copy, Default)]
    pub struct IntentBudget {
        /// The most tool calls that may change something; absent for no limit.
        pub max_turns: maybe u64,
        /// The most tokens, as agents report them; absent for no limit.
        pub max_tokens: maybe u64,
        /// Allowed tool calls of its owner's logins.
        #[serde(default)]
        pub consumed_turns: u64,
        /// Tool calls of other logins, which have a separate allowance of the same size.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub other_turns: u64,
        /// Tokens, as agents have reported them.
        #[serde(default)]
        pub consumed_tokens: u64,
    }
}

/// The limits of a budget, as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetLimits {
    /// The most tool calls that may change something; `null` for no limit.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000_000_000_u64)]
    pub max_turns: Option<u64>,
    /// The most tokens; `null` for no limit.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000_000_000_u64)]
    pub max_tokens: Option<u64>,
}

/// A criterion that is met.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct MetCriterion {
    /// The criterion.
    pub criterion: String,
    /// Its author: a login, or a login, a slash and an agent's id.
    pub by: String,
    /// When, ISO 8601.
    pub at: String,
    /// The evidence.
    pub evidence: String,
}

wire! {
    /// An intent.
    #[schema(as = Intent)]
    pub struct IntentView {
        /// Its id.
        #[schema(value_type = IntentId)]
        pub id: String,
        /// A short name; empty if missing.
        pub name: String,
        /// Why; empty if missing.
        pub description: String,
        /// Where it is in its life.
        pub status: IntentStatus,
        /// Rules for the work.
        pub constraints: Vec<String>,
        /// Patterns of the files that it may change.
        pub owned_scope: Vec<String>,
        /// When it is done.
        pub acceptance_criteria: Vec<String>,
        /// Its limits and costs.
        pub budget: maybe IntentBudget,
        /// The model that works on it.
        pub assigned_agent: maybe String,
        /// When it was written, ISO 8601.
        pub created_at: maybe String,
        /// When it was changed, ISO 8601.
        pub updated_at: maybe String,
        /// The branch that it is about; absent for every branch.
        pub branch: maybe Branch as String,
        /// The intent whose scope this one widens.
        pub supplements: maybe IntentId as String,
        /// Specifications: texts, or `{type, value}`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(value_type = Vec<serde_json::Value>)]
        pub related_specs: Vec<Json>,
        /// The criteria that are met.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub criteria: Vec<MetCriterion>,
        /// Recommended fields that are empty: `name`, `description`, `owned_scope` or `acceptance_criteria`. Without a name and a
        /// scope it cannot be selected.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
        /// Intents that a person has allowed it to overlap.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(value_type = Vec<IntentId>)]
        pub may_overlap: Vec<String>,
        /// Login that wrote it.
        pub author: maybe String,
        /// Login that last edited it, if not the author.
        pub editor: maybe String,
        /// Why it was blocked, abandoned or completed by force.
        pub reason: maybe String,
        /// Time of the last call by a holder that works on it, Unix seconds.
        #[schema(minimum = 0)]
        pub last_heard: maybe i64,
        /// Number of files that it owns.
        #[serde(default)]
        pub owned_files: u64,
    }
}

impl IntentView {
    /// A phrase that says who wrote and changed the intent.
    #[must_use]
    pub fn authorship(&self) -> String {
        match (self.author.as_deref(), self.editor.as_deref()) {
            (None, _) => "written by an unknown login".to_owned(),
            (Some(author), None) => format!("written by login {}", visible_line(author)),
            (Some(author), Some(editor)) => {
                let (author, editor) = (visible_line(author), visible_line(editor));
                format!("written by login {author}, changed by login {editor}")
            }
        }
    }
}

wire! {
    /// A new intent. Omitted fields are empty.
    #[derive(Default)]
    pub struct NewIntentRequest {
        repo_url,
        /// Its id; a UUID if omitted.
        pub id: optional IntentId as String,
        /// Its fields.
        #[serde(flatten)]
        pub fields: IntentFields,
        agent_id,
    }

    /// Changes to an intent. Omitted fields stay the same.
    #[derive(Default)]
    pub struct EditIntentRequest {
        repo_url,
        /// Its new fields.
        #[serde(flatten)]
        pub fields: IntentFields,
        /// Criteria that are met now, each with its evidence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub met: Vec<CriterionEvidence>,
        /// Criteria that are no longer met.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(value_type = Vec<PlainLine>)]
        pub unmet: Vec<String>,
        agent_id,
    }
}

/// A criterion, and the evidence that it is met.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CriterionEvidence {
    /// The criterion, verbatim.
    #[schema(value_type = PlainLine)]
    pub criterion: String,
    /// The evidence: a command and its result, a test, a commit.
    #[schema(value_type = PlainLine)]
    pub evidence: String,
}

wire! {
    /// The fields of an intent that callers write.
    #[derive(Default)]
    pub struct IntentFields {
        /// A short name.
        pub name: optional IntentName as String,
        /// Why.
        pub description: optional PlainText as String,
        /// Rules for the work: 50 of 500 characters.
        #[schema(max_items = 50)]
        pub constraints: optional Vec<PlainLine> as Vec<String>,
        /// Patterns of the files that it may change: 64 of 512 bytes. Frozen once it is IN_PROGRESS.
        #[schema(min_items = 1, max_items = 64)]
        pub owned_scope: optional Vec<ScopePattern> as Vec<String>,
        /// When it is done: 50 of 500 characters.
        #[schema(max_items = 50)]
        pub acceptance_criteria: optional Vec<PlainLine> as Vec<String>,
        /// Its limits. Raising or removing an existing limit takes a person.
        pub budget: Option<BudgetLimits>,
        /// The model that works on it.
        #[schema(max_length = 128)]
        pub assigned_agent: Option<String>,
        /// The branch that it is about; an empty text for every branch.
        pub branch: optional BranchOrEvery as String,
        /// The intent whose scope this one widens; an empty text for none.
        pub supplements: optional IntentIdOrNone as String,
        /// Specifications: texts, or `{type, value}`.
        #[schema(max_items = 50)]
        pub related_specs: optional Vec<RelatedSpecification> as Vec<Json>,
    }
}

/// An agent's data about itself; it is not verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AgentSession {
    /// Its session: 128 characters at most.
    #[serde(default)]
    #[schema(max_length = 128)]
    pub session_id: String,
    /// Its model: 128 characters at most.
    #[serde(default)]
    #[schema(max_length = 128)]
    pub contributor: String,
}

/// A tool call that may change something. It counts as a turn, and three identical ones in a row are allowed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ToolCall {
    /// The tool: 128 characters at most.
    #[schema(value_type = ShortText)]
    pub name: String,
    /// A digest of its input: 128 characters at most.
    #[schema(value_type = ShortText)]
    pub digest: String,
}

wire! {
    /// The costs of the work on an intent.
    #[derive(Default)]
    pub struct UsageRequest {
        repo_url,
        /// A tool call that may change something and makes no claim, such as a shell command.
        pub tool_call: Option<ToolCall>,
        /// Tokens of a session, as a running total: a report that is sent twice counts once.
        pub tokens: Option<SessionTokens>,
        /// The session of the agent, for the ledger.
        pub session: Option<AgentSession>,
        agent_id,
    }
}

/// The running total of a session's tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SessionTokens {
    /// The session.
    #[schema(max_length = 128)]
    pub session_id: String,
    /// All its tokens so far.
    #[schema(maximum = 1_000_000_000_000_u64)]
    pub total: u64,
}

wire! {
    /// An intent, or why the request was refused.
    pub struct IntentResponse {
        /// Whether the request was carried out.
        pub success: bool,
        /// The intent as it is now; absent where it is not known.
        pub intent: maybe IntentView,
        /// The state of the caller.
        pub state: HolderState,
        /// With select, and with `view=context`: the facts that an agent needs before it works on it, as text for its
        /// prompt.
        pub context: maybe String,
        /// Sentences that begin with a code and a colon.
        #[schema(schema_with = crate::schema::warnings)]
        pub warnings: Vec<String>,
        /// The next step.
        pub orchestration: Orchestration,
        /// Why it was refused.
        #[serde(flatten)]
        #[schema(ignore)]
        pub error: Option<ErrorBody>,
    }
}

impl IntentResponse {
    /// A success, or a response to a read.
    pub fn new(intent: Option<IntentView>, state: HolderState, orchestration: Orchestration) -> Self {
        IntentResponse {
            success: true,
            intent,
            state,
            context: None,
            warnings: Vec::new(),
            orchestration,
            error: None,
        }
    }

    /// The intents that the caller can select, from a list of all intents.
    pub fn choice(intents: IntentsResponse) -> Self {
        let reason = match &intents.selected {
            Some(id) => format!("You have selected intent {id}"),
            None => "Select one of the intents, or write a new one".to_owned(),
        };
        IntentResponse {
            context: intents.context,
            ..IntentResponse::new(None, intents.state, Orchestration::new(Action::Proceed, reason))
        }
    }

    /// A refusal by the rules of a request about the intent `id`.
    pub fn refusal(
        id: &str,
        intent: Option<IntentView>,
        state: HolderState,
        (code, action, reason): (ErrorCode, Action, String),
    ) -> Self {
        let metadata = Metadata {
            intent_id: Some(id.to_owned()),
            ..Metadata::default()
        };
        let error = ErrorBody {
            error: code,
            message: String::new(),
            field: None,
        };
        IntentResponse {
            success: false,
            error: Some(error),
            ..IntentResponse::new(intent, state, Orchestration::new(action, reason).with(metadata))
        }
    }
}

/// The parts of a response of `GET /api/intents` besides the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntentsView {
    /// Only the list.
    #[default]
    List,
    /// Also the files that active intents own, and all locks.
    State,
    /// Also the intents that can be selected, as text for an agent's prompt.
    Context,
}

wire! {
    /// The intents of a repository.
    #[derive(Default)]
    #[schema(as = Intents)]
    pub struct IntentsResponse {
        /// The intents, in the order in which they were written.
        pub intents: Vec<IntentView>,
        /// Whether each claim to write has to cite an intent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub is_required: bool,
        /// The state of the caller.
        pub state: HolderState,
        /// The intent that the caller has selected.
        pub selected: maybe IntentId as String,
        /// With `view=state`: the files that active intents own, by file path.
        pub owners: maybe BTreeMap<String, Vec<String>>,
        /// With `view=state`: all locks of the repository.
        pub locks: maybe Vec<HeldLock>,
        /// With `view=context`: the intents that can be selected, as text for an agent's prompt.
        pub context: maybe String,
        /// Number of intents that are left out, the oldest ones, because the response would be too large.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[schema(required = false)]
        pub intents_omitted: u64,
    }
}
