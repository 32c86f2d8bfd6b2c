//! Every reader of a repository's text, within the bounds of `tests/texts`: each scanner, each interface, each manifest.
//!
//! The first byte of the input selects the reader from the lists of the crates, and the rest is the text. `FUZZ_READER` names one
//! reader (`Scan(Rust)`, `Interface(Python)`, `Manifest("go.mod")`); then all of the input is text. `list`
//! prints the names.

#![no_main]

use std::sync::LazyLock;

use coord_test_texts::check::{Reader, check};
use libfuzzer_sys::fuzz_target;

static READERS: LazyLock<Vec<Reader>> = LazyLock::new(Reader::all);

static ONLY: LazyLock<Option<Reader>> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_READER").ok()?;
    if name == "list" {
        READERS.iter().for_each(|reader| println!("reader {reader:?}"));
        std::process::exit(0);
    }
    let named = READERS.iter().find(|reader| format!("{reader:?}") == name);
    Some(*named.unwrap_or_else(|| panic!("FUZZ_READER is one of {:?}", *READERS)))
});

fuzz_target!(|input: &[u8]| {
    match (*ONLY, input) {
        (Some(reader), text) => check(reader, text),
        (None, [first, text @ ..]) => check(READERS[usize::from(*first) % READERS.len()], text),
        (None, []) => {}
    }
});
