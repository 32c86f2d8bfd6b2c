//! Checks shared by the tables of the languages. Each line of a table is a text, in which `\n`, `\r` and `\t` are escapes.

use coord_scan::Language;

use super::{Interface, InterfaceUnknown, interface};

fn read(language: Language, text: &str) -> Interface {
    interface(language, text.as_bytes()).unwrap_or_else(|unknown| panic!("{language:?}: {unknown:?}: {text}"))
}

fn unescape(line: &str) -> String {
    line.trim()
        .replace("\\n", "\n")
        .replace("\\r", "\r")
        .replace("\\t", "\t")
}

/// The rows of a table: texts without an empty line between them.
fn rows(table: &str) -> impl Iterator<Item = Vec<String>> {
    table.trim().split("\n\n").map(|row| {
        let texts: Vec<String> = row.lines().map(unescape).collect();
        assert!(texts.len() > 1, "nothing to compare: {row}");
        texts
    })
}

/// Checks the names of each text, which follow an arrow.
pub(super) fn assert_names(language: Language, table: &str) {
    for line in table.trim().lines() {
        let (text, expected) = line.split_once(" →").expect("an arrow");
        let names = read(language, &unescape(text)).names;
        let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.join(", "), expected.trim(), "{line}");
    }
}

/// Checks that the texts of each row have the same interface.
pub(super) fn assert_same(language: Language, table: &str) {
    for row in rows(table) {
        for text in &row[1..] {
            let (one, other) = (read(language, &row[0]), read(language, text));
            assert_eq!(one, other, "{language:?}: {} | {text}", row[0]);
        }
    }
}

/// Checks that all texts of each row have different interfaces.
pub(super) fn assert_different(language: Language, table: &str) {
    for row in rows(table) {
        for (index, text) in row.iter().enumerate() {
            for other in &row[..index] {
                let (one, two) = (read(language, text), read(language, other));
                assert_ne!(one, two, "{language:?}: {text} | {other}");
            }
        }
    }
}

/// Checks that no text has a known interface.
pub(super) fn assert_not_understood(language: Language, table: &str) {
    for text in table.trim().lines().map(unescape) {
        let found = interface(language, text.as_bytes());
        assert_eq!(found, Err(InterfaceUnknown::NotUnderstood), "{text}");
    }
}
