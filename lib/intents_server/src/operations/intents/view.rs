//! An intent on the wire.

use chrono::{DateTime, SecondsFormat};
use coord_protocol::{IntentBudget, IntentView, MetCriterion};
use serde_json::json;

use coord_intents_state::intents::{Owners, Registry, StoredIntent};

/// The intent `id`, of which `registry` has a record. Its text in `stored` may be gone.
pub(super) fn view(id: &str, registry: &Registry, stored: Option<&StoredIntent>, owned_files: u64) -> IntentView {
    let record = &registry.records[id];
    let cost = registry.uses.get(id).copied().unwrap_or_default();
    let empty = StoredIntent::default();
    let stored = stored.unwrap_or(&empty);
    let (intent, author, editor) = (&stored.intent, stored.author(), stored.editor());
    let met = intent.acceptance_criteria.iter().filter_map(|criterion| {
        let met = criterion.met.as_ref()?;
        Some(MetCriterion {
            criterion: criterion.text.clone(),
            by: met.by.clone(),
            at: met.at.clone(),
            evidence: met.evidence.clone(),
        })
    });
    let has_budget = record.max_turns.is_some() || record.max_tokens.is_some();
    let is_used = cost.turns > 0 || cost.other_turns > 0 || cost.tokens > 0;
    IntentView {
        id: id.to_owned(),
        name: intent.name.clone(),
        description: intent.description.clone(),
        status: record.status,
        constraints: intent.constraints.clone(),
        owned_scope: intent.owned_scope.clone(),
        acceptance_criteria: intent.criterion_texts().cloned().collect(),
        budget: (has_budget || is_used).then_some(IntentBudget {
            max_turns: record.max_turns,
            max_tokens: record.max_tokens,
            consumed_turns: cost.turns,
            other_turns: cost.other_turns,
            consumed_tokens: cost.tokens,
        }),
        assigned_agent: intent.assigned_agent.clone(),
        created_at: Some(format_millis(record.created_ms)),
        updated_at: Some(format_millis(record.updated_ms)),
        branch: record.branch.clone(),
        supplements: intent.supplements.clone(),
        related_specs: intent.related_specs.iter().map(|spec| json!(spec)).collect(),
        criteria: met.collect(),
        missing: intent.missing().into_iter().map(str::to_owned).collect(),
        may_overlap: record.may_overlap.clone(),
        author: Some(author.to_owned()).filter(|login| !login.is_empty()),
        editor: Some(editor.to_owned()).filter(|login| login != author && !login.is_empty()),
        reason: record.reason.clone(),
        last_heard: (cost.last_call_ms > 0).then(|| i64::try_from(cost.last_call_ms / 1000).unwrap_or(i64::MAX)),
        owned_files,
    }
}

/// Formats milliseconds since 1970, to the second: `2026-11-22T09:01:12Z`.
pub(super) fn format_millis(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(DateTime::from_timestamp_millis);
    time.unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The number of files that the intent `id` owns.
pub(super) fn owned_file_count(id: &str, owners: &Owners) -> u64 {
    owners
        .values()
        .filter(|owners| owners.iter().any(|owner| owner.intent == id))
        .count() as u64
}
