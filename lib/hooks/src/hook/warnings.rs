//! Warnings of the server that matter to a model: its next event delivers each of them once.

use coord_agent::session_notes::SessionNotes;

/// Codes of warnings about others' work, or about an end of the model's own work. The other warnings are not for a
/// model: a hook reports them itself, or only the author of a request can act on them.
const CODES: [&str; 11] = [
    "BUDGET_LOW",
    "CASE_DIFFERS",
    "CROSS_BRANCH",
    "INTERFACE_CHANGED",
    "LOCK_EXPIRED",
    "LOCK_LOST",
    "MUTUAL_WAIT",
    "NEIGHBOR",
    "PENDING",
    "PENDING_INTERFACE",
    "SHARED_FILE",
];

/// Notes the `warnings` that matter to a model.
pub(super) fn note(notes: &mut SessionNotes, warnings: &[String]) {
    for warning in warnings {
        if warning.split_once(':').is_some_and(|(code, _)| CODES.contains(&code)) {
            notes.warn(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_about_work_is_noted_once_whatever_its_numbers() {
        let mut notes = SessionNotes::default();
        let warn = |notes: &mut SessionNotes, warning: &str| note(notes, &[warning.to_owned()]);
        for warning in [
            "PENDING: 'a' has unmerged changes by user 'bob' on 'pool': x",
            "BUDGET_LOW: Intent REQ-1 has used 81 of 100 turns; finish soon.",
            "BUDGET_LOW: Intent REQ-1 has used 82 of 100 turns; finish soon.",
            "PENDING: 'a' has unmerged changes by user 'bob' on 'pool': x",
            "PENDING: 'b' has unmerged changes by user 'bob' on 'pool': x",
            "ALREADY_HELD: You have held 'a' since noon",
            "no code",
        ] {
            warn(&mut notes, warning);
        }
        let codes: Vec<&str> = notes.news.iter().map(|news| &news[..12]).collect();
        assert_eq!(codes, ["PENDING: 'a'", "BUDGET_LOW: ", "PENDING: 'b'"]);
        assert!(notes.news[1].contains("81 of 100"));
    }

    #[test]
    fn news_without_room_are_delivered_later() {
        let mut notes = SessionNotes::default();
        let warnings: Vec<String> = (0..40)
            .map(|file| format!("PENDING: 'file-{file}' has changes"))
            .collect();
        note(&mut notes, &warnings);
        let first = std::mem::take(&mut notes.news);
        note(&mut notes, &warnings);
        let second = std::mem::take(&mut notes.news);
        assert!(
            !first.is_empty() && first.len() < 40 && second[0] == warnings[first.len()],
            "{second:?}"
        );
    }
}
