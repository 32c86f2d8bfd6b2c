//! `active_intents.yaml`, written: a new file, or the one that is there with changes, which are read again before they count.

use std::collections::HashMap;

use super::Refusal;
use super::edit::Editor;
use super::members::{Members, Value, members};
use super::registry::Registry;
use super::render;
use super::tree::{Item, Node};
use crate::intent::Intent;

impl Registry {
    /// A new file: the order of the model and its indentation.
    pub fn new_file(intents: &[Intent]) -> String {
        render::entry(
            "intents",
            &Value::List(intents.iter().map(|intent| Value::Map(members(intent))).collect()),
            0,
            render::NEW_FILE,
        )
    }

    /// The file with these intents: those that it has are changed where they differ, others are appended. Its own remain,
    /// as do its comments, order, unknown members, quotes and indentation. Without a difference, the same bytes.
    ///
    /// # Errors
    /// The file is written in a way in which this change cannot be made; nothing else changes it either.
    pub fn with(&self, intents: &[Intent]) -> Result<String, Refusal> {
        let mut editor = Editor::new(self);
        editor.registry(self, intents);
        if editor.edits.is_empty() {
            return Ok(self.text.clone());
        }
        let failure = || {
            Refusal::at(
                "",
                0,
                "this file cannot be changed in place: write its intents in lines, as `coord sync` does",
            )
        };
        let text = editor.apply().ok_or_else(failure)?;
        let read = Self::parse(text.as_bytes())?;
        if self.is_kept_by(&read, intents) {
            Ok(text)
        } else {
            Err(failure())
        }
    }

    /// Whether `edited` has the wanted intents, this file's others, and everything unknown.
    fn is_kept_by(&self, edited: &Self, wanted: &[Intent]) -> bool {
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
        let key = edited.root_key();
        expected == by_id(&edited.intents)
            && expected.len() == edited.intents.len()
            && same_unknown(&self.tree.root, &edited.tree.root, &|root| Some(root) == key)
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
        let entry = self.root_key().and_then(|key| self.tree.root.entry(key));
        entry.and_then(|entry| entry.value.items()).unwrap_or_default()
    }
}
