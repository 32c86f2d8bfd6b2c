//! What a claim or a check says of intents, and what the gate finds: `includes/gate_request.lua`.

use crate::state::reply::{Reply, arguments};
use crate::store::StoreError;
use coord_protocol::ErrorCode;

/// The rules of intents in this deployment.
#[derive(Clone, Copy, Debug)]
pub struct GateRules {
    /// Whether each claim to write has to cite an intent.
    pub is_required: bool,
    /// Seconds after which an owner that nobody was heard of counts as idle.
    pub idle_seconds: u64,
    /// Identical tool calls in a row that are let in; 0 for any number.
    pub most_repeats: u32,
}

/// What a request says of intents.
#[derive(Clone, Copy, Debug)]
pub struct GateTerms<'a> {
    /// The rules.
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
    pub judgement: Option<&'a Judgement>,
}

impl GateTerms<'_> {
    /// Those of a request that cites no intent, by the default rules.
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
        judgement: None,
    };

    /// The eleven ARGV of `includes/gate_request.lua`.
    pub(in crate::state) fn arguments(&self) -> Vec<Vec<u8>> {
        let none = Judgement::default();
        let judgement = self.judgement.unwrap_or(&none);
        arguments([
            if self.rules.is_required { "required" } else { "optional" },
            self.cited.unwrap_or_default(),
            &self.rules.idle_seconds.saturating_mul(1000).to_string(),
            &self.rules.most_repeats.to_string(),
            self.tool,
            self.call,
            self.origin,
            &judgement.intent,
            &judgement.scope,
            &judgement.ignore,
            &judgement.letters,
        ])
    }
}

/// Whether an intent may change the files of a request, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The intent.
    pub intent: String,
    /// Digest of its scope.
    pub scope: String,
    /// Digest of `.intentignore`; empty where there is none.
    pub ignore: String,
    /// For each file `C`, if it is covered, or another letter.
    pub letters: String,
    /// The files, where the request does not name them.
    pub files: Vec<String>,
}

/// The kind of a [`GateFinding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateCode {
    /// A refusal.
    Refused(ErrorCode),
    /// The files are owned by an intent that nobody was heard of for long.
    OwnerIdle,
    /// Most of the budget is used.
    BudgetLow,
}

/// What intents say of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFinding {
    /// What it is.
    pub code: GateCode,
    /// The state of the holder, the status of the intent (or `UNKNOWN`, `CHANGED`, `BRANCH`), the reason why it is blocked, a
    /// sentence about budget or breaker, `TURNS` or `TOKENS`.
    pub kind: String,
    /// The intent that it is about: the owner, or the one that the request is for.
    pub intent: String,
    /// Turns or tokens, or the seconds for which nobody was heard of.
    pub used: u64,
    /// The limit.
    pub allowed: u64,
    /// The files, where the request does not name them.
    pub files: Vec<String>,
    /// The login that wrote `kind`, where that is the reason of a blocked intent; else empty.
    pub by: String,
}

/// What the gate says of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// The intent that is cited, or that the caller has selected.
    pub intent: Option<String>,
    /// What was found: refusals in their order, then warnings.
    pub findings: Vec<GateFinding>,
}

impl Gate {
    /// The code of the refusal; none if the request passes.
    pub fn refusal(&self) -> Option<ErrorCode> {
        match self.findings.first()?.code {
            GateCode::Refused(code) => Some(code),
            GateCode::OwnerIdle | GateCode::BudgetLow => None,
        }
    }

    pub(super) fn read(reply: &mut Reply) -> Result<Self, StoreError> {
        Ok(Gate {
            intent: reply.optional_text()?,
            findings: reply.tuples(|tuple| {
                Ok(GateFinding {
                    code: match tuple.text()?.as_str() {
                        "INTENT_REQUIRED" => GateCode::Refused(ErrorCode::IntentRequired),
                        "INTENT_NOT_ACTIVE" => GateCode::Refused(ErrorCode::IntentNotActive),
                        "INTENT_BLOCKED" => GateCode::Refused(ErrorCode::IntentBlocked),
                        "SCOPE_VIOLATION" => GateCode::Refused(ErrorCode::ScopeViolation),
                        "FILE_OWNED" => GateCode::Refused(ErrorCode::FileOwned),
                        "BUDGET_EXHAUSTED" => GateCode::Refused(ErrorCode::BudgetExhausted),
                        "CIRCUIT_OPEN" => GateCode::Refused(ErrorCode::CircuitOpen),
                        "OWNER_IDLE" => GateCode::OwnerIdle,
                        "BUDGET_LOW" => GateCode::BudgetLow,
                        _ => return Err(tuple.malformed("an unknown finding of the gate")),
                    },
                    kind: tuple.text()?,
                    intent: tuple.text()?,
                    used: tuple.number()?.unsigned_abs(),
                    allowed: tuple.number()?.unsigned_abs(),
                    files: tuple.texts()?,
                    by: tuple.text()?,
                })
            })?,
        })
    }
}
