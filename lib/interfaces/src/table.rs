//! Checks shared by the tables of the languages.

use coord_scan::Language;

use super::{InterfaceResult, interface};

fn read(language: Language, text: &str) -> InterfaceResult {
    let found = interface(language, text.as_bytes());
    assert!(found.is_ok(), "{language:?}: {found:?}: {text}");
    found
}

/// The names of the interface.
pub(super) fn names(language: Language, text: &str) -> Vec<String> {
    let names = read(language, text).into_iter().flat_map(|interface| interface.names);
    names.map(|(name, _)| name).collect()
}

/// Checks that the texts of each row have the same interface.
pub(super) fn assert_same(language: Language, rows: &[&[&str]]) {
    for row in rows {
        for text in &row[1..] {
            assert_eq!(
                read(language, row[0]),
                read(language, text),
                "{language:?}: {} | {text}",
                row[0]
            );
        }
    }
}

/// Checks that all texts of each row have different interfaces.
pub(super) fn assert_different(language: Language, rows: &[&[&str]]) {
    for row in rows {
        for (index, text) in row.iter().enumerate() {
            for other in &row[..index] {
                assert_ne!(
                    read(language, text),
                    read(language, other),
                    "{language:?}: {text} | {other}"
                );
            }
        }
    }
}
