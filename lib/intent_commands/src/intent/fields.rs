//! Options for the members of an intent.

use clap::Args;
use coord_protocol::{BudgetLimits, IntentFields};
use serde_json::json;

/// A limit of a budget; `None` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit(Option<u64>);

fn parse_limit(text: &str) -> Result<Limit, String> {
    match (text, text.parse()) {
        ("none", _) => Ok(Limit(None)),
        (_, Ok(number)) if number > 0 => Ok(Limit(Some(number))),
        _ => Err("write a whole number of at least 1, or none".to_owned()),
    }
}

/// Members of an intent.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct FieldArgs {
    /// A short name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A pattern of the files that it may change, from the root of the repository; may be repeated
    #[arg(long, value_name = "PATTERN")]
    scope: Vec<String>,
    /// A rule for the work; may be repeated
    #[arg(long, value_name = "TEXT")]
    constraint: Vec<String>,
    /// A criterion of being done; may be repeated
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,
    /// Maximum number of tool calls that may change something; none for no limit
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit)]
    max_turns: Option<Limit>,
    /// Maximum number of tokens; none for no limit
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit)]
    max_tokens: Option<Limit>,
    /// The model that works on it
    #[arg(long, value_name = "MODEL")]
    assigned_agent: Option<String>,
    /// The branch that it is about; an empty text for every branch
    #[arg(long, value_name = "BRANCH")]
    for_branch: Option<String>,
    /// The intent whose scope this one widens; an empty text for none
    #[arg(long, value_name = "ID")]
    supplements: Option<String>,
    /// A specification that it belongs to; may be repeated
    #[arg(long, value_name = "TEXT")]
    related: Vec<String>,
}

impl FieldArgs {
    /// Replaces the members of `fields` for which there are options. If only one limit is an option, the other one
    /// comes from `fields`, or else from `limits`.
    pub(super) fn apply_to(&self, fields: IntentFields, limits: BudgetLimits) -> IntentFields {
        let list = |option: &[String], field: Option<Vec<String>>| match option.is_empty() {
            true => field,
            false => Some(option.to_vec()),
        };
        let text = |option: &Option<String>, field: Option<String>| option.clone().or(field);
        let budget = match (self.max_turns, self.max_tokens) {
            (None, None) => fields.budget,
            (turns, tokens) => {
                let limits = fields.budget.unwrap_or(limits);
                Some(BudgetLimits {
                    max_turns: turns.map_or(limits.max_turns, |limit| limit.0),
                    max_tokens: tokens.map_or(limits.max_tokens, |limit| limit.0),
                })
            }
        };
        IntentFields {
            name: text(&self.name, fields.name),
            description: text(&self.description, fields.description),
            constraints: list(&self.constraint, fields.constraints),
            owned_scope: list(&self.scope, fields.owned_scope),
            acceptance_criteria: list(&self.criterion, fields.acceptance_criteria),
            budget,
            assigned_agent: text(&self.assigned_agent, fields.assigned_agent),
            branch: text(&self.for_branch, fields.branch),
            supplements: text(&self.supplements, fields.supplements),
            related_specs: match self.related.is_empty() {
                true => fields.related_specs,
                false => Some(self.related.iter().map(|text| json!(text)).collect()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_replaces_its_member_and_leaves_the_others() {
        let args = FieldArgs {
            name: Some("New".to_owned()),
            scope: vec!["src/**".to_owned()],
            max_turns: Some(Limit(None)),
            ..FieldArgs::default()
        };
        let fields = IntentFields {
            name: Some("Old".to_owned()),
            description: Some("Why".to_owned()),
            ..IntentFields::default()
        };
        let limits = BudgetLimits {
            max_turns: Some(5),
            max_tokens: Some(7),
        };
        let json = serde_json::to_value(args.apply_to(fields, limits)).unwrap();
        let budget = json!({ "max_turns": null, "max_tokens": 7 });
        assert_eq!(
            json,
            json!({ "name": "New", "description": "Why", "owned_scope": ["src/**"], "budget": budget })
        );
        let none = FieldArgs::default().apply_to(IntentFields::default(), limits);
        assert_eq!(none, IntentFields::default());
    }

    #[test]
    fn a_limit_is_a_number_or_none() {
        assert_eq!(parse_limit("7"), Ok(Limit(Some(7))));
        assert_eq!(parse_limit("none"), Ok(Limit(None)));
        for wrong in ["0", "-1", "", "7k"] {
            assert!(parse_limit(wrong).is_err(), "{wrong}");
        }
    }
}
