//! Damage that only an external point shows, and lines that are allowed before and after the sealed lines.

use coord_intents::ledger::{Expectations, Finding, Point, Verdict};

use crate::judging::{assert_damage, assert_judged, judge, read};
use crate::sample::{FOREIGN, Ledger, REPOSITORY, VECTOR, chain, expected, line};

const COUNT: usize = 9;

#[test]
fn whole_ledgers_are_intact() {
    let vector = judge(VECTOR.as_bytes(), &chain());
    assert_eq!(vector.damage, None);
    assert_eq!(
        vector.end.to_string(),
        "3:43768ac6081e13da4cf31dc3b650d5377ac8e85e329299b131a00c1d75720e45"
    );
    let ledger = Ledger::sample(COUNT);
    for count in 0..=COUNT {
        let (part, points) = (ledger.lines[..count].concat(), &ledger.points[..=count]);
        let report = judge(part.as_bytes(), &expected(points));
        assert_eq!((report.damage, report.notes, report.end), (None, vec![], points[count]));
        assert_eq!((report.anchors_met, report.lines), (count + 1, count as u64));
    }
}

#[test]
fn another_repositorys_ledger_is_foreign() {
    let other = Ledger::of("github.com/acme/store", (1..=5).map(line)).bytes();
    assert_judged(&other, &chain(), Verdict::ForeignRepository, 1, 1);
    let both = [Ledger::sample(3).bytes(), other].concat();
    assert_judged(&both, &chain(), Verdict::ForeignRepository, 4, 1);
}

#[test]
fn a_rebuilt_chain_is_found_wherever_an_anchor_is() {
    let ledger = Ledger::sample(COUNT);
    for place in 0..COUNT {
        let forged = [99].into_iter().chain(place + 2..=COUNT).map(line);
        let rebuilt = Ledger::after(ledger.points[place], forged);
        let bytes = ledger.changed(|lines| {
            lines.truncate(place);
            lines.extend(rebuilt.lines);
        });
        for anchor in 0..=COUNT {
            let report = read(&bytes, &expected(&[ledger.points[anchor]]));
            if anchor > place {
                assert_damage(&report, Verdict::Forked, anchor, anchor);
            } else {
                assert_eq!(report.damage, None, "a chain alone cannot show it");
            }
        }
        // The first anchor after the forgery names it, whatever else there is.
        let anchors = expected(&ledger.points);
        let damage = assert_judged(&bytes, &anchors, Verdict::Forked, place + 1, place + 1);
        assert!(damage.detail.contains(&format!("after seq {place} ")), "{damage}");
    }
}

#[test]
fn two_histories_in_one_file_are_forked() {
    let ledger = Ledger::sample(COUNT);
    let other = Ledger::after(ledger.points[4], (60..63).map(line));
    let both = [ledger.bytes(), other.bytes()].concat();
    assert_judged(&both, &ledger.sealed(), Verdict::Forked, COUNT + 1, 5);
}

#[test]
fn a_seal_that_disagrees_with_the_ledger_is_damage() {
    let ledger = Ledger::sample(COUNT);
    let wrong = Point {
        seq: 5,
        ..ledger.points[4]
    };
    assert_judged(&ledger.bytes(), &expected(&[wrong]), Verdict::Forked, 5, 5);
    let of_another = Point::start("github.com/acme/store");
    assert!(judge(&ledger.bytes(), &expected(&[of_another])).damage.is_some());
}

#[test]
fn a_tail_that_is_not_sealed_yet_is_no_damage() {
    let ledger = Ledger::sample(COUNT);
    let bytes = ledger.changed(|lines| lines.extend([10, 11].map(|number| line(number) + "\n")));
    let report = judge(&bytes, &ledger.sealed());
    assert_eq!(report.damage, None);
    let tail = &report.notes[0];
    assert_eq!((tail.verdict, tail.line), (Verdict::UnsealedTail, COUNT as u64 + 1));
    // The seal was cut off of a line that an anchor knows.
    let cut = ledger.changed(|lines| lines[COUNT - 1] = line(9) + "\n");
    assert_judged(&cut, &ledger.sealed(), Verdict::Truncated, COUNT + 1, COUNT);
}

#[test]
fn a_ledger_may_begin_at_the_base_of_the_seal() {
    let ledger = Ledger::sample(COUNT);
    let after = |count: usize| ledger.lines[count..].concat().into_bytes();
    let based = Expectations {
        base: Some(ledger.points[4]),
        ..expected(&[ledger.points[2], ledger.points[COUNT]])
    };
    let report = judge(&after(4), &based);
    assert_eq!(report.damage, None);
    let trimmed = &report.notes[0];
    assert_eq!((trimmed.verdict, trimmed.seq), (Verdict::Trimmed, Some(5)));
    assert_eq!((report.anchors_before, report.anchors_met), (1, 2));
    // Nobody knows of it.
    assert_judged(&after(4), &ledger.sealed(), Verdict::Missing, 1, 5);
    // The seal knows another hash.
    let wrong = Expectations {
        base: Some(Point {
            seq: 4,
            ..ledger.points[3]
        }),
        ..chain()
    };
    assert!(matches!(
        judge(&after(4), &wrong).damage,
        Some(Finding {
            verdict: Verdict::Forked,
            line: 1,
            ..
        })
    ));
    // More is gone than the seal says.
    assert_judged(&after(5), &based, Verdict::Missing, 1, 6);
    // A file may also have more than the store, and then it goes through the base.
    assert_eq!(judge(&ledger.bytes(), &based).damage, None);
    assert_judged(&ledger.bytes(), &wrong, Verdict::Forked, 4, 4);
    let short = ledger.changed(|lines| lines.truncate(3));
    let base_alone = Expectations {
        base: based.base,
        ..chain()
    };
    assert_judged(&short, &base_alone, Verdict::Truncated, 4, 4);
}

#[test]
fn foreign_lines_are_proven_by_the_line_that_adopts_them() {
    let ledger = Ledger::adopted(COUNT);
    let text = FOREIGN.to_owned() + &ledger.lines.concat();
    let report = judge(text.as_bytes(), &ledger.sealed());
    assert_eq!((report.damage, report.notes, report.foreign.lines), (None, vec![], 2));
    assert!(report.foreign.is_adopted);
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
    let with_foreign = |ledger: Ledger| judge(&[FOREIGN.as_bytes(), &ledger.bytes()].concat(), &chain());
    let unadopted = with_foreign(Ledger::sample(3));
    assert_eq!(
        (unadopted.damage, unadopted.notes[0].verdict),
        (None, Verdict::Unadopted)
    );
    // A line of another kind adopts nothing.
    let lines = ledger.lines.iter().map(|line| {
        let line = line.replace("STATE_TRANSITION", "TOOL_EXECUTION");
        line[..line.find(",\"chain\"").unwrap()].to_owned() + "}"
    });
    let pretended = with_foreign(Ledger::of(REPOSITORY, lines));
    assert_eq!(pretended.notes[0].verdict, Verdict::Unadopted);
}
