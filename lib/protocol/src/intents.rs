//! `/api/intents`: why files are changed, how far the work may reach, its limits, and when it is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::error::{ErrorBody, ErrorCode};
use crate::locks::{HeldLock, is_zero};
use crate::orchestration::{Action, Orchestration};
use crate::plain_text::shown_line;
use crate::schema::{
    AgentId, Branch, BranchOrEvery, IntentId, IntentIdOrNone, IntentName, PlainLine, PlainText, RelatedSpecification,
    RepoUrl, ScopePattern, ShortText,
};

/// Where an intent is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IntentStatus {
    /// Written, not begun.
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

/// The state of a holder, which decides its next acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HolderState {
    /// Nothing was asked yet, or the work has ended.
    Request,
    /// A prompt is there, and no intent is selected.
    Reasoning,
    /// An intent is selected.
    Action,
}

/// The limits and costs of an intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IntentBudget {
    /// The most tool calls that may change something; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub max_turns: Option<u64>,
    /// The most tokens, as agents report them; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub max_tokens: Option<u64>,
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

/// An intent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Intent)]
pub struct IntentView {
    /// Its id.
    #[schema(value_type = IntentId)]
    pub id: String,
    /// A short name; empty where it is missing.
    pub name: String,
    /// Why; empty where it is missing.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub budget: Option<IntentBudget>,
    /// The model that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub assigned_agent: Option<String>,
    /// When it was written, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub created_at: Option<String>,
    /// When it was changed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub updated_at: Option<String>,
    /// The branch that it is about; absent for every branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Branch, required = false)]
    pub branch: Option<String>,
    /// The intent whose scope this one widens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentId, required = false)]
    pub supplements: Option<String>,
    /// Specifications: texts, or `{type, value}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<serde_json::Value>)]
    pub related_specs: Vec<Json>,
    /// The criteria that are met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<MetCriterion>,
    /// Members without which it means little: `name`, `description`, `owned_scope`, `acceptance_criteria`. Without the first
    /// or the third it cannot be selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Intents with which a person has let it overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<IntentId>)]
    pub may_overlap: Vec<String>,
    /// Login that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub author: Option<String>,
    /// Login that changed its words last, if another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub editor: Option<String>,
    /// Why it was blocked, abandoned or completed by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub reason: Option<String>,
    /// Time of the last call by a holder that works on it, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0)]
    pub last_heard: Option<i64>,
    /// Number of files that it owns.
    #[serde(default)]
    pub owned_files: u64,
}

impl IntentView {
    /// The authors of its words.
    #[must_use]
    pub fn authorship(&self) -> String {
        match (self.author.as_deref(), self.editor.as_deref()) {
            (None, _) => "written by an unknown login".to_owned(),
            (Some(author), None) => format!("written by login {}", shown_line(author)),
            (Some(author), Some(editor)) => {
                let (author, editor) = (shown_line(author), shown_line(editor));
                format!("written by login {author}, changed by login {editor}")
            }
        }
    }
}

/// A new intent. Omitted fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewIntentRequest {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// Its id; a UUID where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentId>)]
    pub id: Option<String>,
    /// Its members.
    #[serde(flatten)]
    pub fields: IntentFields,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

/// Changes of an intent: members that are left out stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct EditIntentRequest {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// Its new members.
    #[serde(flatten)]
    pub fields: IntentFields,
    /// Criteria that are met now, each with its evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub met: Vec<CriterionEvidence>,
    /// Criteria that are no longer met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<PlainLine>)]
    pub unmet: Vec<String>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

/// A criterion, and the evidence that it is met.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CriterionEvidence {
    /// The criterion, word by word.
    #[schema(value_type = PlainLine)]
    pub criterion: String,
    /// The evidence: a command and its result, a test, a commit.
    #[schema(value_type = PlainLine)]
    pub evidence: String,
}

/// The members of an intent that callers write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IntentFields {
    /// A short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentName>)]
    pub name: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlainText>)]
    pub description: Option<String>,
    /// Rules for the work: 50 of 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<PlainLine>>, max_items = 50)]
    pub constraints: Option<Vec<String>>,
    /// Patterns of the files that it may change: 64 of 512 bytes. Frozen once it is IN_PROGRESS.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ScopePattern>>, min_items = 1, max_items = 64)]
    pub owned_scope: Option<Vec<String>>,
    /// When it is done: 50 of 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<PlainLine>>, max_items = 50)]
    pub acceptance_criteria: Option<Vec<String>>,
    /// Its limits. Of a budget that is there, raising or removing a limit takes a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetLimits>,
    /// The model that works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    pub assigned_agent: Option<String>,
    /// The branch that it is about; an empty text for every branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BranchOrEvery>)]
    pub branch: Option<String>,
    /// The intent whose scope this one widens; an empty text for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentIdOrNone>)]
    pub supplements: Option<String>,
    /// Specifications: texts, or `{type, value}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<RelatedSpecification>>, max_items = 50)]
    pub related_specs: Option<Vec<Json>>,
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

/// The costs of the work on an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct UsageRequest {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// A tool call that may change something and makes no claim, such as a shell command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCall>,
    /// Tokens of a session, as a running total: a report that is sent twice counts once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<SessionTokens>,
    /// The session of the agent, for the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
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

/// One intent, or why nothing was done with it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IntentResponse {
    /// Whether it was done as asked.
    pub success: bool,
    /// The intent as it is now; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub intent: Option<IntentView>,
    /// The state of the caller.
    pub state: HolderState,
    /// With select, and with `view=context`: the facts that an agent needs before it works on it, as text for its
    /// prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub context: Option<String>,
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

    /// The intents that can be selected, of all listed ones.
    pub fn choice(listed: IntentsResponse) -> Self {
        let reason = match &listed.selected {
            Some(id) => format!("You have selected intent {id}"),
            None => "Select one of the intents, or write a new one".to_owned(),
        };
        IntentResponse {
            context: listed.context,
            ..IntentResponse::new(None, listed.state, Orchestration::new(Action::Proceed, reason))
        }
    }

    /// A refusal by the rules.
    pub fn refusal(
        code: ErrorCode,
        intent: Option<IntentView>,
        state: HolderState,
        orchestration: Orchestration,
    ) -> Self {
        let error = ErrorBody {
            error: code,
            message: String::new(),
            field: None,
        };
        IntentResponse {
            success: false,
            error: Some(error),
            ..IntentResponse::new(intent, state, orchestration)
        }
    }
}

/// The intents of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentId, required = false)]
    pub selected: Option<String>,
    /// With `view=state`: the files that active intents own, by file path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub owners: Option<BTreeMap<String, Vec<String>>>,
    /// With `view=state`: all locks of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub locks: Option<Vec<HeldLock>>,
    /// With `view=context`: the intents that can be selected, as text for an agent's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub context: Option<String>,
    /// Number of intents that are left out, the oldest, because all together are too large.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    pub intents_omitted: u64,
}
