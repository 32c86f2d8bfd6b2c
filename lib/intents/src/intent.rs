//! An intent: its purpose, its scope, its limits, and when it is done.

pub use coord_protocol::{IntentStatus as Status, is_valid_intent_id as is_valid_id};
use serde::{Deserialize, Serialize};

/// The most intents of a repository.
pub const MAX_INTENTS: usize = 1_000;

/// An intent: the members of the original data model in their order, then Coord's. Patterns are not parsed here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Intent {
    /// Its name in keys, files and trailers; see [`is_valid_id`].
    pub id: String,
    /// A short name; empty if missing.
    pub name: String,
    /// The purpose; empty if missing.
    pub description: String,
    pub status: Status,
    /// Rules for the work.
    pub constraints: Vec<String>,
    /// Patterns of the files that the intent may change.
    pub owned_scope: Vec<String>,
    /// When the intent is done.
    pub acceptance_criteria: Vec<Criterion>,
    /// Limits; `None` is unlimited.
    pub budget: Option<Budget>,
    /// The model that works on it.
    pub assigned_agent: Option<String>,
    /// ISO 8601, UTC.
    pub created_at: Option<String>,
    /// ISO 8601, UTC.
    pub updated_at: Option<String>,
    /// The branch of the work; `None` is every branch.
    pub branch: Option<String>,
    /// The id of the intent whose scope this one widens.
    pub supplements: Option<String>,
    pub related_specs: Vec<RelatedSpec>,
}

/// The members that an intent needs before it can be selected.
const REQUIRED_TO_SELECT: [&str; 2] = ["name", "owned_scope"];

impl Intent {
    /// The missing members without which the intent has no meaning, in the order of the model.
    pub fn missing(&self) -> Vec<&'static str> {
        [
            ("name", self.name.is_empty()),
            ("description", self.description.is_empty()),
            ("owned_scope", self.owned_scope.is_empty()),
            ("acceptance_criteria", self.acceptance_criteria.is_empty()),
        ]
        .into_iter()
        .filter_map(|(member, is_missing)| is_missing.then_some(member))
        .collect()
    }

    /// Whether the intent has the members that a selection needs. Does not check its status.
    pub fn is_complete_enough_to_select(&self) -> bool {
        !self.missing().iter().any(|member| REQUIRED_TO_SELECT.contains(member))
    }

    /// The texts of the criteria.
    pub fn criterion_texts(&self) -> impl Iterator<Item = &String> {
        self.acceptance_criteria.iter().map(|criterion| &criterion.text)
    }

    /// Whether each criterion is marked as met.
    pub fn criteria_are_met(&self) -> bool {
        self.acceptance_criteria.iter().all(|criterion| criterion.met.is_some())
    }
}

/// Whether work on the branch `one` and work on the branch `other` have a branch in common; `None` is every branch.
pub fn have_common_branch(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// The people or agents that may make a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionActor {
    /// Anyone with the right to push.
    Anyone,
    /// Anyone once each criterion is met; before that, a person with a reason.
    OnceCriteriaAreMet,
    /// A person, never an agent.
    Person,
}

/// Every permitted transition.
pub const TRANSITIONS: [(Status, Status, TransitionActor); 7] = [
    (Status::Pending, Status::InProgress, TransitionActor::Anyone),
    (Status::Pending, Status::Abandoned, TransitionActor::Anyone),
    (
        Status::InProgress,
        Status::Completed,
        TransitionActor::OnceCriteriaAreMet,
    ),
    (Status::InProgress, Status::Abandoned, TransitionActor::Anyone),
    (Status::InProgress, Status::Blocked, TransitionActor::Anyone),
    (Status::Blocked, Status::InProgress, TransitionActor::Person),
    (Status::Blocked, Status::Abandoned, TransitionActor::Person),
];

impl TransitionActor {
    /// The people or agents that may change the status `before` to `after`; `None` if there is no such transition.
    pub fn of(before: Status, after: Status) -> Option<Self> {
        TRANSITIONS
            .into_iter()
            .find(|&(from, to, _)| (from, to) == (before, after))
            .map(|(_, _, permitted)| permitted)
    }
}

/// The limits of an intent, and how much of them is consumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// The most tool calls; `None` is unlimited.
    pub max_turns: Option<u64>,
    /// The most tokens; `None` is unlimited.
    pub max_tokens: Option<u64>,
    /// Allowed tool calls.
    pub consumed_turns: u64,
    /// Tokens, as agents report them.
    pub consumed_tokens: u64,
}

impl Budget {
    /// Whether a limit is higher than in `before`, or removed.
    pub fn raises_a_limit_of(self, before: Self) -> bool {
        let is_raised = |before: Option<u64>, after: Option<u64>| {
            before.is_some_and(|before| after.is_none_or(|after| after > before))
        };
        is_raised(before.max_turns, self.max_turns) || is_raised(before.max_tokens, self.max_tokens)
    }
}

/// One acceptance criterion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub text: String,
    /// Its proof; `None` while it is not met.
    #[serde(default)]
    pub met: Option<CriterionProof>,
}

impl Criterion {
    /// A criterion that is not met.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            met: None,
        }
    }
}

/// The author, time and evidence of a met criterion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionProof {
    pub by: String,
    /// ISO 8601, UTC.
    pub at: String,
    pub evidence: String,
}

/// A specification that belongs to an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RelatedSpec {
    /// Its name or path.
    Text(String),
    Typed {
        r#type: String,
        value: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_statuses_is_a_listed_transition_or_none() {
        use TransitionActor::{Anyone, OnceCriteriaAreMet, Person};
        // Rows: from; columns: to, both in the order of the model.
        let table = [
            [None, Some(Anyone), None, Some(Anyone), None],
            [None, None, Some(OnceCriteriaAreMet), Some(Anyone), Some(Anyone)],
            [None; 5],
            [None; 5],
            [None, Some(Person), None, Some(Person), None],
        ];
        for (from, row) in Status::ALL.into_iter().zip(table) {
            for (to, permitted) in Status::ALL.into_iter().zip(row) {
                assert_eq!(TransitionActor::of(from, to), permitted, "{from:?} -> {to:?}");
            }
        }
    }

    #[test]
    fn ids_are_short_and_safe_in_a_key() {
        for id in [
            "test-intent-1",
            "REQ-WEATHER-API-001",
            "INT-001",
            "018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10",
            "a",
            "7.x_y",
        ] {
            assert!(is_valid_id(id), "{id}");
        }
        for id in ["", "-a", ".a", "a b", "a:b", "a{b}", "ä", "a\n", &"a".repeat(65)] {
            assert!(!is_valid_id(id), "{id:?}");
        }
    }

    #[test]
    fn json_has_the_names_of_the_seed() {
        let intent: Intent =
            serde_json::from_str(r#"{"id":"a","status":"IN_PROGRESS","budget":{"max_turns":5}}"#).unwrap();
        assert_eq!(intent.status, Status::InProgress);
        assert_eq!(intent.budget.unwrap().max_turns, Some(5));
        assert_eq!(
            intent.missing(),
            ["name", "description", "owned_scope", "acceptance_criteria"]
        );
        assert!(!intent.is_complete_enough_to_select());
    }
}
