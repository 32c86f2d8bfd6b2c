//! Memory and time of everything that reads the text of a repository, for any text. `fuzz/` has the same for cargo-fuzz.
//!
//! The tests measure the memory of their process, so that they are one binary, and run one after another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use coord_scan::Language;
use coord_test_texts::check::{Reader, check};
use coord_test_texts::{products, shapes};

/// Makes tests run one after another.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn no_text_makes_a_scanner_or_the_reader_of_an_interface_take_much_memory_or_time() {
    let _alone = alone();
    for language in Language::all() {
        for (_, text) in shapes::of(language) {
            check(Reader::Scan(language), text(2 << 20).as_bytes());
            check(Reader::Interface(language), text(1 << 19).as_bytes());
        }
    }
}

#[test]
fn no_manifest_makes_a_build_take_much_memory_or_time() {
    let _alone = alone();
    for reader in Reader::all() {
        if let Reader::Manifest(_) = reader {
            for (_, text) in shapes::of_manifests() {
                check(reader, text(1 << 19).as_bytes());
            }
        }
    }
}

#[test]
fn no_repository_multiplies_the_work_of_an_import_and_each_names_its_bound() {
    let _alone = alone();
    for (name, bound, repository) in products::all() {
        let met = products::check(name, &repository);
        assert!(met.contains(&bound), "{name}: {met:?}");
    }
    assert_eq!(products::check("stars", &products::stars()), []);
    assert_eq!(products::check("namespaces of Python", &products::namespaces()), []);
}

/// Numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Pieces of texts of all shapes, cut at any byte and repeated: unforeseen texts.
#[test]
fn no_mixture_of_texts_makes_a_reader_take_much_memory_or_time() {
    let _alone = alone();
    let languages = Language::all().flat_map(shapes::of);
    let texts: Vec<String> = languages
        .chain(shapes::of_manifests())
        .map(|(_, text)| text(6_000))
        .collect();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for reader in Reader::all() {
        for _ in 0..60 {
            let mut text = Vec::new();
            for _ in 0..1 + numbers.below(4) {
                let from = texts[numbers.below(texts.len())].as_bytes();
                let start = numbers.below(from.len());
                let piece = &from[start..from.len().min(start + 1 + numbers.below(80))];
                let times = 1 + numbers.below(30_000 / piece.len());
                text.extend_from_slice(&piece.repeat(times));
            }
            check(reader, &text);
        }
    }
}
