//! Differences between two interfaces of one file.

use std::cmp::Ordering;
use std::fmt;

use super::{Interface, InterfaceResult, InterfaceUnknown};

/// Most names that [`InterfaceChanges`] has.
const MAX_CHANGES: usize = 20;

/// How an interface differs from an older one of the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterfaceComparison {
    /// Files that import it are not affected.
    Same,
    /// Names were changed, added or removed.
    Changed(InterfaceChanges),
    /// One of the two interfaces is unknown, so the file counts as changed.
    Unknown(InterfaceUnknown),
}

/// Names whose heads differ, sorted: at most 20, changed and removed names before new ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceChanges {
    /// In both, with different heads.
    pub changed: Vec<String>,
    /// Only in the older one.
    pub gone: Vec<String>,
    /// Only in the newer one.
    pub new: Vec<String>,
    /// Number of other names that differ. Where a list of names was cut, names past its end are not counted.
    pub more: usize,
}

impl InterfaceComparison {
    /// Compares the interfaces of two versions of a file.
    pub fn between(older: &InterfaceResult, newer: &InterfaceResult) -> Self {
        match (older, newer) {
            (Ok(older), Ok(newer)) if older.digest == newer.digest => InterfaceComparison::Same,
            (Ok(older), Ok(newer)) => InterfaceComparison::Changed(InterfaceChanges::between(older, newer)),
            (Err(reason), _) | (_, Err(reason)) => InterfaceComparison::Unknown(*reason),
        }
    }

    /// Whether the file counts as changed for those that import it.
    pub fn is_change(&self) -> bool {
        *self != InterfaceComparison::Same
    }
}

impl InterfaceChanges {
    fn between(older: &Interface, newer: &Interface) -> Self {
        // Names past the end of a list that was cut cannot be compared.
        let end = [older, newer]
            .into_iter()
            .filter(|interface| interface.left_out > 0)
            .map(|interface| interface.names.last().map_or("", |(name, _)| name))
            .min();
        let is_listed = |name: &str| end.is_none_or(|end| name <= end);
        let (mut before, mut after) = (older.names.iter().peekable(), newer.names.iter().peekable());
        let mut changes = InterfaceChanges::default();
        loop {
            let order = match (before.peek(), after.peek()) {
                (Some((one, _)), Some((other, _))) => one.cmp(other),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let old = (order != Ordering::Greater).then(|| before.next()).flatten();
            let new = (order != Ordering::Less).then(|| after.next()).flatten();
            let (list, name) = match (old, new) {
                (Some((name, one)), Some((_, other))) if one != other => (&mut changes.changed, name),
                (Some((name, _)), None) => (&mut changes.gone, name),
                (None, Some((name, _))) => (&mut changes.new, name),
                _ => continue,
            };
            if is_listed(name) {
                list.push(name.clone());
            }
        }
        changes.truncate();
        changes
    }

    fn truncate(&mut self) {
        let mut room = MAX_CHANGES;
        for list in [&mut self.changed, &mut self.gone, &mut self.new] {
            self.more += list.len().saturating_sub(room);
            list.truncate(room);
            room -= list.len();
        }
    }
}

impl fmt::Display for InterfaceChanges {
    /// "`query` changed, `close` is gone, `Pool` is new".
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            (&self.changed, "changed"),
            (&self.gone, "is gone"),
            (&self.new, "is new"),
        ];
        let mut separator = "";
        for (list, change) in lists {
            for name in list {
                write!(out, "{separator}`{name}` {change}")?;
                separator = ", ";
            }
        }
        match (self.more, separator) {
            (0, "") => out.write_str("names past the listed ones differ"),
            (0, _) => Ok(()),
            (more, _) => write!(out, ", and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface;
    use coord_scan::Language;

    fn of(text: &str) -> InterfaceResult {
        interface(Language::TypeScript, text.as_bytes())
    }

    fn constants(numbers: std::ops::Range<usize>) -> String {
        numbers
            .map(|number| format!("export const n{number:05} = 1;\n"))
            .collect()
    }

    fn differences(older: &str, newer: &str) -> String {
        match InterfaceComparison::between(&of(older), &of(newer)) {
            InterfaceComparison::Changed(changes) => changes.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn differences_are_reported_by_name() {
        let older = "export function query(a: string): void {}\nexport function close(): void {}\nexport const b = 1";
        let newer = "export function query(a: string, b?: number): void {}\nexport class Pool {}\nexport const b = 1";
        assert_eq!(
            differences(older, newer),
            "`query` changed, `close` is gone, `Pool` is new"
        );
        assert_eq!(differences(older, older), "Same");
        assert_eq!(differences(older, "export {"), "Unknown(NotUnderstood)");
    }

    #[test]
    fn many_changes_are_counted_and_few_listed() {
        let text = differences(&constants(0..30), &constants(30..60));
        assert!(text.starts_with("`n00000` is gone, "), "{text}");
        assert!(text.ends_with(", and 40 more"), "{text}");
        assert_eq!(text.matches('`').count(), 2 * MAX_CHANGES);
    }

    #[test]
    fn names_past_the_end_of_a_cut_list_are_not_compared() {
        let text = differences(&constants(0..2_000), &constants(0..2_001));
        assert_eq!(text, "names past the listed ones differ");
        // Ten names come before all others, and push ten out of the list.
        let first: String = (0..10).map(|number| format!("export const a{number} = 1;\n")).collect();
        let older = constants(0..1_000);
        let text = differences(&older, &(first + &older));
        assert_eq!(text.matches("is new").count(), 10);
    }
}
