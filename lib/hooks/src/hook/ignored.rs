//! The `.intentignore` of the working copy: the server knows only that of the branch's head.

use coord_agent::work::Work;
use coord_files::RootedPath;
use coord_scopes::IntentIgnore;

/// The first of `files` that the working copy's own list ignores, so that no intent may change it, and the sentence for
/// it.
pub fn refusal(work: &Work, intent: &str, files: &[String]) -> Option<(String, String)> {
    let ignore = match RootedPath::new(work.working_copy.root(), ".intentignore").read(IntentIgnore::MAX_BYTES as u64) {
        Ok(Some(text)) => IntentIgnore::parse(&text),
        Ok(None) => return None,
        Err(error) => IntentIgnore::unreadable(error.clause()),
    };
    files.iter().find_map(|file| {
        let why = ignore.find(file)?;
        let sentence = format!(
            "Scope Violation: {intent} is not authorized to edit '{file}'. Request scope expansion. It is ignored by \
             {why}"
        );
        Some((file.clone(), sentence))
    })
}
