//! The rules for the files of a check or a claim: intents, and the policy of the branch.

use super::gate_request::GateRequest;
use super::policy_request::PolicyRequest;
use super::tool_use::ToolUse;
use super::work_request::WorkRequest;
use crate::admission::Admission;
use crate::app::App;
use crate::error::ApiError;
use coord_state::admission::Question;

/// The parts of a request that these rules use.
pub(super) struct ClaimRules<'a> {
    pub gate: GateRequest<'a>,
    pub policy: PolicyRequest<'a>,
}

impl<'a> ClaimRules<'a> {
    pub fn new(app: &'a App, request: &'a WorkRequest, admission: &Admission<'_>, tool_use: &'a ToolUse) -> Self {
        ClaimRules {
            gate: GateRequest::new(app, request, admission, tool_use),
            policy: PolicyRequest::new(app, request),
        }
    }

    /// Judges the files as the script asks; other questions are the source's.
    pub async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        match question {
            Question::Scope(question) => self.gate.judge(*question),
            Question::Policy(question) => self.policy.judge(*question),
            question @ (Question::Head(_) | Question::Ancestry(_) | Question::Team { .. }) => {
                return admission.answer(question).await;
            }
        }
        Ok(())
    }
}
