//! The members of an intent that callers write: their rules and bounds.

use std::collections::BTreeSet;

use coord_intents::intent::{Budget, Criterion, Intent, RelatedSpec};
use coord_protocol::plain_text::visible_line;
use coord_protocol::{BudgetLimits, IntentFields};
use coord_scopes::{Refusal, Scope};
use serde_json::Value as Json;

use super::intent_caller::id_in;
use super::origin::check_length;
use coord_domain::{Branch, is_plain_text, plain_text};
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, line};

/// The most constraints, criteria and specifications.
const MAX_ITEMS: usize = 50;

/// The most characters of one of these, and of a piece of evidence.
const MAX_ITEM_CHARS: usize = 500;

/// The most characters of a name.
const MAX_NAME_CHARS: usize = 200;

/// The most bytes of an intent as JSON.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// The highest limit of a budget.
const MAX_LIMIT: u64 = 1_000_000_000_000;

/// Replaces the members of `intent` that are in `fields`. Criteria with the same text stay met.
pub(super) fn apply_fields(intent: &mut Intent, fields: &IntentFields) -> Result<(), ApiError> {
    if let Some(name) = &fields.name {
        intent.name = line("name", name, MAX_NAME_CHARS)?;
    }
    if let Some(description) = &fields.description {
        if !is_plain_text(description) {
            return Err(ApiError::invalid_field("description", "has invisible characters"));
        }
        intent.description.clone_from(description);
    }
    if let Some(constraints) = &fields.constraints {
        intent.constraints = distinct_lines("constraints", constraints)?;
    }
    if let Some(scope) = &fields.owned_scope {
        parse_scope(scope)?;
        intent.owned_scope.clone_from(scope);
    }
    if let Some(criteria) = &fields.acceptance_criteria {
        let criteria = distinct_lines("acceptance_criteria", criteria)?;
        let before = std::mem::take(&mut intent.acceptance_criteria);
        let keep_or_add = |text: String| {
            let criterion = before.iter().find(|criterion| criterion.text == text).cloned();
            criterion.unwrap_or_else(|| Criterion::new(text))
        };
        intent.acceptance_criteria = criteria.into_iter().map(keep_or_add).collect();
    }
    if let Some(limits) = &fields.budget {
        intent.budget = budget(limits)?;
    }
    if let Some(agent) = &fields.assigned_agent {
        intent.assigned_agent = Some(check_length("assigned_agent", agent)?).filter(|agent| !agent.is_empty());
    }
    if let Some(branch) = &fields.branch {
        intent.branch = match branch.as_str() {
            "" => None,
            name => Some(Branch::parse(name).map_err(in_field("branch"))?.to_string()),
        };
    }
    if let Some(supplements) = &fields.supplements {
        intent.supplements = match supplements.as_str() {
            "" => None,
            id => Some(id_in("supplements", id)?.to_owned()),
        };
    }
    if let Some(specs) = &fields.related_specs {
        intent.related_specs = related_specs(specs)?;
    }
    Ok(())
}

pub(super) fn parse_scope(scope: &[String]) -> Result<Scope, ApiError> {
    const FIELD: &str = "owned_scope";
    if let Some(index) = scope
        .iter()
        .position(|pattern| visible_line(pattern) != pattern.as_str())
    {
        let problem = format!("has line ends or invisible characters in pattern {}", index + 1);
        return Err(ApiError::invalid_field(FIELD, problem));
    }
    Scope::parse(scope).map_err(|refusal| {
        let problem = match refusal {
            Refusal::List(problem) => problem.to_string(),
            pattern_refusal => format!("is refused: {pattern_refusal}"),
        };
        ApiError::invalid_field(FIELD, problem)
    })
}

/// The digest of the scope; empty if there is none.
pub(super) fn digest_of(intent: &Intent) -> Result<String, ApiError> {
    match intent.owned_scope.as_slice() {
        [] => Ok(String::new()),
        scope => Ok(parse_scope(scope)?.digest()),
    }
}

/// Evidence that a criterion is met.
pub(super) fn evidence(text: &str) -> Result<String, ApiError> {
    line("met", text, MAX_ITEM_CHARS)
}

fn distinct_lines(field: &'static str, texts: &[String]) -> Result<Vec<String>, ApiError> {
    check_count(field, texts.len())?;
    let mut seen = BTreeSet::new();
    for text in texts {
        line(field, text, MAX_ITEM_CHARS)?;
        if !seen.insert(text) {
            return Err(ApiError::invalid_field(field, format!("contains a text twice: {text}")));
        }
    }
    Ok(texts.to_vec())
}

fn check_count(field: &'static str, count: usize) -> Result<(), ApiError> {
    if count > MAX_ITEMS {
        let problem = format!("has {count} texts; send {MAX_ITEMS} at most");
        return Err(ApiError::invalid_field(field, problem));
    }
    Ok(())
}

fn budget(limits: &BudgetLimits) -> Result<Option<Budget>, ApiError> {
    let BudgetLimits { max_turns, max_tokens } = *limits;
    for limit in [max_turns, max_tokens].into_iter().flatten() {
        if !(1..=MAX_LIMIT).contains(&limit) {
            let problem = format!("has a limit that is not from 1 to {MAX_LIMIT}; send null for none");
            return Err(ApiError::invalid_field("budget", problem));
        }
    }
    let has_limit = max_turns.is_some() || max_tokens.is_some();
    Ok(has_limit.then(|| Budget {
        max_turns,
        max_tokens,
        ..Budget::default()
    }))
}

fn related_specs(specs: &[Json]) -> Result<Vec<RelatedSpec>, ApiError> {
    const FIELD: &str = "related_specs";
    check_count(FIELD, specs.len())?;
    let parse = |json: &Json| {
        let spec: RelatedSpec = serde_json::from_value(json.clone())
            .map_err(|_| ApiError::invalid_field(FIELD, "must have texts, or objects with the texts type and value"))?;
        match &spec {
            RelatedSpec::Text(text) => line(FIELD, text, MAX_ITEM_CHARS)?,
            RelatedSpec::Typed { r#type, value } => {
                line(FIELD, r#type, MAX_ITEM_CHARS)?;
                line(FIELD, value, MAX_ITEM_CHARS)?
            }
        };
        Ok(spec)
    };
    specs.iter().map(parse).collect()
}

/// The beginning of a caller's text, for an error.
pub(super) fn excerpt(text: &str) -> String {
    plain_text(&text.chars().take(80).collect::<String>())
}
