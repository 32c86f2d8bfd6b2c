//! Random damage is always found.

use std::sync::LazyLock;

use coord_intents::ledger::{Expectations, verify};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::sample::{FOREIGN, Ledger, REPOSITORY};

static LEDGER: LazyLock<Ledger> = LazyLock::new(|| Ledger::adopted(12));

/// Foreign lines that are adopted, and sealed ones.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| [FOREIGN.as_bytes(), &LEDGER.bytes()].concat());

#[derive(Clone, Debug)]
enum Edit {
    Replace(u8),
    Insert(u8),
    Delete,
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte = prop_oneof![any::<u8>(), proptest::sample::select(&b"\n\r \"{},:0af\\"[..])];
    prop_oneof![
        byte.clone().prop_map(Edit::Replace),
        byte.prop_map(Edit::Insert),
        Just(Edit::Delete)
    ]
}

fn is_damaged(bytes: &[u8], expected: &Expectations) -> bool {
    verify(bytes, expected).unwrap().damage.is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn one_changed_byte_is_found_without_any_anchor(edit in edit(), at in any::<Index>()) {
        let mut bytes = WHOLE.clone();
        let at = at.index(bytes.len());
        match edit {
            Edit::Replace(byte) => bytes[at] = byte,
            Edit::Insert(byte) => bytes.insert(at, byte),
            Edit::Delete => drop(bytes.remove(at)),
        }
        prop_assert_eq!(is_damaged(&bytes, &Expectations::chain_of(REPOSITORY)), bytes != *WHOLE);
    }

    #[test]
    fn other_lines_in_another_order_are_found_with_the_seal(order in proptest::collection::vec(0_usize..12, 0..16)) {
        let lines: Vec<&str> = order.iter().map(|&line| LEDGER.lines[line].as_str()).collect();
        let is_whole = lines == LEDGER.lines;
        prop_assert_eq!(is_damaged(lines.concat().as_bytes(), &LEDGER.sealed()), !is_whole);
    }

    // rule: ledger#points
    #[test]
    fn swaps_and_cuts_are_found_with_the_seal(first in any::<Index>(), second in any::<Index>(), cut in any::<bool>()) {
        let mut bytes = WHOLE.clone();
        let (first, second) = (first.index(bytes.len()), second.index(bytes.len()));
        if cut {
            bytes.drain(first.min(second)..first.max(second));
        } else {
            bytes.swap(first, second);
        }
        // All foreign lines may be gone: another copy of the file may never have had them.
        let is_whole = bytes == *WHOLE || bytes == LEDGER.bytes();
        prop_assert_eq!(is_damaged(&bytes, &LEDGER.sealed()), !is_whole);
    }

    #[test]
    fn any_bytes_are_judged_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        verify(&bytes[..], &Expectations::chain_of(REPOSITORY)).unwrap();
    }
}
