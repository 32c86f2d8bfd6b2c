//! A request before the gate: its intent, and the verdicts on its files.

use crate::config::IntentPolicy;
use crate::registered::Intents;
use crate::scopes::{ScopeCache, ScopeCheck, ScopeVerdicts};
use crate::verdict::IntentVerdict;
use coord_domain::{FilePath, Holder};
use coord_intents_state::intents::ScopeQuestion;
use coord_server::extension::{GateRequest, GateVerdict, GatedFiles, ToolUse};
use coord_state::admission::Question;
use coord_state::locks::{GateFindings, GateRules, GateTerms};

/// The parts of a request that concern intents. The judgement is a guess by the state that this process saw last, until
/// a script asks for one.
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
        gate.scope_verdicts = gate.scopes.guess(&gate.files());
        gate
    }

    fn files(&self) -> ScopeCheck<'_> {
        ScopeCheck {
            repo: self.request.repo,
            branch: self.request.branch,
            holder: &self.holder,
            cited: self.request.intent_id,
            paths: self.request.paths,
        }
    }

    /// Judges the files as `question` asks.
    fn judge(&mut self, question: ScopeQuestion) {
        let file_names = question.files.clone();
        let named: Vec<FilePath> = file_names
            .iter()
            .filter_map(|file| FilePath::parse(file).ok())
            .collect();
        let files = match named.as_slice() {
            [] => self.files(),
            paths => ScopeCheck { paths, ..self.files() },
        };
        let mut scope_verdicts = self.scopes.answer(&files, question, self.scope_verdicts.as_ref());
        scope_verdicts.judgement.files = file_names;
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
            judgement: self
                .scope_verdicts
                .as_ref()
                .map(|scope_verdicts| &scope_verdicts.judgement),
        }
    }

    fn answer(&mut self, question: Question) -> Result<(), Question> {
        question
            .of_extension(ScopeQuestion::NAME)
            .map(|question| self.judge(question))
    }

    fn end(self: Box<Self>, found: &GateFindings) -> GateVerdict {
        if let Some(intent) = &found.intent {
            self.scopes.note_selected(&self.files(), intent);
        }
        let verdict = IntentVerdict::new(self.request, found, self.scope_verdicts);
        GateVerdict {
            refusal: found.refusal().map(|_| verdict.orchestration()),
            warnings: verdict.warnings(),
        }
    }
}
