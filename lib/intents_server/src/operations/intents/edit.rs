//! The rules for changes of an intent.

use coord_intents::intent::{Budget, Criterion, CriterionProof, Intent, Status};
use coord_protocol::EditIntentRequest;

use super::members;
use coord_server::error::ApiError;

/// Why a change of an intent is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EditRefusal {
    Invalid(ApiError),
    /// This member is frozen once the intent has begun.
    Frozen(&'static str),
    /// Raising or removing a limit of the budget takes a person.
    Person,
}

impl From<ApiError> for EditRefusal {
    fn from(error: ApiError) -> Self {
        EditRefusal::Invalid(error)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EditedIntent {
    pub intent: Intent,
    /// The changed members.
    pub changed: Vec<&'static str>,
    /// Whether the holders that have selected it must select it again.
    pub is_for_holders: bool,
}

/// Changes `before`, which has this status. `met` is the proof for criteria that become met, without the evidence.
pub(super) fn edit(
    before: &Intent,
    status: Status,
    request: &EditIntentRequest,
    is_person: bool,
    met: &CriterionProof,
) -> Result<EditedIntent, EditRefusal> {
    let mut intent = before.clone();
    members::apply_fields(&mut intent, &request.fields)?;
    for proof in &request.met {
        let evidence = members::evidence(&proof.evidence)?;
        criterion(&mut intent, "met", &proof.criterion)?.met = Some(CriterionProof {
            evidence,
            ..met.clone()
        });
    }
    for text in &request.unmet {
        criterion(&mut intent, "unmet", text)?.met = None;
    }
    let has_other_criteria = intent.criterion_texts().ne(before.criterion_texts());
    let members = [
        ("name", intent.name != before.name, true, false),
        ("description", intent.description != before.description, true, false),
        ("constraints", intent.constraints != before.constraints, true, false),
        ("owned_scope", intent.owned_scope != before.owned_scope, true, true),
        ("acceptance_criteria", has_other_criteria, true, false),
        ("budget", limits(&intent) != limits(before), false, false),
        (
            "assigned_agent",
            intent.assigned_agent != before.assigned_agent,
            false,
            false,
        ),
        ("branch", intent.branch != before.branch, true, true),
        ("supplements", intent.supplements != before.supplements, true, true),
        (
            "related_specs",
            intent.related_specs != before.related_specs,
            false,
            false,
        ),
        (
            "criteria",
            !request.met.is_empty() || !request.unmet.is_empty(),
            false,
            false,
        ),
    ];
    let changed = members.iter().filter(|(_, is_changed, ..)| *is_changed);
    if status != Status::Pending {
        if let Some((member, ..)) = changed.clone().find(|(_, _, _, is_frozen)| *is_frozen) {
            return Err(EditRefusal::Frozen(member));
        }
        if limits(&intent).raises_a_limit_of(limits(before)) && !is_person {
            return Err(EditRefusal::Person);
        }
    }
    let is_for_holders = changed.clone().any(|(_, _, is_for_holders, _)| *is_for_holders);
    let changed = changed.map(|(member, ..)| *member).collect();
    Ok(EditedIntent {
        intent,
        changed,
        is_for_holders,
    })
}

fn criterion<'a>(intent: &'a mut Intent, field: &'static str, text: &str) -> Result<&'a mut Criterion, ApiError> {
    let mut criteria = intent.acceptance_criteria.iter_mut();
    criteria.find(|criterion| criterion.text == text).ok_or_else(|| {
        let excerpt = members::excerpt(text);
        ApiError::invalid_field(
            field,
            format!("matches no criterion of the intent word for word: {excerpt}"),
        )
    })
}

fn limits(intent: &Intent) -> Budget {
    intent.budget.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use coord_protocol::{BudgetLimits, CriterionEvidence, IntentFields};

    use super::*;

    fn intent() -> Intent {
        Intent {
            id: "a".to_owned(),
            name: "Pool".to_owned(),
            owned_scope: vec!["src/db/**".to_owned()],
            acceptance_criteria: vec![Criterion::new("Tests pass"), Criterion::new("No new dependency")],
            budget: Some(Budget {
                max_turns: Some(50),
                ..Budget::default()
            }),
            ..Intent::default()
        }
    }

    fn request(set: impl FnOnce(&mut IntentFields)) -> EditIntentRequest {
        let mut request = EditIntentRequest::default();
        set(&mut request.fields);
        request
    }

    fn try_edit(status: Status, request: &EditIntentRequest, is_person: bool) -> Result<EditedIntent, EditRefusal> {
        edit(&intent(), status, request, is_person, &CriterionProof::default())
    }

    #[test]
    fn scope_branch_and_supplements_are_frozen_once_it_has_begun() {
        let x = || "x".to_owned();
        for (member, sent) in [
            ("owned_scope", request(|fields| fields.owned_scope = Some(vec![x()]))),
            ("branch", request(|fields| fields.branch = Some(x()))),
            ("supplements", request(|fields| fields.supplements = Some(x()))),
        ] {
            assert_eq!(try_edit(Status::Pending, &sent, false).unwrap().changed, [member]);
            for status in Status::ALL.into_iter().skip(1) {
                assert_eq!(
                    try_edit(status, &sent, true),
                    Err(EditRefusal::Frozen(member)),
                    "{status:?}"
                );
            }
        }
        // The same scope is no change.
        let same = request(|fields| fields.owned_scope = Some(intent().owned_scope));
        assert_eq!(try_edit(Status::InProgress, &same, false).unwrap().changed, [""; 0]);
    }

    #[test]
    fn raising_a_budget_takes_a_person_and_lowering_it_does_not() {
        for (max_turns, max_tokens, takes_person) in [
            (Some(51), None, true),
            (None, None, true),
            (None, Some(5), true),
            (Some(49), None, false),
            (Some(50), Some(5), false),
        ] {
            let sent = request(|fields| fields.budget = Some(BudgetLimits { max_turns, max_tokens }));
            let edited = try_edit(Status::InProgress, &sent, false);
            assert_eq!(
                edited == Err(EditRefusal::Person),
                takes_person,
                "{max_turns:?} {max_tokens:?}"
            );
            assert!(try_edit(Status::InProgress, &sent, true).is_ok());
            assert!(try_edit(Status::Pending, &sent, false).is_ok());
        }
    }

    #[test]
    fn a_criterion_is_met_by_its_words_and_no_longer_when_these_change() {
        let sent = EditIntentRequest {
            met: vec![CriterionEvidence {
                criterion: "Tests pass".to_owned(),
                evidence: "cargo test: 5 passed".to_owned(),
            }],
            ..EditIntentRequest::default()
        };
        let edited = try_edit(Status::InProgress, &sent, false).unwrap();
        assert!(!edited.is_for_holders);
        let met = edited.intent.acceptance_criteria[0].met.clone().unwrap();
        assert_eq!(met.evidence, "cargo test: 5 passed");
        let (intent, proof) = (edited.intent, CriterionProof::default());
        let with_criteria = |texts: [&str; 2]| {
            let texts = texts.map(str::to_owned).to_vec();
            let sent = request(|fields| fields.acceptance_criteria = Some(texts));
            edit(&intent, Status::InProgress, &sent, false, &proof).unwrap()
        };
        let same = with_criteria(["No new dependency", "Tests pass"]);
        assert!(same.intent.acceptance_criteria[1].met.is_some() && same.is_for_holders);
        let other = with_criteria(["No new dependency", "Tests pass twice"]).intent;
        let mut criteria = other.acceptance_criteria.iter();
        assert!(criteria.all(|criterion| criterion.met.is_none()));
        let unknown = EditIntentRequest {
            unmet: vec!["tests pass".to_owned()],
            ..EditIntentRequest::default()
        };
        assert!(matches!(
            try_edit(Status::InProgress, &unknown, false),
            Err(EditRefusal::Invalid(ApiError::InvalidField { field: "unmet", .. }))
        ));
    }
}
