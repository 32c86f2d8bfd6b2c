//! `active_intents.yaml`: the changes of people, and the new text.

use coord_intents::files::import::{FileChanges, Problem, Reason, import_changes};
use coord_intents::files::{Refusal, Registry};
use coord_intents::intent::Intent;

/// Finds the changes of people in `file`, relative to `base` (the last written text) and the store. A missing file has
/// no changes.
///
/// # Errors
/// When the file is damaged.
pub(super) fn find_changes(base: Option<&[u8]>, file: Option<&[u8]>, store: &[Intent]) -> Result<FileChanges, Refusal> {
    let Some(file) = file else {
        return Ok(FileChanges::default());
    };
    // Only Coord writes the base. A damaged base counts as missing.
    let base = base.and_then(|base| Registry::parse(base).ok());
    Ok(import_changes(base.as_ref(), &Registry::parse(file)?, store))
}

/// The text of the file with the intents of the store.
///
/// # Errors
/// When the file is damaged, or cannot be changed in place.
pub(super) fn new_text(file: Option<&[u8]>, store: &[Intent]) -> Result<String, Refusal> {
    match file {
        None => Ok(Registry::new_file(store)),
        Some(file) => Registry::parse(file)?.with(store),
    }
}

pub(super) fn sentence(problem: &Problem) -> String {
    let Problem { id, member, reason } = problem;
    match reason {
        Reason::Conflict => format!(
            "{id}: {member} was changed in the file and on the server: write the server's value, or the final one"
        ),
        Reason::Frozen => {
            format!("{id}: {member} is frozen once the intent has begun: write a new intent that supplements it")
        }
        Reason::Transition { from, to } => {
            format!("{id}: status cannot change from {} to {}", from.as_str(), to.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Ours\nintents:\n  - id: a\n    name: Pool   # short\n    owned_scope: [src/**]\n";

    fn store(name: &str) -> Vec<Intent> {
        vec![Intent {
            id: "a".to_owned(),
            name: name.to_owned(),
            owned_scope: vec!["src/**".to_owned()],
            ..Intent::default()
        }]
    }

    #[test]
    fn a_change_of_a_person_is_taken_and_one_of_both_sides_is_a_conflict() {
        let edited = FILE.replace("Pool", "Pools");
        let base = Some(FILE.as_bytes());
        let taken = find_changes(base, Some(edited.as_bytes()), &store("Pool")).unwrap();
        assert_eq!(taken.changes[0].members, ["name"]);
        let conflict = find_changes(base, Some(edited.as_bytes()), &store("Other")).unwrap();
        assert!(conflict.changes.is_empty());
        assert!(sentence(&conflict.problems[0]).starts_with("a: name was changed in the file and on the server"));
        let unknown = find_changes(Some(b"\t"), Some(edited.as_bytes()), &store("Pool")).unwrap();
        assert_eq!(unknown.problems.len(), 1, "nobody knows what was last written");
        assert_eq!(
            find_changes(base, None, &store("Pool")).unwrap(),
            FileChanges::default()
        );
        assert_eq!(
            find_changes(base, Some(FILE.as_bytes()), &store("New")).unwrap(),
            FileChanges::default()
        );
    }

    #[test]
    fn a_change_in_the_store_changes_its_own_lines() {
        let text = new_text(Some(FILE.as_bytes()), &store("Pools")).unwrap();
        assert!(
            text.starts_with("# Ours\nintents:\n  - id: a\n    name: Pools   # short\n"),
            "{text}"
        );
        let new = new_text(None, &store("Pool")).unwrap();
        assert_eq!(new_text(Some(new.as_bytes()), &store("Pool")).unwrap(), new);
        assert!(new_text(Some(b"intents:\n\t- id: a\n"), &store("Pool")).is_err());
    }
}
