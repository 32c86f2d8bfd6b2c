//! Every kind of damage is named, with the first bad line; Python agrees about the line.

use std::collections::BTreeMap;

use coord_intents::ledger::{Point, Verdict};
use serde_json::Value;

use crate::judging::{assert_damage, assert_judged, judge, read};
use crate::python;
use crate::sample::{FOREIGN, Ledger, chain, expected, line};

const COUNT: usize = 9;

/// First, middle and last line, from 0.
const PLACES: [usize; 3] = [0, COUNT / 2, COUNT - 1];

#[test]
fn a_changed_byte_in_any_member_is_an_edited_line() {
    let ledger = Ledger::sample(COUNT);
    let whole = ledger.bytes();
    for place in PLACES {
        let start: usize = ledger.lines[..place].iter().map(String::len).sum();
        for index in start..start + ledger.lines[place].len() {
            for change in [1, 0x20, 0x80] {
                let mut bytes = whole.clone();
                bytes[index] ^= change;
                let report = read(&bytes, &chain());
                let is_last_newline = index == whole.len() - 1;
                let verdict = if is_last_newline {
                    Verdict::TornLastLine
                } else {
                    Verdict::Edited
                };
                assert_damage(&report, verdict, place + 1, place + 1);
                assert_eq!(report.end, ledger.points[place]);
            }
        }
    }
}

#[test]
fn each_member_of_a_chain_may_be_rewritten_and_is_found() {
    let ledger = Ledger::sample(COUNT);
    let zeros = "0".repeat(64);
    for place in PLACES {
        let Point { seq, hash } = ledger.points[place + 1];
        let (prev, hash) = (ledger.points[place].hash.to_string(), hash.to_string());
        let seq = format!("\"seq\":{seq},");
        for (from, to) in [
            (&*seq, "\"seq\":77,"),
            (&seq, &seq.replace(':', ":0")),
            (&seq, &seq.replace(':', ": ")),
            (&prev, &zeros),
            (&hash, &zeros),
            (&hash, &hash.to_uppercase()),
            ("src/", "lib/"),
            ("SUCCESS", "FAILURE"),
        ] {
            let damaged = ledger.changed(|lines| lines[place] = lines[place].replace(from, to));
            assert_judged(&damaged, &chain(), Verdict::Edited, place + 1, place + 1);
        }
    }
}

#[test]
fn an_edited_line_with_a_recomputed_hash_is_named_instead_of_the_next() {
    let ledger = Ledger::sample(COUNT);
    for place in [0, COUNT / 2] {
        let forged = Ledger::after(ledger.points[place], [line(99)]);
        let damaged = ledger.changed(|lines| lines[place].clone_from(&forged.lines[0]));
        assert_damage(&read(&damaged, &chain()), Verdict::Edited, place + 1, place + 1);
        // Python only sees where the links part.
        let there = python::verdict(&damaged, &chain());
        assert!(there.is_none_or(|there| there == Err(place as u64 + 2)));
        // Where an anchor proves the line before the break, the lines after it are the others.
        let report = read(&damaged, &expected(&[forged.points[1]]));
        assert_damage(&report, Verdict::Forked, place + 2, place + 2);
    }
}

#[test]
fn removed_lines_are_missing_or_cut_off() {
    let ledger = Ledger::sample(COUNT);
    for place in [0, COUNT / 2] {
        for removed in 1..4 {
            let damaged = ledger.changed(|lines| drop(lines.drain(place..place + removed)));
            let next = place + 1 + removed;
            let damage = assert_judged(&damaged, &chain(), Verdict::Missing, place + 1, next);
            let between = format!("between seq {place} and seq {next}");
            assert!(damage.detail.contains(&between), "{damage}");
        }
    }
    for left in 0..COUNT {
        let cut = ledger.changed(|lines| lines.truncate(left));
        assert_eq!(judge(&cut, &chain()).damage, None, "a chain alone cannot show it");
        assert_judged(&cut, &ledger.sealed(), Verdict::Truncated, left + 1, left + 1);
    }
}

#[test]
fn doubled_lines_are_duplicates() {
    let ledger = Ledger::sample(COUNT);
    // A copy of a later line before it: the seventh before the third.
    let mut copies = vec![(6, 2)];
    copies.extend(
        PLACES
            .iter()
            .flat_map(|&place| (place + 1..=COUNT).map(move |at| (place, at))),
    );
    for (place, at) in copies {
        let doubled = ledger.changed(|lines| lines.insert(at, lines[place].clone()));
        assert_judged(&doubled, &ledger.sealed(), Verdict::Duplicate, at + 1, place + 1);
    }
    // The result of `merge=union` for two copies of different length.
    let merged = ledger.changed(|lines| lines.extend_from_within(4..7));
    assert_judged(&merged, &ledger.sealed(), Verdict::Duplicate, COUNT + 1, 5);
}

#[test]
fn moved_lines_are_reordered() {
    let ledger = Ledger::sample(COUNT);
    for (from, to, line, seq) in [
        (0, 1, 1, 2),
        (0, 8, 1, 2),
        (4, 5, 5, 6),
        (4, 0, 1, 5),
        (8, 0, 1, 9),
        (8, 4, 5, 9),
    ] {
        let moved = ledger.changed(|lines| {
            let moved = lines.remove(from);
            lines.insert(to, moved);
        });
        assert_judged(&moved, &ledger.sealed(), Verdict::Reordered, line, seq);
    }
}

#[test]
fn lines_that_were_never_sealed_are_inserted() {
    let ledger = Ledger::sample(COUNT);
    for place in [1, COUNT / 2, COUNT - 1] {
        for inserted in [&*(line(50) + "\n"), FOREIGN, "\n", "<<<<<<<\n"] {
            let damaged = ledger.changed(|lines| lines.insert(place, inserted.to_owned()));
            assert_judged(&damaged, &ledger.sealed(), Verdict::Inserted, place + 1, place + 1);
        }
        // The line is there, and its seal is not.
        if place > 1 {
            let unsealed = ledger.changed(|lines| lines[place - 1] = line(place) + "\n");
            assert_judged(&unsealed, &ledger.sealed(), Verdict::Edited, place, place);
        }
    }
}

#[test]
fn a_torn_last_line_is_distinct_from_an_edit() {
    let ledger = Ledger::sample(COUNT);
    let (whole, last) = (ledger.bytes(), ledger.lines[COUNT - 1].len());
    for left in [1, 2, 100, last - 70, last - 2, last - 1] {
        let torn = &whole[..whole.len() - last + left];
        assert_judged(torn, &chain(), Verdict::TornLastLine, COUNT, COUNT);
    }
    for left in [1, 100, ledger.lines[0].len() - 1] {
        assert_judged(&whole[..left], &chain(), Verdict::TornLastLine, 1, 1);
    }
}

// rule: ledger#encoding
#[test]
fn line_endings_and_a_byte_order_mark_leave_the_content() {
    let ledger = Ledger::sample(COUNT);
    let text = ledger.lines.concat();
    let crlf = text.replace('\n', "\r\n");
    for (text, verdict) in [
        (&crlf, Verdict::LineEndings),
        (&format!("\u{feff}{text}"), Verdict::Bom),
        (&format!("\u{feff}{crlf}"), Verdict::Bom),
    ] {
        let report = judge(text.as_bytes(), &ledger.sealed());
        assert_damage(&report, verdict, 1, 1);
        assert!(verdict.keeps_content());
        assert_eq!(report.end, ledger.points[COUNT]);
        // Damage of the content is more important.
        let edited = text.replace("src/ü6.ts", "src/ü7.ts");
        assert_damage(&read(edited.as_bytes(), &ledger.sealed()), Verdict::Edited, 6, 6);
    }
    let one = text.replacen("\"}}\n{", "\"}}\r\n{", 1);
    assert_judged(one.as_bytes(), &ledger.sealed(), Verdict::LineEndings, 1, 1);
}

#[test]
fn a_formatted_file_can_still_be_edited() {
    let ledger = Ledger::sample(3);
    let reformatted = |format: fn(&str) -> String| -> String {
        let lines = ledger.lines.iter().map(|line| format(line) + "\n");
        lines.collect()
    };
    let pretty = reformatted(|line| format!("{:#}", serde_json::from_str::<Value>(line).unwrap()));
    let sorted = reformatted(|line| {
        let members: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        serde_json::to_string(&members).unwrap()
    });
    let spaced = ledger.lines.concat().replace("\":", "\": ");
    for rewritten in [pretty, spaced, sorted] {
        let damage = judge(rewritten.as_bytes(), &ledger.sealed()).damage.expect("damage");
        assert_eq!((damage.verdict, damage.line), (Verdict::Edited, 1), "{damage}");
    }
}
