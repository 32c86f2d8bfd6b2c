//! The effect of intents on a claim or a check in sentences: the reason of a refusal, and warnings.

use coord_protocol::{Action, ErrorCode, Metadata, Orchestration};
use coord_scopes::Verdict;

use crate::scopes::ScopeVerdicts;
use coord_domain::LockMode;
use coord_domain::orchestration::{self, Facts, Operation};
use coord_server::extension::GatedFiles;
use coord_server::operations::sentences::reason_by_login;
use coord_state::locks::{GateCode, GateFinding, GateFindings};

/// The sentence that programs look for if no active intent is cited.
const CITE: &str = "You must cite a valid active Intent ID.";

/// The gate's findings, with the verdicts.
pub(super) struct IntentVerdict<'a> {
    request: GatedFiles<'a>,
    gate: &'a GateFindings,
    scope_verdicts: Option<ScopeVerdicts>,
}

impl<'a> IntentVerdict<'a> {
    pub fn new(request: GatedFiles<'a>, gate: &'a GateFindings, scope_verdicts: Option<ScopeVerdicts>) -> Self {
        IntentVerdict {
            request,
            gate,
            scope_verdicts,
        }
    }

    /// The command for the refusal.
    pub fn orchestration(&self) -> Orchestration {
        let facts = Facts {
            refused: self.gate.refusal(),
            ..Facts::default()
        };
        let action: Action = orchestration::decide(Operation::Claim(LockMode::Writing), facts);
        let reason = self.gate.findings.first().map(|first| match first.code {
            GateCode::Refused(ErrorCode::ScopeViolation) => format!("{}.", self.sentence(first)),
            _ => self.sentence(first),
        });
        Orchestration::new(action, reason.unwrap_or_default()).with(self.metadata())
    }

    fn metadata(&self) -> Metadata {
        let code = self.gate.refusal();
        let with_code = |code: Option<ErrorCode>| {
            let findings = self.gate.findings.iter();
            findings.filter(move |finding| code.is_some_and(|code| finding.code == GateCode::Refused(code)))
        };
        let mut conflicts: Vec<String> = with_code(code).flat_map(|finding| finding.files.clone()).collect();
        conflicts.sort();
        conflicts.dedup();
        Metadata {
            conflicts,
            intent_id: self.gate.intent.clone(),
            owner_intent: with_code(Some(ErrorCode::FileOwned))
                .next()
                .map(|finding| finding.intent.clone()),
            ..Metadata::default()
        }
    }

    /// The findings besides the refusal.
    pub fn warnings(&self) -> Vec<String> {
        let skipped = usize::from(self.gate.refusal().is_some());
        let others = self.gate.findings.iter().skip(skipped);
        others
            .map(|finding| {
                let code = match finding.code {
                    GateCode::Refused(code) => code.as_str(),
                    GateCode::OwnerIdle => "OWNER_IDLE",
                    GateCode::BudgetLow => "BUDGET_LOW",
                };
                format!("{code}: {}.", self.sentence(finding))
            })
            .collect()
    }

    /// A finding's sentence, without the last full stop.
    fn sentence(&self, finding: &GateFinding) -> String {
        let GateFinding {
            kind,
            intent,
            used,
            allowed,
            files,
            by,
            ..
        } = finding;
        let branch = self.request.branch;
        match finding.code {
            GateCode::Refused(ErrorCode::IntentRequired) => format!(
                "{CITE} State Violation: you are in {kind}; select an intent with select_active_intent, or send intent_id"
            ),
            GateCode::Refused(ErrorCode::IntentNotActive) => {
                let why = match kind.as_str() {
                    "UNKNOWN" => format!("There is no intent {intent}"),
                    "PENDING" => format!("Intent {intent} has not begun: select it with select_active_intent"),
                    "CHANGED" => format!(
                        "Intent {intent} was changed since you selected it: select it again with select_active_intent, and \
                 read it"
                    ),
                    "BRANCH" => format!("Intent {intent} is not about branch {branch}"),
                    ended => format!("Intent {intent} is {ended}: you can still push and release your files"),
                };
                format!("{CITE} {why}")
            }
            GateCode::Refused(ErrorCode::IntentBlocked) => {
                let why = reason_by_login(kind, by);
                format!("{CITE} Intent {intent} is BLOCKED{why}: a person has to unblock it")
            }
            GateCode::Refused(ErrorCode::ScopeViolation) => self.scope_violation(intent, files),
            GateCode::Refused(ErrorCode::FileOwned) => {
                format!(
                    "Governance Violation: File owned by Intent [{intent}]: {}",
                    first_file(files)
                )
            }
            GateCode::Refused(ErrorCode::BudgetExhausted) => {
                format!("{kind}. A person has to raise the budget and to unblock the intent")
            }
            GateCode::Refused(_) => format!("{kind}. A person has to unblock the intent"),
            GateCode::OwnerIdle => format!(
                "Intent {intent} owns {} but has been idle for {used} s, so others may claim it",
                first_file(files)
            ),
            GateCode::BudgetLow => {
                let unit = if kind == "TOKENS" { "tokens" } else { "turns" };
                format!("Intent {intent} has used {used} of {allowed} {unit}; finish, or ask a person for more")
            }
        }
    }

    /// Names the first file that the intent may not change, and why.
    fn scope_violation(&self, intent: &str, files: &[String]) -> String {
        let first = files.first().map(String::as_str).unwrap_or_default();
        let verdict = self.scope_verdicts.as_ref().and_then(|scope_verdicts| {
            let index = match scope_verdicts.judgment.files.as_slice() {
                [] => self.request.paths.iter().position(|path| path.as_str() == first),
                files => files.iter().position(|path| path == first),
            };
            scope_verdicts.verdicts.get(index?)
        });
        let why = match verdict {
            Some(Verdict::Ignored(rule)) => format!(". It is ignored ({rule})"),
            Some(Verdict::Reserved(kind)) => format!(". No intent covers it: it is {kind}"),
            _ => String::new(),
        };
        let more = match files.len() {
            0 | 1 => String::new(),
            count => format!(". It is the first of {count} files"),
        };
        format!("Scope Violation: {intent} is not authorized to edit '{first}'. Request scope expansion{why}{more}")
    }
}

/// The first of `files`, and how many there are.
fn first_file(files: &[String]) -> String {
    let first = files.first().map(String::as_str).unwrap_or_default();
    match files.len() {
        0 | 1 => format!("'{first}'"),
        count => format!("'{first}' (the first of {count} files)"),
    }
}
