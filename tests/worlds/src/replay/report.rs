//! The report: a Markdown table.

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
