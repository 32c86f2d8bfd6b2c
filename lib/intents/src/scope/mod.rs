//! Patterns of files: what an intent may change.
