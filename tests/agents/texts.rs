//! Assertions about texts that programs print.

/// Asserts that `text` contains each of `parts`.
#[track_caller]
pub fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
}

/// Asserts that `text` contains none of `parts`.
#[track_caller]
pub fn assert_lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part:?} is there: {text}");
    }
}
