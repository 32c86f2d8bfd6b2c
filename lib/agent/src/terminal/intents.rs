//! Formats intents for a terminal.

use anstyle::Style;
use coord_protocol::plain_text::{quote_line, quote_lines};
use coord_protocol::{IntentStatus, IntentView};

use crate::terminal::output::{BAD, CAUTION, FAINT, GOOD, STRONG, styled};
use crate::terminal::table::{Column, Cut, render};
use crate::terminal::times::duration;

const COLUMNS: [Column; 7] = [
    Column::new("INTENT", Cut::End, 12),
    Column::new("STATUS", Cut::Never, 0),
    Column::new("CRITERIA", Cut::Never, 0),
    Column::new("BUDGET", Cut::Never, 0),
    Column::new("FILES", Cut::Never, 0),
    Column::new("BY", Cut::End, 8),
    Column::new("NAME", Cut::End, 12),
];

/// A table with a line for each intent. The `selected` intent has a star.
pub fn table(intents: &[IntentView], selected: Option<&str>, width: Option<usize>) -> String {
    let row = |view: &IntentView| {
        let star = if selected == Some(view.id.as_str()) { "*" } else { "" };
        let met = view.criteria.len();
        let criteria = match view.acceptance_criteria.len() {
            0 => "-".to_owned(),
            total => format!("{met}/{total}"),
        };
        let cells = [
            format!("{}{star}", view.id),
            view.status.as_str().to_owned(),
            criteria,
            budget(view).unwrap_or_else(|| "-".to_owned()),
            view.owned_files.to_string(),
            view.editor
                .as_ref()
                .or(view.author.as_ref())
                .cloned()
                .unwrap_or_default(),
            name(view),
        ];
        (style(view.status), cells.to_vec())
    };
    render(&COLUMNS, &intents.iter().map(row).collect::<Vec<_>>(), width)
}

fn style(status: IntentStatus) -> Style {
    match status {
        IntentStatus::InProgress => GOOD,
        IntentStatus::Blocked => BAD,
        IntentStatus::Pending => CAUTION,
        IntentStatus::Completed | IntentStatus::Abandoned => FAINT,
    }
}

/// The quoted name of the intent, and its missing members.
fn name(view: &IntentView) -> String {
    let mut parts = Vec::new();
    if !view.name.is_empty() {
        parts.push(quote_line(&view.name));
    }
    if !view.missing.is_empty() {
        parts.push(format!("(missing: {})", view.missing.join(", ")));
    }
    parts.join(" ")
}

/// The consumed turns and tokens, and their limits. `None` if there are no limits.
fn budget(view: &IntentView) -> Option<String> {
    let budget = view.budget?;
    let usage = |consumed: u64, limit: Option<u64>, unit: &str| limit.map(|limit| format!("{consumed}/{limit} {unit}"));
    let usages = [
        usage(budget.consumed_turns, budget.max_turns, "turns"),
        usage(budget.consumed_tokens, budget.max_tokens, "tokens"),
    ];
    let usages: Vec<String> = usages.into_iter().flatten().collect();
    (!usages.is_empty()).then(|| usages.join(", "))
}

/// All members of an intent. Texts that people wrote are quoted.
pub fn intent_details(view: &IntentView, now: i64) -> String {
    let status_text = styled(style(view.status), view.status.as_str());
    let mut text = format!(
        "{}, {}: {}\n{status_text}",
        styled(STRONG, &view.id),
        view.authorship(),
        name(view)
    );
    if let Some(reason) = &view.reason {
        text.push_str(&format!(": {}", quote_line(reason)));
    }
    text.push('\n');
    if !view.description.is_empty() {
        text.push_str(&format!("\n{}\n", quote_lines(&view.description)));
    }
    let mut list = |heading: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            text.push_str(&format!("\n{}\n{lines}", styled(STRONG, heading)));
        }
    };
    let quoted = |lines: &[String]| lines.iter().map(|line| quote_line(line)).collect();
    list("Scope", quoted(&view.owned_scope));
    list("Constraints", quoted(&view.constraints));
    let describe = |criterion: &String| match view.criteria.iter().find(|met| met.criterion == *criterion) {
        Some(met) => format!(
            "[x] {} ({}: {})",
            quote_line(criterion),
            met.by,
            quote_line(&met.evidence)
        ),
        None => format!("[ ] {}", quote_line(criterion)),
    };
    list("Criteria", view.acceptance_criteria.iter().map(describe).collect());
    let specs = view.related_specs.iter().map(|spec| match spec.as_str() {
        Some(text) => quote_line(text),
        None => quote_line(&spec.to_string()),
    });
    list("Related", specs.collect());
    let agent = view.assigned_agent.as_deref().map(quote_line);
    let details = [
        budget(view).map(|budget| format!("Budget: {budget}")),
        view.branch.as_ref().map(|branch| format!("Branch: {branch}")),
        view.supplements.as_ref().map(|other| format!("Supplements: {other}")),
        (!view.may_overlap.is_empty()).then(|| format!("May overlap with: {}", view.may_overlap.join(", "))),
        agent.map(|agent| format!("Agent: {agent}")),
        (view.owned_files > 0).then(|| format!("Files that it owns: {}", view.owned_files)),
        view.last_heard
            .map(|time| format!("Last activity: {} ago", duration(now - time))),
    ];
    let details: String = details.into_iter().flatten().map(|line| line + "\n").collect();
    if !details.is_empty() {
        text.push_str(&format!("\n{details}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn view() -> IntentView {
        serde_json::from_value(json!({
            "id": "INT-001", "name": "Connection pooling", "description": "Queries wait for connections.\n",
            "status": "IN_PROGRESS",
            "constraints": ["No new dependency"], "owned_scope": ["src/db/**"],
            "acceptance_criteria": ["Tests pass", "Documented"],
            "criteria": [{ "criterion": "Tests pass", "by": "ada/claude-1", "at": "", "evidence": "npm test" }],
            "budget": { "max_turns": 50, "consumed_turns": 12, "consumed_tokens": 7 },
            "supplements": "INT-000", "author": "ada", "editor": "bob", "owned_files": 2, "last_heard": 1000,
        }))
        .unwrap()
    }

    #[test]
    fn an_intent_is_shown_as_a_line_and_as_a_whole() {
        let bare = IntentView {
            id: "bare".to_owned(),
            name: String::new(),
            missing: vec!["name".to_owned(), "owned_scope".to_owned()],
            status: IntentStatus::Pending,
            budget: None,
            acceptance_criteria: Vec::new(),
            ..view()
        };
        let shown = format!(
            "{}\n{}",
            table(&[view(), bare], Some("INT-001"), None),
            intent_details(&view(), 1060)
        );
        insta::assert_snapshot!(anstream::adapter::strip_str(&shown).to_string());
    }
}
