//! Writes `active_intents.yaml`: a new file, or changes to an existing one. A changed text is parsed again as a check.

use std::collections::HashMap;

use super::Refusal;
use super::edit::Editor;
use super::members::{Members, Value, members};
use super::registry::Registry;
use super::render;
use super::tree::{Item, Node};
use crate::intent::Intent;

impl Registry {
    /// The text of a new file, in the order and indentation of the data model.
    pub fn new_file(intents: &[Intent]) -> String {
        render::entry(
            "intents",
            &Value::List(intents.iter().map(|intent| Value::Map(members(intent))).collect()),
            0,
            render::NEW_FILE,
        )
    }

    /// The text of the file with these intents: existing ones are updated where they differ, new ones are appended. The
    /// rest of the file stays, with its comments, order, unknown members, quotes and indentation. Without a difference,
    /// the text is the same bytes.
    ///
    /// # Errors
    /// The notation of the file does not allow this change. The file stays as it is.
    pub fn with(&self, intents: &[Intent]) -> Result<String, Refusal> {
        let mut editor = Editor::new(self);
        editor.update_intents(self, intents);
        if editor.edits.is_empty() {
            return Ok(self.text.clone());
        }
        let failure = || {
            Refusal::at(
                "",
                0,
                "this file cannot be edited in place: write one member per line, as `coord sync` does",
            )
        };
        let text = editor.apply().ok_or_else(failure)?;
        let edited = Self::parse(text.as_bytes())?;
        if self.is_preserved_in(&edited, intents) {
            Ok(text)
        } else {
            Err(failure())
        }
    }

    /// Whether `edited` has the wanted intents, and this file's other intents and unknown members.
    fn is_preserved_in(&self, edited: &Self, wanted: &[Intent]) -> bool {
        let by_id = |intents: &[Intent]| -> HashMap<String, Members> {
            intents
                .iter()
                .map(|intent| (intent.id.clone(), members(intent)))
                .collect()
        };
        let mut expected = by_id(&self.intents);
        expected.extend(by_id(wanted));
        let known = members(&Intent::default());
        let is_known = |key: &str| known.iter().any(|(known, _)| *known == key);
        let same_unknown = |before: &Node, after: &Node, is_known: &dyn Fn(&str) -> bool| {
            let mut unknown = before
                .entries()
                .unwrap_or_default()
                .iter()
                .filter(|entry| !is_known(&entry.key));
            unknown.all(|entry| {
                after
                    .entry(&entry.key)
                    .is_some_and(|after| entry.value.is_equivalent(&after.value))
            })
        };
        let root_key = edited.root_entry().map(|entry| entry.key.as_str());
        expected == by_id(&edited.intents)
            && expected.len() == edited.intents.len()
            && same_unknown(&self.tree.root, &edited.tree.root, &|key| Some(key) == root_key)
            && self.items().iter().zip(edited.items()).all(|(before, after)| {
                let budgets = before.node.entry("budget").zip(after.node.entry("budget"));
                same_unknown(&before.node, &after.node, &is_known)
                    && budgets.is_none_or(|(before, after)| {
                        same_unknown(&before.value, &after.value, &|key| {
                            key.starts_with("max_") || key.starts_with("consumed_")
                        })
                    })
            })
    }

    pub(super) fn items(&self) -> &[Item] {
        self.root_entry()
            .and_then(|entry| entry.value.items())
            .unwrap_or_default()
    }
}
