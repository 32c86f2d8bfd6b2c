//! The intent of a claim or a check, and the verdicts on its files.

use super::tool_use::ToolUse;
use super::work_request::WorkRequest;
use crate::admission::Admission;
use crate::app::App;
use crate::scopes::{ScopeCache, ScopeCheck, ScopeVerdicts};
use coord_domain::{FilePath, Holder};
use coord_settings::IntentPolicy;
use coord_state::admission::ScopeQuestion;
use coord_state::locks::{Gate, GateRules, GateTerms};

/// The parts of a request that concern intents. The judgement is a guess by the state that this process saw last, until
/// a script asks for one.
pub(super) struct GateRequest<'a> {
    request: &'a WorkRequest,
    tool_use: &'a ToolUse,
    holder: Holder,
    rules: GateRules,
    scopes: &'a ScopeCache,
    judged: Option<ScopeVerdicts>,
}

impl<'a> GateRequest<'a> {
    pub fn new(app: &'a App, request: &'a WorkRequest, admission: &Admission<'_>, tool_use: &'a ToolUse) -> Self {
        let mut gate = GateRequest {
            request,
            tool_use,
            holder: admission.holder().clone(),
            rules: GateRules {
                is_required: app.intents.policy == IntentPolicy::Required,
                idle_seconds: app.intents.idle_seconds,
                most_repeats: app.intents.breaker_calls,
            },
            scopes: &app.scopes,
            judged: None,
        };
        gate.judged = gate.scopes.guess(&gate.files());
        gate
    }

    fn files(&self) -> ScopeCheck<'_> {
        ScopeCheck {
            repo: &self.request.repo,
            branch: &self.request.branch,
            holder: &self.holder,
            cited: self.request.intent_id.as_deref(),
            paths: &self.request.paths,
        }
    }

    /// The terms of the next run of the script.
    pub fn terms(&self) -> GateTerms<'_> {
        GateTerms {
            rules: self.rules,
            cited: self.request.intent_id.as_deref(),
            tool: &self.tool_use.tool,
            call: &self.tool_use.digest,
            origin: &self.tool_use.origin,
            judgement: self.judged.as_ref().map(|judged| &judged.judgement),
        }
    }

    /// Judges the files as `question` asks.
    pub fn judge(&mut self, question: ScopeQuestion) {
        let asked = question.files.clone();
        let named: Vec<FilePath> = asked.iter().filter_map(|file| FilePath::parse(file).ok()).collect();
        let files = match named.as_slice() {
            [] => self.files(),
            paths => ScopeCheck { paths, ..self.files() },
        };
        let mut judged = self.scopes.answer(&files, question, self.judged.as_ref());
        judged.judgement.files = asked;
        self.judged = Some(judged);
    }

    /// The verdicts, if the script used them; and notes the outcome.
    pub fn end(self, gate: &Gate) -> Option<ScopeVerdicts> {
        if let Some(intent) = &gate.intent {
            self.scopes.note_selected(&self.files(), intent);
        }
        self.judged
    }
}
