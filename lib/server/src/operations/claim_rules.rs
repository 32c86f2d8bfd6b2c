//! The rules for the files of a check or a claim: the gate, and the policy of the branch.

use coord_protocol::{AgentSession, ToolCall};

use super::policy_request::PolicyRequest;
use super::work_request::WorkRequest;
use crate::admission::Admission;
use crate::app::App;
use crate::error::ApiError;
use crate::extension::{GateRequest, GateVerdict, ToolUse};
use coord_state::admission::Question;
use coord_state::locks::{GateFindings, GateTerms, PolicyTerms};

/// Parses the tool call that a request is for, and the agent's session, for the gate.
///
/// # Errors
/// When a text is missing or too long.
pub fn parse_tool_use(app: &App, call: Option<&ToolCall>, session: Option<&AgentSession>) -> Result<ToolUse, ApiError> {
    match app.extensions.gate() {
        Some(gate) => gate.tool_use(call, session),
        None => Ok(ToolUse::default()),
    }
}

/// The rules for the files of one request.
pub struct ClaimRules<'a> {
    gate: Option<Box<dyn GateRequest + 'a>>,
    pub(super) policy: PolicyRequest<'a>,
}

impl<'a> ClaimRules<'a> {
    pub fn new(app: &'a App, request: &'a WorkRequest, admission: &Admission<'_>, tool_use: &'a ToolUse) -> Self {
        let gate = app.extensions.gate();
        ClaimRules {
            gate: gate.map(|gate| gate.begin(request.gated_files(), admission.holder().clone(), tool_use)),
            policy: PolicyRequest::new(app, request),
        }
    }

    /// The terms of the gate in the next run of the script.
    pub fn gate_terms(&self) -> GateTerms<'_> {
        self.gate.as_ref().map_or(GateTerms::NONE, |gate| gate.terms())
    }

    /// The terms of the policy in the next run of the script.
    pub fn policy_terms(&self) -> &PolicyTerms {
        &self.policy.terms
    }

    /// The findings of the gate, in words, and the policy.
    pub(super) fn end_gate(self, findings: &GateFindings) -> (GateVerdict, PolicyRequest<'a>) {
        let verdict = self.gate.map(|gate| gate.end(findings));
        (verdict.unwrap_or_default(), self.policy)
    }

    /// Judges the files as the script asks. The source answers other questions.
    ///
    /// # Errors
    /// When the source does not respond, or the question cannot be answered.
    pub async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        let question = match (question, &mut self.gate) {
            (Question::Policy(question), _) => {
                self.policy.judge(*question);
                return Ok(());
            }
            (question @ Question::Extension { .. }, Some(gate)) => match gate.answer(question) {
                Ok(()) => return Ok(()),
                Err(question) => question,
            },
            (question, _) => question,
        };
        admission.answer(question).await
    }
}
