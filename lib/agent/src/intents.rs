//! Converts intents in responses into intents in files, and the members that differ into a request.

use coord_intents::intent::{Budget, Criterion, CriterionProof, Intent, RelatedSpec, Status};
use coord_protocol::{BudgetLimits, IntentFields, IntentView};
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// The intent in files for an intent in responses.
pub fn intent(view: &IntentView) -> Intent {
    let criterion = |text: &String| {
        let proof = view.criteria.iter().find(|proof| proof.criterion == *text);
        Criterion {
            text: text.clone(),
            met: proof.map(|proof| CriterionProof {
                by: proof.by.clone(),
                at: proof.at.clone(),
                evidence: proof.evidence.clone(),
            }),
        }
    };
    Intent {
        id: view.id.clone(),
        name: view.name.clone(),
        description: view.description.clone(),
        status: view.status,
        constraints: view.constraints.clone(),
        owned_scope: view.owned_scope.clone(),
        acceptance_criteria: view.acceptance_criteria.iter().map(criterion).collect(),
        budget: view.budget.map(|budget| Budget {
            max_turns: budget.max_turns,
            max_tokens: budget.max_tokens,
            consumed_turns: budget.consumed_turns,
            consumed_tokens: budget.consumed_tokens,
        }),
        assigned_agent: view.assigned_agent.clone(),
        created_at: view.created_at.clone(),
        updated_at: view.updated_at.clone(),
        branch: view.branch.clone(),
        supplements: view.supplements.clone(),
        related_specs: view
            .related_specs
            .iter()
            .filter_map(|spec| RelatedSpec::deserialize(spec).ok())
            .collect(),
    }
}

/// The members of `wanted` that differ from those of `stored`, as an edit. `stored` is empty for a new intent.
pub fn differences(stored: &Intent, wanted: &Intent) -> IntentFields {
    fn changed<T: PartialEq + Clone>(stored: &T, wanted: &T) -> Option<T> {
        (stored != wanted).then(|| wanted.clone())
    }
    let texts = |intent: &Intent| -> Vec<String> { intent.criterion_texts().cloned().collect() };
    // An empty text in a request removes the member.
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let specs = |intent: &Intent| -> Vec<Json> { intent.related_specs.iter().map(|spec| json!(spec)).collect() };
    IntentFields {
        name: changed(&stored.name, &wanted.name),
        description: changed(&stored.description, &wanted.description),
        constraints: changed(&stored.constraints, &wanted.constraints),
        owned_scope: changed(&stored.owned_scope, &wanted.owned_scope),
        acceptance_criteria: changed(&texts(stored), &texts(wanted)),
        budget: changed(&limits(stored), &limits(wanted)),
        assigned_agent: changed(&text(&stored.assigned_agent), &text(&wanted.assigned_agent)),
        branch: changed(&text(&stored.branch), &text(&wanted.branch)),
        supplements: changed(&text(&stored.supplements), &text(&wanted.supplements)),
        related_specs: changed(&specs(stored), &specs(wanted)),
    }
}

/// The limits of the intent's budget.
pub fn limits(intent: &Intent) -> BudgetLimits {
    let budget = intent.budget.unwrap_or_default();
    BudgetLimits {
        max_turns: budget.max_turns,
        max_tokens: budget.max_tokens,
    }
}

/// Whether `wanted` raises or removes a limit of an intent that is not pending. Only a person may do that.
pub fn raises_a_limit(stored: &Intent, wanted: BudgetLimits) -> bool {
    let budget = stored.budget.unwrap_or_default();
    let wanted = Budget {
        max_turns: wanted.max_turns,
        max_tokens: wanted.max_tokens,
        ..budget
    };
    stored.status != Status::Pending && wanted.raises_a_limit_of(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> Intent {
        serde_json::from_value(json!({
            "id": "INT-001", "name": "Pool", "status": "IN_PROGRESS", "owned_scope": ["src/db.ts"], "branch": "main",
            "acceptance_criteria": [{ "text": "Tests pass", "met": { "by": "ada", "at": "", "evidence": "" } }],
            "budget": { "max_turns": 50, "consumed_turns": 12 },
        }))
        .unwrap()
    }

    #[test]
    fn only_what_differs_is_sent() {
        let same = differences(&stored(), &stored());
        assert_eq!(same, IntentFields::default());
        let mut wanted = stored();
        wanted.description = "Why".to_owned();
        wanted.branch = None;
        wanted.acceptance_criteria[0].met = None;
        wanted.budget = Some(Budget {
            consumed_turns: 0,
            ..stored().budget.unwrap()
        });
        let sent = serde_json::to_value(differences(&stored(), &wanted)).unwrap();
        assert_eq!(sent, json!({ "description": "Why", "branch": "" }));
    }

    #[test]
    fn a_raised_or_removed_limit_takes_a_person_once_the_intent_has_begun() {
        let raises = |max_turns| {
            let limits = BudgetLimits {
                max_turns,
                max_tokens: Some(1),
            };
            raises_a_limit(&stored(), limits)
        };
        assert_eq!(
            [Some(50), Some(49), Some(51), None].map(raises),
            [false, false, true, true]
        );
        let pending = Intent {
            status: Status::Pending,
            ..stored()
        };
        assert!(!raises_a_limit(&pending, BudgetLimits::default()));
    }

    #[test]
    fn an_intent_keeps_the_fields_of_its_view() {
        let view: IntentView = serde_json::from_value(json!({
            "id": "INT-001", "name": "Pool", "description": "", "status": "BLOCKED", "constraints": [],
            "owned_scope": ["src/**"], "acceptance_criteria": ["Tests pass"],
            "criteria": [
                { "criterion": "Tests pass", "by": "ada", "at": "2026-11-22T09:00:00.000Z", "evidence": "CI" },
            ],
            "related_specs": ["S001", { "type": "adr", "value": "7" }],
        }))
        .unwrap();
        let intent = intent(&view);
        assert_eq!(intent.status, Status::Blocked);
        assert!(intent.criteria_are_met());
        assert_eq!(
            json!(intent.related_specs),
            json!(["S001", { "type": "adr", "value": "7" }])
        );
    }
}
