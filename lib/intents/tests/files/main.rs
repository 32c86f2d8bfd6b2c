//! `active_intents.yaml` and `intent_map.md`, with those of the original data model, documented ones, and those of real users.

mod edit;
mod map;
mod properties;
mod read;
mod take_in;

use coord_intents::files::Registry;
use coord_intents::intent::Intent;

const FACTS: &str = include_str!("facts.yaml");
const ORIGINAL: &str = include_str!("original.yaml");
const WILD: &str = include_str!("wild.yaml");

fn parse(text: &str) -> Registry {
    Registry::parse(text.as_bytes()).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

/// The file after `edit` of its intents.
fn edited(text: &str, edit: impl FnOnce(&mut Vec<Intent>)) -> String {
    let registry = parse(text);
    let mut intents = registry.intents().to_vec();
    edit(&mut intents);
    registry
        .with(&intents)
        .unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

/// The lines that differ, as a diff without context.
fn diff(before: &str, after: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    let changed = diff
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal);
    changed
        .map(|change| format!("{}{}", change.tag(), change.value()))
        .collect()
}
