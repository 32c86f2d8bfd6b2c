//! The `.intentignore` of the working copy: the server knows that of the branch's head alone.

use std::io::ErrorKind;

use coord_intents::scope::IntentIgnore;

use crate::agent::file_content;
use crate::agent::work::Work;

/// The first of `files` that no intent may change by the working copy's own list, with the sentence for it.
pub fn refusal(work: &Work, intent: &str, files: &[String]) -> Option<(String, String)> {
    let ignore = match file_content::at_most(&work.working_copy.root().join(".intentignore"), IntentIgnore::MAX_BYTES) {
        Ok(text) => IntentIgnore::parse(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => IntentIgnore::unreadable(error.to_string()),
    };
    files.iter().find_map(|file| {
        let why = ignore.find(file)?;
        let text = format!(
            "Scope Violation: {intent} is not authorized to edit '{file}'. Request scope expansion. It is ignored by {why}"
        );
        Some((file.clone(), text))
    })
}
