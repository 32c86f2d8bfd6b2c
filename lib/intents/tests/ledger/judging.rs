//! Verdicts, here and in Python.

use coord_intents::ledger::{Expectations, Finding, Report, Verdict, verify};

use crate::python;

pub fn read(ledger: &[u8], expected: &Expectations) -> Report {
    verify(ledger, expected).unwrap()
}

/// Verifies `ledger` here and in Python, which has to name the same line.
pub fn judge(ledger: &[u8], expected: &Expectations) -> Report {
    let report = read(ledger, expected);
    let here = match &report.damage {
        None => Ok(report.end.to_string()),
        Some(damage) => Err(damage.line),
    };
    if let Some(there) = python::verdict(ledger, expected) {
        // A chain that is right in itself fails only in the end there, where the line is not known.
        let by_anchor = matches!(&report.damage, Some(damage) if damage.verdict == Verdict::Forked);
        if by_anchor {
            assert!(there.is_err(), "Python finds nothing: {report:#?}");
        } else {
            assert_eq!(there, here, "Python, and {report:#?}");
        }
    }
    report
}

/// Judges `ledger`, whose first damage has to be this one.
#[track_caller]
pub fn assert_judged(ledger: &[u8], expected: &Expectations, verdict: Verdict, line: usize, seq: usize) -> Finding {
    assert_damage(&judge(ledger, expected), verdict, line, seq)
}

#[track_caller]
pub fn assert_damage(report: &Report, verdict: Verdict, line: usize, seq: usize) -> Finding {
    let damage = report
        .damage
        .clone()
        .unwrap_or_else(|| panic!("{verdict:?} was not found"));
    let found = (damage.verdict, damage.line, damage.seq);
    assert_eq!(found, (verdict, line as u64, Some(seq as u64)), "{damage}");
    damage
}
