//! Every kind of damage is named, with the first bad line; Python agrees about the line.

use coord_intents::ledger::{Expectations, Point, Report, Verdict};

use crate::judging::{assert_damage, judge, read};
use crate::python;
use crate::sample::{FOREIGN, Ledger, REPOSITORY, event, expected, unsealed};

const COUNT: usize = 9;

/// First, middle and last line, from 0.
const PLACES: [usize; 3] = [0, COUNT / 2, COUNT - 1];

#[test]
fn a_changed_byte_in_any_member_is_an_edited_line() {
    let ledger = Ledger::sample(COUNT as u64);
    let whole = ledger.bytes();
    for place in PLACES {
        let start: usize = ledger.lines[..place].iter().map(String::len).sum();
        for index in start..start + ledger.lines[place].len() {
            for change in [1, 0x20, 0x80] {
                let mut bytes = whole.clone();
                bytes[index] ^= change;
                let report = read(&bytes, &Expectations::chain_of(REPOSITORY));
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
    let ledger = Ledger::sample(COUNT as u64);
    let zeros = "0".repeat(64);
    for place in PLACES {
        let Point { seq, hash } = ledger.points[place + 1];
        let prev = ledger.points[place].hash;
        for (from, to) in [
            (format!("\"seq\":{seq},"), "\"seq\":77,".to_owned()),
            (format!("\"seq\":{seq},"), format!("\"seq\":0{seq},")),
            (format!("\"seq\":{seq},"), format!("\"seq\": {seq},")),
            (prev.to_string(), zeros.clone()),
            (hash.to_string(), zeros.clone()),
            (hash.to_string(), hash.to_string().to_uppercase()),
            ("src/".to_owned(), "lib/".to_owned()),
            ("SUCCESS".to_owned(), "FAILURE".to_owned()),
        ] {
            let mut damaged = ledger.clone();
            damaged.lines[place] = damaged.lines[place].replace(&from, &to);
            let report = judge(&damaged.bytes(), &Expectations::chain_of(REPOSITORY));
            assert_damage(&report, Verdict::Edited, place + 1, place + 1);
        }
    }
}

#[test]
fn an_edited_line_with_a_recomputed_hash_is_named_instead_of_the_next() {
    let ledger = Ledger::sample(COUNT as u64);
    for place in [0, COUNT / 2] {
        let mut damaged = ledger.clone();
        let forged = Ledger::after(ledger.points[place], [unsealed(event(99), 99)]);
        damaged.lines[place] = forged.lines[0].clone();
        let report = read(&damaged.bytes(), &Expectations::chain_of(REPOSITORY));
        assert_damage(&report, Verdict::Edited, place + 1, place + 1);
        // Python only sees where the links part.
        let there = python::verdict(&damaged.bytes(), &Expectations::chain_of(REPOSITORY));
        assert!(there.is_none_or(|there| there == Err(place as u64 + 2)));
        // Where an anchor proves the line before the break, the lines after it are the others.
        let report = read(&damaged.bytes(), &expected(&[forged.points[1]]));
        assert_damage(&report, Verdict::Forked, place + 2, place + 2);
    }
}

#[test]
fn removed_lines_are_missing_or_cut_off() {
    let ledger = Ledger::sample(COUNT as u64);
    for place in [0, COUNT / 2] {
        for removed in 1..4 {
            let mut damaged = ledger.clone();
            damaged.lines.drain(place..place + removed);
            let report = judge(&damaged.bytes(), &Expectations::chain_of(REPOSITORY));
            let damage = assert_damage(&report, Verdict::Missing, place + 1, place + 1 + removed);
            let between = format!("between seq {place} and seq {}", place + 1 + removed);
            assert!(damage.detail.contains(&between), "{damage}");
        }
    }
    for left in 0..COUNT {
        let cut = ledger.lines[..left].concat();
        let report = judge(cut.as_bytes(), &Expectations::chain_of(REPOSITORY));
        assert_eq!(report.damage, None, "a chain alone cannot show it");
        let report = judge(cut.as_bytes(), &ledger.sealed());
        assert_damage(&report, Verdict::Truncated, left + 1, left + 1);
    }
}

#[test]
fn doubled_lines_are_duplicates() {
    let ledger = Ledger::sample(COUNT as u64);
    for place in PLACES {
        for at in place + 1..=COUNT {
            let mut damaged = ledger.clone();
            damaged.lines.insert(at, ledger.lines[place].clone());
            let report = judge(&damaged.bytes(), &ledger.sealed());
            assert_damage(&report, Verdict::Duplicate, at + 1, place + 1);
        }
    }
    // A copy of a later line before it.
    let mut damaged = ledger.clone();
    damaged.lines.insert(2, ledger.lines[6].clone());
    assert_damage(&judge(&damaged.bytes(), &ledger.sealed()), Verdict::Duplicate, 3, 7);
    // The result of `merge=union` for two copies of different length.
    let mut damaged = ledger.clone();
    damaged.lines.extend_from_slice(&ledger.lines[4..7]);
    assert_damage(
        &judge(&damaged.bytes(), &ledger.sealed()),
        Verdict::Duplicate,
        COUNT + 1,
        5,
    );
}

#[test]
fn moved_lines_are_reordered() {
    let ledger = Ledger::sample(COUNT as u64);
    for (from, to, line, seq) in [
        (0, 1, 1, 2),
        (0, 8, 1, 2),
        (4, 5, 5, 6),
        (4, 0, 1, 5),
        (8, 0, 1, 9),
        (8, 4, 5, 9),
    ] {
        let mut damaged = ledger.clone();
        let moved = damaged.lines.remove(from);
        damaged.lines.insert(to, moved);
        let report = judge(&damaged.bytes(), &ledger.sealed());
        assert_damage(&report, Verdict::Reordered, line, seq);
    }
}

#[test]
fn lines_that_were_never_sealed_are_inserted() {
    let ledger = Ledger::sample(COUNT as u64);
    for place in [1, COUNT / 2, COUNT - 1] {
        for inserted in [
            unsealed(event(50), 50) + "\n",
            FOREIGN.to_owned(),
            "\n".to_owned(),
            "<<<<<<<\n".to_owned(),
        ] {
            let mut damaged = ledger.clone();
            damaged.lines.insert(place, inserted);
            let report = judge(&damaged.bytes(), &ledger.sealed());
            assert_damage(&report, Verdict::Inserted, place + 1, place + 1);
        }
        // The line is there, and its seal is not.
        let mut damaged = ledger.clone();
        damaged.lines[place - 1] = unsealed(event(place as u64), place as u64) + "\n";
        if place > 1 {
            let report = judge(&damaged.bytes(), &ledger.sealed());
            assert_damage(&report, Verdict::Edited, place, place);
        }
    }
}

#[test]
fn a_torn_last_line_is_distinct_from_an_edit() {
    let ledger = Ledger::sample(COUNT as u64);
    let (whole, last) = (ledger.bytes(), ledger.lines[COUNT - 1].len());
    for left in [1, 2, 100, last - 70, last - 2, last - 1] {
        let torn = &whole[..whole.len() - last + left];
        assert_damage(&judge(torn, &expected(&[])), Verdict::TornLastLine, COUNT, COUNT);
    }
    for left in [1, 100, ledger.lines[0].len() - 1] {
        assert_damage(&judge(&whole[..left], &expected(&[])), Verdict::TornLastLine, 1, 1);
    }
}

// rule: ledger#encoding
#[test]
fn line_endings_and_a_byte_order_mark_leave_the_content() {
    let ledger = Ledger::sample(COUNT as u64);
    let text = ledger.lines.concat();
    let crlf = text.replace('\n', "\r\n").into_bytes();
    let bom = format!("\u{feff}{text}").into_bytes();
    let both = format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes();
    for (bytes, verdict) in [(crlf, Verdict::LineEndings), (bom, Verdict::Bom), (both, Verdict::Bom)] {
        let report = judge(&bytes, &ledger.sealed());
        assert_damage(&report, verdict, 1, 1);
        assert!(verdict.keeps_content());
        assert_eq!(report.end, ledger.points[COUNT]);
        // Damage of the content is more important.
        let edited = String::from_utf8(bytes).unwrap().replace("src/ü6.ts", "src/ü7.ts");
        assert_damage(&read(edited.as_bytes(), &ledger.sealed()), Verdict::Edited, 6, 6);
    }
    let one = text.replacen("\"}}\n{", "\"}}\r\n{", 1);
    assert_damage(&judge(one.as_bytes(), &ledger.sealed()), Verdict::LineEndings, 1, 1);
}

#[test]
fn a_formatted_file_can_still_be_edited() {
    let ledger = Ledger::sample(3);
    let values = ledger
        .lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let pretty: String = values.map(|value| format!("{value:#}\n")).collect();
    let spaced = ledger.lines.concat().replace("\":", "\": ");
    let sorted: String = ledger
        .lines
        .iter()
        .map(|line| {
            let value: std::collections::BTreeMap<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            serde_json::to_string(&value).unwrap() + "\n"
        })
        .collect();
    for rewritten in [pretty, spaced, sorted] {
        assert_damage_at_first(&judge(rewritten.as_bytes(), &ledger.sealed()));
    }
}

#[track_caller]
fn assert_damage_at_first(report: &Report) {
    let damage = report.damage.as_ref().expect("damage");
    assert_eq!((damage.verdict, damage.line), (Verdict::Edited, 1), "{damage}");
}
