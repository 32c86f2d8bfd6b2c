//! A request at the gate: its intent, and the verdicts on its files.

use crate::config::IntentPolicy;
use crate::registered::Intents;
use crate::scopes::{ScopeCache, ScopeCheck, ScopeVerdicts};
use crate::verdict::IntentVerdict;
use coord_domain::{FilePath, Holder};
use coord_intents_state::intents::ScopeQuestion;
use coord_server::extension::{GateRequest, GateVerdict, GatedFiles, ToolUse};
use coord_state::admission::Question;
use coord_state::locks::{GateFindings, GateRules, GateTerms};

/// The parts of a request that concern intents. Until a script asks for verdicts, they are a guess from the state that
/// this process saw last.
pub(crate) struct IntentGate<'a> {
    request: GatedFiles<'a>,
    tool_use: &'a ToolUse,
    holder: Holder,
    rules: GateRules,
    scopes: &'a ScopeCache,
    scope_verdicts: Option<ScopeVerdicts>,
}

impl<'a> IntentGate<'a> {
    pub fn new(intents: &'a Intents, request: GatedFiles<'a>, holder: Holder, tool_use: &'a ToolUse) -> Self {
        let config = &intents.config;
        let mut gate = IntentGate {
            request,
            tool_use,
            holder,
            rules: GateRules {
                is_required: config.policy == IntentPolicy::Required,
                idle_seconds: config.idle_seconds,
                most_repeats: config.breaker_calls,
            },
            scopes: &intents.scopes,
            scope_verdicts: None,
        };
        gate.scope_verdicts = gate.scopes.guess(&gate.scope_check());
        gate
    }

    fn scope_check(&self) -> ScopeCheck<'_> {
        ScopeCheck {
            repo: self.request.repo,
            branch: self.request.branch,
            holder: &self.holder,
            cited: self.request.intent_id,
            paths: self.request.paths,
        }
    }

    /// Judges the files of `question`, or those of the request if it names none.
    fn judge(&mut self, question: ScopeQuestion) {
        let file_names = question.files.clone();
        let paths: Vec<FilePath> = file_names
            .iter()
            .filter_map(|file| FilePath::parse(file).ok())
            .collect();
        let mut check = self.scope_check();
        if !paths.is_empty() {
            check.paths = &paths;
        }
        let mut scope_verdicts = self.scopes.answer(&check, question, self.scope_verdicts.as_ref());
        scope_verdicts.judgment.files = file_names;
        self.scope_verdicts = Some(scope_verdicts);
    }
}

impl GateRequest for IntentGate<'_> {
    fn terms(&self) -> GateTerms<'_> {
        GateTerms {
            rules: self.rules,
            cited: self.request.intent_id,
            tool: &self.tool_use.tool,
            call: &self.tool_use.digest,
            origin: &self.tool_use.origin,
            judgment: self
                .scope_verdicts
                .as_ref()
                .map(|scope_verdicts| &scope_verdicts.judgment),
        }
    }

    fn answer(&mut self, question: Question) -> Result<(), Question> {
        question
            .of_extension(ScopeQuestion::NAME)
            .map(|question| self.judge(question))
    }

    fn end(self: Box<Self>, findings: &GateFindings) -> GateVerdict {
        if let Some(intent) = &findings.intent {
            self.scopes.note_selected(&self.scope_check(), intent);
        }
        let verdict = IntentVerdict::new(self.request, findings, self.scope_verdicts);
        GateVerdict {
            refusal: findings.refusal().map(|_| verdict.orchestration()),
            warnings: verdict.warnings(),
        }
    }
}
