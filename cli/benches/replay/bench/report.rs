//! The report: a Markdown table, or JSON.

use serde_json::{Value, json};

use super::stage::Outcome;

pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut text = "| rules, shared files, time of locks | wall / ideal | waiting | claims a task | longest wait | long waits | conflicts | hazards | outdated |\n\
                    |---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for outcome in outcomes {
        let Outcome { mode, figures, .. } = outcome;
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        text += &format!(
            "| {mode} | {:.2} | {} | {:.1} | {:.1} | {} | {} | {} | {} |\n",
            figures.wall_over_ideal,
            percent(figures.waiting),
            figures.claims_per_task,
            figures.longest_wait,
            percent(figures.long_waits),
            percent(figures.conflicts),
            percent(figures.hazards),
            percent(figures.outdated),
        );
    }
    text
}

/// The same for programs.
pub fn json(outcomes: &[Outcome]) -> Value {
    let row = |outcome: &Outcome| {
        let mut row = json!(outcome.figures);
        row["mode"] = json!(outcome.mode.to_string());
        row["violations"] = json!(outcome.violations);
        row["requests"] = json!(outcome.requests);
        row["request_ms"] = json!(outcome.busy.as_secs_f64() * 1e3 / f64::from(outcome.requests.max(1)));
        row
    };
    outcomes.iter().map(row).collect()
}
