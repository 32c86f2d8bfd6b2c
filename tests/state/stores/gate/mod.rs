//! The verdicts of intents on claims and checks.

mod budget;
mod costs;
mod handshake;
mod owners;
mod refusals;

use coord_domain::LockMode::Writing;
use coord_intents::intent::{Budget, Intent, Status};
use coord_intents::ledger::Entry;
use coord_intents_state::intents::{
    Criteria, Move, MoveOutcome, SelectOutcome, Selection, StoredIntent, WriteOutcome, WrittenIntent, keys,
    move_intent, select_intent, write_intent,
};
use coord_scopes::Scope;
use coord_state::locks::{ClaimOutcome, GateCode, Survey};

use crate::world::{Agent, World, answered};

const ORIGIN: &str = "\"metadata\":{\"session_id\":\"\",\"contributor\":\"\"},\"trace_id\":\"t";

/// The login whose intents they are.
const OWNER: &str = "ann";

/// An intent with this scope, and perhaps a most of turns.
pub(super) fn intent(id: &str, scope: &str, max_turns: Option<u64>) -> Intent {
    Intent {
        id: id.to_owned(),
        name: format!("What {id} is for"),
        owned_scope: vec![scope.to_owned()],
        budget: max_turns.map(|turns| Budget {
            max_turns: Some(turns),
            ..Budget::default()
        }),
        ..Intent::default()
    }
}

impl World {
    /// Writes an intent, new or changed.
    async fn writes_intent(&self, intent: Intent) {
        let boss = self.agent("boss");
        let registry = boss.registry().await;
        let is_new = !registry.records.contains_key(&intent.id);
        let digest = Scope::parse(&intent.owned_scope).unwrap().digest();
        let stored = StoredIntent {
            intent,
            created_by: OWNER.to_owned(),
            changed_by: None,
        };
        let written = WrittenIntent {
            seen: (!is_new).then_some(registry.version.as_str()),
            stored: &stored,
            digest: &digest,
            is_for_holders: true,
            change: "Written",
            origin: ORIGIN,
            is_person: false,
        };
        let outcome = write_intent(&*self.store, &boss.entry(&[]), &written).await;
        assert!(matches!(answered(outcome.unwrap()), WriteOutcome::Written(_)));
    }

    /// Writes an intent, which begins.
    pub(super) async fn begins(&self, intent: Intent) {
        let id = intent.id.clone();
        self.writes_intent(intent).await;
        self.agent("boss").selects_in_gate(&id).await;
    }

    /// Gives an intent another status.
    async fn moves(&self, id: &str, status: Status) {
        let boss = self.agent("boss");
        let wanted = Move {
            id,
            status,
            is_person: true,
            criteria: Criteria::Met,
            seen: &boss.registry().await.version,
            reason: "Because",
            origin: ORIGIN,
        };
        let outcome = move_intent(&*self.store, &boss.entry(&[]), &wanted).await;
        assert!(matches!(answered(outcome.unwrap()), MoveOutcome::Moved(_)));
    }

    /// The lines of the ledger: intent, state, action, status.
    async fn lines_of_gate(&self) -> Vec<String> {
        let line = |entry: &Entry| {
            let intent = entry.intent_id.as_deref().unwrap_or("-");
            let (action, status) = (entry.action_type.as_str(), entry.result.status.as_str());
            format!("{intent} {} {action} {status}", entry.state.as_str())
        };
        self.lines().await.iter().map(line).collect()
    }

    /// Forgets the lines so far.
    async fn forgets_lines(&self) {
        let ledger = coord_intents_state::ledger::keys::ledger(&self.repo);
        self.command(["DEL", &ledger]).await;
    }

    /// Sets the last activity on the intent to so many milliseconds ago.
    async fn silence(&self, id: &str, milliseconds: i64) {
        let value = format!("0 0 {}", self.now().await * 1000 - milliseconds);
        self.command(["HSET", &keys::intent_use(&self.repo), id, &value]).await;
    }
}

impl Agent<'_> {
    async fn selects_in_gate(&self, id: &str) {
        // The form of this line of the ledger is in `upgrade.json`.
        let selection = Selection {
            id,
            seen: &self.registry().await.version,
            payload: "{}",
            result: r#"{"status":"SUCCESS","output_summary":"Selected"}"#,
            origin: ORIGIN,
        };
        let outcome = select_intent(&*self.world.store, &self.entry(&[]), &selection).await;
        assert!(matches!(answered(outcome.unwrap()), SelectOutcome::Selected(_)));
    }

    /// The handshake: state, and the selected intent.
    async fn session(&self) -> (String, Option<String>) {
        let session = self.world.session(&self.holder).await;
        let text = |member: &str| session[member].as_str().map(str::to_owned);
        (text("state").unwrap_or_default(), text("intent"))
    }

    /// Claims for writing; intents must refuse it. Returns the findings in short.
    pub(super) async fn is_refused_by_gate(&self, paths: &[&str]) -> Vec<String> {
        match self.claim(Writing, paths).await {
            ClaimOutcome::Refused(survey) => found(&survey),
            other => panic!("{other:?}"),
        }
    }
}

/// Returns the findings of intents in short: code, kind, intent, files.
fn found(survey: &Survey) -> Vec<String> {
    let findings = survey.gate.findings.iter();
    let texts = findings.map(|finding| {
        let code = match finding.code {
            GateCode::Refused(code) => code.as_str(),
            GateCode::OwnerIdle => "OWNER_IDLE",
            GateCode::BudgetLow => "BUDGET_LOW",
        };
        let is_sentence = finding.kind.contains(' ');
        let kind = if is_sentence { "..." } else { finding.kind.as_str() };
        let files = finding.files.join(",");
        let words = [code, kind, &finding.intent, &files];
        words
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    });
    texts.collect()
}
