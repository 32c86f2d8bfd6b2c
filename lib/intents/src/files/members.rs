//! An intent as members in the order of the file.

use crate::intent::{Budget, Intent, RelatedSpec};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Not written.
    Absent,
    Text(String),
    Number(u64),
    List(Vec<Value>),
    Map(Members),
}

pub(super) type Members = Vec<(&'static str, Value)>;

/// The members of an intent: those of the original data model, then Coord's.
pub(super) fn members(intent: &Intent) -> Members {
    let texts = |texts: &[String]| Value::List(texts.iter().map(|text| Value::Text(text.clone())).collect());
    vec![
        ("id", Value::Text(intent.id.clone())),
        ("name", Value::Text(intent.name.clone())),
        ("description", Value::Text(intent.description.clone())),
        ("status", Value::Text(intent.status.as_str().to_owned())),
        ("constraints", texts(&intent.constraints)),
        ("owned_scope", texts(&intent.owned_scope)),
        (
            "acceptance_criteria",
            Value::List(intent.criterion_texts().cloned().map(Value::Text).collect()),
        ),
        ("budget", budget(intent.budget)),
        ("assigned_agent", text(intent.assigned_agent.as_deref())),
        ("created_at", text(intent.created_at.as_deref())),
        ("updated_at", text(intent.updated_at.as_deref())),
        ("branch", text(intent.branch.as_deref())),
        ("supplements", text(intent.supplements.as_deref())),
        (
            "related_specs",
            unless_empty(intent.related_specs.iter().map(related_spec).collect()),
        ),
        ("criteria", unless_empty(marks(intent))),
    ]
}

fn text(text: Option<&str>) -> Value {
    text.filter(|text| !text.is_empty())
        .map_or(Value::Absent, |text| Value::Text(text.to_owned()))
}

fn unless_empty(items: Vec<Value>) -> Value {
    if items.is_empty() {
        Value::Absent
    } else {
        Value::List(items)
    }
}

fn budget(budget: Option<Budget>) -> Value {
    let Some(budget) = budget.filter(|&budget| budget != Budget::default()) else {
        return Value::Absent;
    };
    let limit = |limit: Option<u64>| limit.map_or(Value::Absent, Value::Number);
    Value::Map(vec![
        ("max_turns", limit(budget.max_turns)),
        ("max_tokens", limit(budget.max_tokens)),
        ("consumed_turns", Value::Number(budget.consumed_turns)),
        ("consumed_tokens", Value::Number(budget.consumed_tokens)),
    ])
}

fn related_spec(spec: &RelatedSpec) -> Value {
    match spec {
        RelatedSpec::Text(text) => Value::Text(text.clone()),
        RelatedSpec::Typed { r#type, value } => Value::Map(vec![
            ("type", Value::Text(r#type.clone())),
            ("value", Value::Text(value.clone())),
        ]),
    }
}

/// The criteria that are met, each with its proof.
fn marks(intent: &Intent) -> Vec<Value> {
    let mark = |criterion: &crate::intent::Criterion| {
        let met = criterion.met.as_ref()?;
        Some(Value::Map(vec![
            ("criterion", Value::Text(criterion.text.clone())),
            ("by", Value::Text(met.by.clone())),
            ("at", Value::Text(met.at.clone())),
            ("evidence", Value::Text(met.evidence.clone())),
        ]))
    };
    intent.acceptance_criteria.iter().filter_map(mark).collect()
}
