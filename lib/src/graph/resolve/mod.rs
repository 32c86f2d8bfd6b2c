//! Specifier -> file.
