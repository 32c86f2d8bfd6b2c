//! Damage that only an external point shows, and lines that are allowed before and after the sealed lines.

use coord_intents::ledger::{Expectations, Finding, Point, Verdict};

use crate::judging::{assert_damage, judge, read};
use crate::sample::{FOREIGN, Ledger, REPOSITORY, VECTOR, event, expected, unsealed};

const COUNT: usize = 9;

#[test]
fn whole_ledgers_are_intact() {
    let vector = judge(VECTOR.as_bytes(), &Expectations::chain_of(REPOSITORY));
    assert_eq!(vector.damage, None);
    assert_eq!(
        vector.end.to_string(),
        "3:43768ac6081e13da4cf31dc3b650d5377ac8e85e329299b131a00c1d75720e45"
    );
    let ledger = Ledger::sample(COUNT as u64);
    for count in 0..=COUNT {
        let part = Ledger {
            lines: ledger.lines[..count].to_vec(),
            points: ledger.points[..=count].to_vec(),
        };
        let report = judge(&part.bytes(), &expected(&part.points));
        assert_eq!(
            (report.damage, report.notes, report.end),
            (None, vec![], part.points[count])
        );
        assert_eq!((report.anchors_met, report.lines), (count + 1, count as u64));
    }
}

#[test]
fn another_repositorys_ledger_is_foreign() {
    let other = Ledger::of(
        "github.com/acme/store",
        (1..=5).map(|number| unsealed(event(number), number)),
    );
    let report = judge(&other.bytes(), &Expectations::chain_of(REPOSITORY));
    assert_damage(&report, Verdict::ForeignRepository, 1, 1);
    let both = [Ledger::sample(3).bytes(), other.bytes()].concat();
    assert_damage(
        &judge(&both, &Expectations::chain_of(REPOSITORY)),
        Verdict::ForeignRepository,
        4,
        1,
    );
}

#[test]
fn a_rebuilt_chain_is_found_wherever_an_anchor_is() {
    let ledger = Ledger::sample(COUNT as u64);
    for place in 0..COUNT {
        let forged = [unsealed(event(99), 99)].into_iter();
        let rest = (place + 2..=COUNT).map(|number| unsealed(event(number as u64), number as u64));
        let rebuilt = Ledger::after(ledger.points[place], forged.chain(rest));
        let bytes = [ledger.lines[..place].concat(), rebuilt.lines.concat()]
            .concat()
            .into_bytes();
        for anchor in 0..=COUNT {
            let report = read(&bytes, &expected(&[ledger.points[anchor]]));
            if anchor > place {
                assert_damage(&report, Verdict::Forked, anchor, anchor);
            } else {
                assert_eq!(report.damage, None, "a chain alone cannot show it");
            }
        }
        // The first anchor after the forgery names it, whatever else there is.
        let report = judge(&bytes, &expected(&ledger.points));
        let damage = assert_damage(&report, Verdict::Forked, place + 1, place + 1);
        assert!(damage.detail.contains(&format!("after seq {place} ")), "{damage}");
    }
}

#[test]
fn two_histories_in_one_file_are_forked() {
    let ledger = Ledger::sample(COUNT as u64);
    let other = Ledger::after(ledger.points[4], (60..63).map(|number| unsealed(event(number), number)));
    let both = [ledger.bytes(), other.bytes()].concat();
    assert_damage(&judge(&both, &ledger.sealed()), Verdict::Forked, COUNT + 1, 5);
}

#[test]
fn a_seal_that_disagrees_with_the_ledger_is_damage() {
    let ledger = Ledger::sample(COUNT as u64);
    let wrong = Point {
        seq: 5,
        ..ledger.points[4]
    };
    assert_damage(&judge(&ledger.bytes(), &expected(&[wrong])), Verdict::Forked, 5, 5);
    let of_another = Point::start("github.com/acme/store");
    assert!(judge(&ledger.bytes(), &expected(&[of_another])).damage.is_some());
}

#[test]
fn a_tail_that_is_not_sealed_yet_is_no_damage() {
    let ledger = Ledger::sample(COUNT as u64);
    let tail: String = (10..12).map(|number| unsealed(event(number), number) + "\n").collect();
    let bytes = [ledger.bytes(), tail.into_bytes()].concat();
    let report = judge(&bytes, &ledger.sealed());
    assert_eq!(report.damage, None);
    assert_eq!(
        (report.notes[0].verdict, report.notes[0].line),
        (Verdict::UnsealedTail, COUNT as u64 + 1)
    );
    // The seal was cut off of a line that an anchor knows.
    let cut = [
        ledger.lines[..COUNT - 1].concat(),
        unsealed(event(9), 9),
        "\n".to_owned(),
    ]
    .concat();
    assert_damage(
        &judge(cut.as_bytes(), &ledger.sealed()),
        Verdict::Truncated,
        COUNT + 1,
        COUNT,
    );
}

#[test]
fn a_ledger_may_begin_at_the_base_of_the_seal() {
    let ledger = Ledger::sample(COUNT as u64);
    let rest = ledger.lines[4..].concat().into_bytes();
    let based = Expectations {
        base: Some(ledger.points[4]),
        ..expected(&[ledger.points[2], ledger.points[COUNT]])
    };
    let report = judge(&rest, &based);
    assert_eq!(report.damage, None);
    assert_eq!(
        (report.notes[0].verdict, report.notes[0].seq),
        (Verdict::Trimmed, Some(5))
    );
    assert_eq!((report.anchors_before, report.anchors_met), (1, 2));
    // Nobody knows of it.
    assert_damage(&judge(&rest, &ledger.sealed()), Verdict::Missing, 1, 5);
    // The seal knows another hash.
    let wrong = Expectations {
        base: Some(Point {
            seq: 4,
            ..ledger.points[3]
        }),
        ..expected(&[])
    };
    assert!(matches!(
        judge(&rest, &wrong).damage,
        Some(Finding {
            verdict: Verdict::Forked,
            line: 1,
            ..
        })
    ));
    // More is gone than the seal says.
    let less = ledger.lines[5..].concat().into_bytes();
    assert_damage(&judge(&less, &based), Verdict::Missing, 1, 6);
    // A file may also have more than the store, and then it goes through the base.
    assert_eq!(judge(&ledger.bytes(), &based).damage, None);
    assert_damage(&judge(&ledger.bytes(), &wrong), Verdict::Forked, 4, 4);
    let short = ledger.lines[..3].concat().into_bytes();
    let base_alone = Expectations {
        base: based.base,
        ..expected(&[])
    };
    assert_damage(&judge(&short, &base_alone), Verdict::Truncated, 4, 4);
}

#[test]
fn foreign_lines_are_proven_by_the_line_that_adopts_them() {
    let ledger = Ledger::adopted(COUNT as u64);
    let whole = [FOREIGN.as_bytes(), &ledger.bytes()].concat();
    let report = judge(&whole, &ledger.sealed());
    assert_eq!((report.damage, report.notes, report.foreign.lines), (None, vec![], 2));
    assert!(report.foreign.is_adopted);
    let text = String::from_utf8(whole).unwrap();
    for (damaged, verdict) in [
        (text.replacen("Wrote", "Wrode", 1), Verdict::Edited),
        (text[text.find('\n').unwrap() + 1..].to_owned(), Verdict::Edited),
        (format!("{{\"a\":1}}\n{text}"), Verdict::Edited),
        (text.replacen('\n', "\r\n", 1), Verdict::LineEndings),
        (format!("\u{feff}{text}"), Verdict::Bom),
    ] {
        let damage = judge(damaged.as_bytes(), &ledger.sealed()).damage.expect("damage");
        assert_eq!((damage.verdict, damage.line), (verdict, 1), "{damage}");
    }
    let unadopted = [FOREIGN.as_bytes(), &Ledger::sample(3).bytes()].concat();
    let report = judge(&unadopted, &expected(&[]));
    assert_eq!((report.damage, report.notes[0].verdict), (None, Verdict::Unadopted));
    // A line of another kind adopts nothing.
    let pretended = ledger.lines.concat().replace("STATE_TRANSITION", "TOOL_EXECUTION");
    let lines = pretended
        .lines()
        .map(|line| line[..line.find(",\"chain\"").unwrap()].to_owned() + "}");
    let pretended = [FOREIGN.as_bytes(), &Ledger::of(REPOSITORY, lines).bytes()].concat();
    assert_eq!(judge(&pretended, &expected(&[])).notes[0].verdict, Verdict::Unadopted);
}
