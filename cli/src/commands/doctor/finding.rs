//! A finding, and a list of them for people.

use coord_agent::terminal::output::{BAD, CAUTION, GOOD, STRONG, styled};
use coord_agent::terminal::wrap::wrap;
use serde::Serialize;

/// Columns before the sentence of a finding.
const INDENT: usize = 19;

/// The fewest columns for a sentence, however narrow the terminal is.
const MIN_COLUMNS: usize = 30;

/// The state of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Ok,
    /// It works, and could be better.
    Warn,
    /// It does not work.
    Wrong,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The subject of the check.
    pub(super) subject: &'static str,
    pub(super) state: State,
    /// The result, as a sentence.
    pub(super) found: String,
    /// The command, or the step, that fixes it.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(subject: &'static str, found: impl Into<String>) -> Finding {
        Finding {
            subject,
            state: State::Ok,
            found: found.into(),
            fix: None,
        }
    }

    pub(super) fn warn(subject: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding {
            state: State::Warn,
            fix: Some(fix.into()),
            ..Finding::ok(subject, found)
        }
    }

    pub(super) fn wrong(subject: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding {
            state: State::Wrong,
            ..Finding::warn(subject, found, fix)
        }
    }
}

/// The findings for people: a summary, then errors, warnings and the rest. Sentences are wrapped at `width`; commands
/// are not, so that they can be copied.
pub(super) fn render(findings: &[Finding], width: Option<usize>) -> String {
    let mut text = format!("{}\n\n", summary(findings));
    let columns = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(MIN_COLUMNS));
    for (state, word, style) in [
        (State::Wrong, "error", BAD),
        (State::Warn, "warn", CAUTION),
        (State::Ok, "ok", GOOD),
    ] {
        for finding in findings.iter().filter(|finding| finding.state == state) {
            let found = wrap(&finding.found, columns).join(&format!("\n{:INDENT$}", ""));
            text.push_str(&format!("{style}{word:5}{style:#}  {:10}  {found}\n", finding.subject));
            if let Some(fix) = &finding.fix {
                text.push_str(&format!("{:INDENT$}{}\n", "", styled(STRONG, fix)));
            }
        }
    }
    text
}

/// How many errors and warnings there are.
fn summary(findings: &[Finding]) -> String {
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    let (errors, warnings) = (count(State::Wrong), count(State::Warn));
    let in_words = |count: usize, none: &str, noun: &str| match count {
        0 => none.to_owned(),
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let counted_errors = in_words(errors, "No errors", "error");
    let counted_warnings = in_words(warnings, "no warnings", "warning");
    let sentence = format!("{counted_errors}, {counted_warnings}.");
    let style = match (errors, warnings) {
        (0, 0) => GOOD,
        (0, _) => CAUTION,
        _ => BAD,
    };
    styled(style, &sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_readable_in_a_narrow_terminal() {
        let findings = [
            Finding::ok("git", "git 2.47.0"),
            Finding::warn(
                "head",
                "the working copy is behind main, whose head is 99cc7da: claims of files for writing are refused",
                "git pull --rebase",
            ),
            Finding::wrong(
                "token",
                "the server does not take the token",
                "export COORD_TOKEN=$(gh auth token)",
            ),
        ];
        let plain = |width| anstream::adapter::strip_str(&render(&findings, width)).to_string();
        let all_ok = anstream::adapter::strip_str(&render(&findings[..1], None)).to_string();
        insta::assert_snapshot!([plain(None), plain(Some(60)), all_ok].join("----\n"));
    }
}
