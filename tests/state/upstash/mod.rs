//! The remote stores, against real Redis servers and against a server that misbehaves.

/// Asserts that an outcome is this error of a store; if need be one with this text.
macro_rules! assert_fails {
    ($outcome:expr, $error:ident $(, $text:literal)?) => {{
        let outcome = $outcome;
        let is_expected = matches!(&outcome, Err(coord_store::StoreError::$error(_)));
        $(let is_expected = is_expected && format!("{outcome:?}").contains($text);)?
        assert!(is_expected, "{outcome:?}");
    }};
}

mod fake;
mod faults;
mod functions;
mod over_redis;
mod promises;
mod redis_store;
mod scripts;
