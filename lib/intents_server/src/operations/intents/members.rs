//! The members of an intent, as callers write them: their rules and bounds.

use std::collections::BTreeSet;

use coord_intents::intent::{Budget, Criterion, Intent, RelatedSpec};
use coord_protocol::plain_text::shown_line;
use coord_protocol::{BudgetLimits, IntentFields};
use coord_scopes::{Refusal, Scope};
use serde_json::Value as Json;

use super::intent_caller::id_in;
use super::origin::check_length;
use coord_domain::{Branch, is_plain_text, plain_text};
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, line};

/// Most constraints, criteria and specifications.
const MOST_ITEMS: usize = 50;

/// Most characters of one of these, and of a piece of evidence.
const MOST_ITEM_CHARS: usize = 500;

/// Most characters of a name.
const MOST_NAME_CHARS: usize = 200;

/// Most bytes of an intent as JSON.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// Most that a limit of a budget may be.
const MOST_LIMIT: u64 = 1_000_000_000_000;

/// Puts the members that were sent in the place of those of `intent`. Criteria with the same words stay met.
pub(super) fn put(intent: &mut Intent, sent: &IntentFields) -> Result<(), ApiError> {
    if let Some(name) = &sent.name {
        intent.name = line("name", name, MOST_NAME_CHARS)?;
    }
    if let Some(description) = &sent.description {
        intent.description = paragraphs("description", description)?;
    }
    if let Some(constraints) = &sent.constraints {
        intent.constraints = lines("constraints", constraints)?;
    }
    if let Some(scope) = &sent.owned_scope {
        parse_scope(scope)?;
        intent.owned_scope.clone_from(scope);
    }
    if let Some(criteria) = &sent.acceptance_criteria {
        let criteria = lines("acceptance_criteria", criteria)?;
        let before = std::mem::take(&mut intent.acceptance_criteria);
        let same = |text: String| {
            let known = before.iter().find(|criterion| criterion.text == text).cloned();
            known.unwrap_or_else(|| Criterion::new(text))
        };
        intent.acceptance_criteria = criteria.into_iter().map(same).collect();
    }
    if let Some(limits) = &sent.budget {
        intent.budget = budget(limits)?;
    }
    if let Some(agent) = &sent.assigned_agent {
        intent.assigned_agent = Some(check_length("assigned_agent", agent)?).filter(|agent| !agent.is_empty());
    }
    if let Some(branch) = &sent.branch {
        intent.branch = match branch.as_str() {
            "" => None,
            name => Some(Branch::parse(name).map_err(in_field("branch"))?.to_string()),
        };
    }
    if let Some(supplements) = &sent.supplements {
        intent.supplements = match supplements.as_str() {
            "" => None,
            id => Some(id_in("supplements", id)?.to_owned()),
        };
    }
    if let Some(specs) = &sent.related_specs {
        intent.related_specs = related_specs(specs)?;
    }
    Ok(())
}

/// The scope, or the error of one that is refused.
pub(super) fn parse_scope(scope: &[String]) -> Result<Scope, ApiError> {
    const FIELD: &str = "owned_scope";
    if let Some(place) = scope.iter().position(|pattern| shown_line(pattern) != pattern.as_str()) {
        return Err(ApiError::InvalidField {
            field: FIELD,
            problem: format!("has line ends or invisible characters in pattern {}", place + 1),
        });
    }
    Scope::parse(scope).map_err(|refusal| {
        let problem = match refusal {
            Refusal::List(problem) => problem.to_string(),
            about_pattern => format!("is refused: {about_pattern}"),
        };
        ApiError::InvalidField { field: FIELD, problem }
    })
}

/// The digest of the scope; empty without one.
pub(super) fn digest_of(intent: &Intent) -> Result<String, ApiError> {
    match intent.owned_scope.as_slice() {
        [] => Ok(String::new()),
        scope => Ok(parse_scope(scope)?.digest()),
    }
}

/// Evidence that a criterion is met.
pub(super) fn evidence(text: &str) -> Result<String, ApiError> {
    line("met", text, MOST_ITEM_CHARS)
}

fn lines(field: &'static str, sent: &[String]) -> Result<Vec<String>, ApiError> {
    check_most(field, sent.len())?;
    let mut seen = BTreeSet::new();
    for text in sent {
        line(field, text, MOST_ITEM_CHARS)?;
        if !seen.insert(text) {
            return Err(ApiError::InvalidField {
                field,
                problem: format!("has a text twice: {text}"),
            });
        }
    }
    Ok(sent.to_vec())
}

fn check_most(field: &'static str, count: usize) -> Result<(), ApiError> {
    if count > MOST_ITEMS {
        return Err(ApiError::InvalidField {
            field,
            problem: format!("has {count} texts; send {MOST_ITEMS} at most"),
        });
    }
    Ok(())
}

/// Text of several lines.
fn paragraphs(field: &'static str, text: &str) -> Result<String, ApiError> {
    if is_plain_text(text) {
        return Ok(text.to_owned());
    }
    Err(ApiError::InvalidField {
        field,
        problem: "has invisible characters".to_owned(),
    })
}

fn budget(limits: &BudgetLimits) -> Result<Option<Budget>, ApiError> {
    let BudgetLimits { max_turns, max_tokens } = *limits;
    for limit in [max_turns, max_tokens].into_iter().flatten() {
        if !(1..=MOST_LIMIT).contains(&limit) {
            return Err(ApiError::InvalidField {
                field: "budget",
                problem: format!("has a limit that is not from 1 to {MOST_LIMIT}; send null for none"),
            });
        }
    }
    let has_limit = max_turns.is_some() || max_tokens.is_some();
    Ok(has_limit.then(|| Budget {
        max_turns,
        max_tokens,
        ..Budget::default()
    }))
}

fn related_specs(sent: &[Json]) -> Result<Vec<RelatedSpec>, ApiError> {
    const FIELD: &str = "related_specs";
    check_most(FIELD, sent.len())?;
    let spec = |sent: &Json| {
        let spec: RelatedSpec = serde_json::from_value(sent.clone()).map_err(|_| ApiError::InvalidField {
            field: FIELD,
            problem: "must have texts, or objects with the texts type and value".to_owned(),
        })?;
        match &spec {
            RelatedSpec::Text(text) => line(FIELD, text, MOST_ITEM_CHARS)?,
            RelatedSpec::Typed { r#type, value } => {
                line(FIELD, r#type, MOST_ITEM_CHARS)?;
                line(FIELD, value, MOST_ITEM_CHARS)?
            }
        };
        Ok(spec)
    };
    sent.iter().map(spec).collect()
}

/// The beginning of a text that was sent, for an error.
pub(super) fn excerpt(text: &str) -> String {
    plain_text(&text.chars().take(80).collect::<String>())
}
