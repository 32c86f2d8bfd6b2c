//! Questions to the person at the terminal.

use std::io::{IsTerminal, Write, stdin};

use anyhow::Context;

/// Whether a person can read a question on `out` and answer it.
pub fn has_person(out: &impl IsTerminal) -> bool {
    stdin().is_terminal() && out.is_terminal()
}

/// Asks `question` with its `choices` on `out`, and returns the answer in lower case.
///
/// # Errors
/// When the terminal cannot be written or read.
pub fn ask(mut out: impl Write, question: &str, choices: &str) -> anyhow::Result<String> {
    let mut answer = String::new();
    write!(out, "{question} [{choices}] ")
        .and_then(|()| out.flush())
        .and_then(|()| stdin().read_line(&mut answer))
        .context("the terminal")?;
    Ok(normalize(&answer))
}

/// Asks `question` on `out`, and returns whether the answer is yes.
///
/// # Errors
/// As [`ask`].
pub fn is_confirmed(out: impl Write, question: &str) -> anyhow::Result<bool> {
    Ok(is_yes(&ask(out, question, "y/N")?))
}

fn normalize(line: &str) -> String {
    line.trim().to_ascii_lowercase()
}

/// Whether `answer`, as [`ask`] returns it, is a yes.
pub fn is_yes(answer: &str) -> bool {
    matches!(answer, "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for line in ["y\n", "Y\r\n", " yes \n"] {
            assert!(is_yes(&normalize(line)), "{line:?}");
        }
        for line in ["", "\n", "n\n", "yes please\n", "ja\n"] {
            assert!(!is_yes(&normalize(line)), "{line:?}");
        }
    }
}
