//! The terms of intents in a claim or a check, and the gate's findings: `modules/gate_request.lua`.

use coord_protocol::ErrorCode;
use serde::{Deserialize, Serialize};

use crate::admission::{RepositoryUses, is_false};

/// The rules of intents in this deployment.
#[derive(Clone, Copy, Debug)]
pub struct GateRules {
    /// Whether each claim for writing must cite an intent.
    pub is_required: bool,
    /// Seconds without a call after which an owner counts as idle.
    pub idle_seconds: u64,
    /// Identical tool calls in a row that are allowed; 0 for any number.
    pub most_repeats: u32,
}

/// The terms of intents in a request.
#[derive(Clone, Copy, Debug)]
pub struct GateTerms<'a> {
    pub rules: GateRules,
    /// The intent that is cited.
    pub cited: Option<&'a str>,
    /// Name of the tool that is called.
    pub tool: &'a str,
    /// Digest of the tool and its input; empty where there is no call.
    pub call: &'a str,
    /// The members `metadata` and `trace_id` of lines of the ledger, the latter without its last quote.
    pub origin: &'a str,
    /// Whether the intent may change the files, if that is known.
    pub judgment: Option<&'a Judgment>,
}

impl GateTerms<'_> {
    /// The terms of a request that cites no intent, by the default rules.
    pub const NONE: GateTerms<'static> = GateTerms {
        rules: GateRules {
            is_required: false,
            idle_seconds: 28_800,
            most_repeats: 3,
        },
        cited: None,
        tool: "",
        call: "",
        origin: "\"metadata\":{\"session_id\":\"\",\"contributor\":\"\"},\"trace_id\":\"none",
        judgment: None,
    };

    /// Whether a request needs these terms even if the repository is not known to use intents.
    pub(super) fn is_needed(&self) -> bool {
        self.rules.is_required || self.cited.is_some()
    }

    /// The field `gate` of a request.
    pub fn to_args(&self) -> GateArgs<'_> {
        GateArgs {
            is_required: self.rules.is_required,
            cited: self.cited,
            idle_ms: self.rules.idle_seconds.saturating_mul(1000),
            most_repeats: self.rules.most_repeats,
            call: (!self.call.is_empty()).then_some(ToolCallArgs {
                name: self.tool,
                digest: self.call,
            }),
            origin: self.origin,
            judged: self.judgment,
        }
    }
}

/// Arguments of `modules/gate_request.lua`.
#[derive(Serialize)]
pub struct GateArgs<'a> {
    #[serde(skip_serializing_if = "is_false")]
    is_required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cited: Option<&'a str>,
    idle_ms: u64,
    most_repeats: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<ToolCallArgs<'a>>,
    origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a Judgment>,
}

/// A call of a tool, in the arguments of a script.
#[derive(Serialize)]
pub struct ToolCallArgs<'a> {
    pub name: &'a str,
    /// Digest of the tool and its input.
    pub digest: &'a str,
}

/// Whether an intent may change the files of a request, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judgment {
    pub intent: String,
    /// Digest of its scope.
    pub scope: String,
    /// Digest of `.intentignore`; empty where there is none.
    pub ignore: String,
    /// For each file `C`, if it is covered, or another letter.
    pub letters: String,
    /// The files, where the request does not name them.
    #[serde(skip)]
    pub files: Vec<String>,
}

/// The kind of a [`GateFinding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "RawGateCode")]
pub enum GateCode {
    Refused(ErrorCode),
    /// The files are owned by an intent that has been idle for long.
    OwnerIdle,
    /// Most of the budget is used.
    BudgetLow,
}

/// A finding of intents about a request, as `intents/modules/gate.lua` makes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GateFinding {
    pub code: GateCode,
    /// The state of the holder, the status of the intent (or `UNKNOWN`, `CHANGED`, `BRANCH`), the reason why it is blocked, a
    /// sentence about budget or breaker, `TURNS` or `TOKENS`.
    pub kind: String,
    /// The owner of the files, or the intent that the request is for.
    pub intent: String,
    /// Turns or tokens, or the seconds since the last call.
    #[serde(default)]
    pub used: u64,
    #[serde(default)]
    pub allowed: u64,
    /// The files, if the request does not name them.
    #[serde(default)]
    pub files: Vec<String>,
    /// The login that wrote `kind`, if that is the reason of a blocked intent; else empty.
    #[serde(default)]
    pub by: String,
}

/// The gate's verdict on a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateFindings {
    /// The intent that is cited, or that the caller has selected.
    pub intent: Option<String>,
    /// Refusals in order, then warnings.
    pub findings: Vec<GateFinding>,
}

impl GateFindings {
    /// Records in `uses` that the repository uses intents, if an intent was found.
    pub(super) fn record_uses(&self, uses: &RepositoryUses) {
        if self.intent.is_some() {
            uses.set_uses_all();
        }
    }

    /// The code of the refusal; none if the request passes.
    pub fn refusal(&self) -> Option<ErrorCode> {
        match self.findings.first()?.code {
            GateCode::Refused(code) => Some(code),
            GateCode::OwnerIdle | GateCode::BudgetLow => None,
        }
    }
}

/// A [`GateCode`] as `intents/modules/gate.lua` writes it.
#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum RawGateCode {
    IntentRequired,
    IntentNotActive,
    IntentBlocked,
    ScopeViolation,
    FileOwned,
    BudgetExhausted,
    CircuitOpen,
    OwnerIdle,
    BudgetLow,
}

impl From<RawGateCode> for GateCode {
    fn from(code: RawGateCode) -> Self {
        match code {
            RawGateCode::IntentRequired => GateCode::Refused(ErrorCode::IntentRequired),
            RawGateCode::IntentNotActive => GateCode::Refused(ErrorCode::IntentNotActive),
            RawGateCode::IntentBlocked => GateCode::Refused(ErrorCode::IntentBlocked),
            RawGateCode::ScopeViolation => GateCode::Refused(ErrorCode::ScopeViolation),
            RawGateCode::FileOwned => GateCode::Refused(ErrorCode::FileOwned),
            RawGateCode::BudgetExhausted => GateCode::Refused(ErrorCode::BudgetExhausted),
            RawGateCode::CircuitOpen => GateCode::Refused(ErrorCode::CircuitOpen),
            RawGateCode::OwnerIdle => GateCode::OwnerIdle,
            RawGateCode::BudgetLow => GateCode::BudgetLow,
        }
    }
}
