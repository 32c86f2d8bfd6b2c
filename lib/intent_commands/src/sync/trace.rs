//! The end of the ledger in `agent_trace.jsonl`, and the bytes that continue it as the server's ledger does.

use std::io::Read;

use coord_agent::ledger::LedgerLocation;
use coord_intents::ledger::{Expectations, ForeignLines, Point, Verdict, split, verify};

/// The end of the ledger in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LedgerEnd {
    /// The point after the last complete line.
    pub point: Point,
    /// Whether the last line is incomplete.
    pub is_torn: bool,
    /// Lines of other programs at the beginning of the file that no line adopts.
    pub unadopted: Option<ForeignLines>,
}

/// Finds the end of the ledger in `file`. Returns a sentence if nothing can be appended.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn find_end(
    file: impl Read,
    repository: &str,
    server: LedgerLocation,
) -> std::io::Result<Result<LedgerEnd, String>> {
    let expected = Expectations {
        repository: repository.to_owned(),
        base: (server.base.seq > 0).then_some(server.base),
        anchors: Vec::new(),
    };
    let report = verify(file, &expected)?;
    // A file without sealed lines begins with the first line of the server.
    let is_empty = report.start == report.end;
    let point = if is_empty { server.base } else { report.end };
    let mut is_torn = false;
    match report.damage {
        Some(damage) if damage.verdict == Verdict::TornLastLine => is_torn = true,
        // The base is the only anchor.
        Some(damage) if damage.verdict == Verdict::Truncated => {}
        Some(damage) => return Ok(Err(format!("{damage}; nothing was appended"))),
        None => {}
    }
    if report.notes.iter().any(|note| note.verdict == Verdict::UnsealedTail) {
        return Ok(Err(
            "it ends with lines without a chain, and no other line may follow them".to_owned(),
        ));
    }
    if point.seq > server.sealed.seq {
        let (more, less) = (point.seq, server.sealed.seq);
        return Ok(Err(format!(
            "it has {more} lines, and the server has {less}: the server has lost some, or is another one"
        )));
    }
    if point.seq < server.base.seq {
        let (from, to) = (point.seq + 1, server.base.seq);
        return Ok(Err(format!(
            "the server no longer has the lines {from} to {to}; keep this file, and begin a new one"
        )));
    }
    // An incomplete line before all sealed lines may be the first of them, and not of another program.
    let is_foreign = report.foreign.lines > 0 && !(is_torn && is_empty);
    Ok(Ok(LedgerEnd {
        point,
        is_torn,
        unadopted: Some(report.foreign).filter(|foreign| is_foreign && !foreign.is_adopted),
    }))
}

/// The bytes that append `lines`, those after `end`, to a file whose incomplete last line is `torn`. Returns a sentence
/// if the lines do not continue the file.
pub(super) fn bytes_to_append(end: &LedgerEnd, torn: &[u8], lines: &[String]) -> Result<Vec<u8>, String> {
    let forked = || {
        format!(
            "the ledgers of the file and of the server differ after line {}: FORKED",
            end.point.seq
        )
    };
    // The last line may lack only its newline.
    let lacks_newline = split(torn).is_some_and(|line| line.seq == end.point.seq && line.hash == end.point.hash);
    let mut bytes = if lacks_newline { b"\n".to_vec() } else { Vec::new() };
    let is_cut = end.is_torn && !lacks_newline;
    let Some(first) = lines.first() else {
        return if is_cut {
            Err("its last line is incomplete, and the server does not have it".to_owned())
        } else {
            Ok(bytes)
        };
    };
    let continues_file =
        split(first.as_bytes()).is_some_and(|line| line.seq == end.point.seq + 1 && line.prev == end.point.hash);
    if !continues_file {
        return Err(forked());
    }
    bytes.extend(lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()));
    match is_cut {
        false => Ok(bytes),
        // The file must have the beginning of the server's line.
        true => bytes.strip_prefix(torn).map(<[u8]>::to_vec).ok_or_else(forked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: &str = include_str!("../../../intents/tests/ledger/vector.jsonl");
    const REPOSITORY: &str = "github.com/acme/shop";

    fn ends() -> LedgerLocation {
        LedgerLocation {
            base: Point::start(REPOSITORY),
            sealed: verify(VECTOR.as_bytes(), &Expectations::chain_of(REPOSITORY))
                .unwrap()
                .end,
        }
    }

    /// The file after it was brought up to date.
    fn synced(file: &str, ends: LedgerLocation) -> Result<String, String> {
        let end = find_end(file.as_bytes(), REPOSITORY, ends).unwrap()?;
        let lines: Vec<String> = VECTOR.lines().map(str::to_owned).collect();
        let after = usize::try_from(end.point.seq).unwrap();
        let torn = file.rsplit('\n').next().unwrap_or_default();
        let bytes = bytes_to_append(&end, torn.as_bytes(), &lines[after..])?;
        Ok(format!("{file}{}", String::from_utf8(bytes).unwrap()))
    }

    #[test]
    fn a_trace_file_cut_anywhere_is_completed_to_the_same_bytes() {
        for cut in 0..=VECTOR.len() {
            if VECTOR.is_char_boundary(cut) {
                let (kept, _) = VECTOR.split_at(cut);
                assert_eq!(synced(kept, ends()).as_deref(), Ok(VECTOR), "{cut}");
            }
        }
    }

    #[test]
    fn lines_of_others_stay_byte_for_byte() {
        let foreign = "{\"actor\":\"x\"}\r\n{ \"actor\": \"y\" }\n";
        assert_eq!(synced(foreign, ends()), Ok(format!("{foreign}{VECTOR}")));
        let unadopted = |file: &str| {
            find_end(file.as_bytes(), REPOSITORY, ends())
                .unwrap()
                .unwrap()
                .unadopted
        };
        let found = unadopted(foreign).unwrap();
        assert_eq!((found.lines, found.bytes), (2, foreign.len() as u64));
        assert_eq!(unadopted(&format!("{foreign}{VECTOR}")), Some(found));
        assert_eq!(unadopted(VECTOR), None);
        let torn = format!("{foreign}{}", &VECTOR[..100]);
        assert_eq!(unadopted(&torn), None, "the torn line is counted as one of others");
        assert_eq!(synced(&torn, ends()), Ok(format!("{foreign}{VECTOR}")));
    }

    #[test]
    fn a_damaged_or_diverging_trace_file_gets_nothing_appended() {
        let edited = synced(&VECTOR.replace("Wrote", "Wrote!"), ends()).unwrap_err();
        assert!(edited.starts_with("EDITED at line 2"), "{edited}");
        let (mut older, mut trimmed) = (ends(), ends());
        older.sealed.seq = 2;
        trimmed.base = Point {
            seq: 3,
            ..ends().sealed
        };
        for (file, ends, refusal) in [
            (VECTOR.to_owned(), older, "the server has 2"),
            (
                format!("{}\n", VECTOR.lines().next().unwrap()),
                trimmed,
                "no longer has the lines 2 to 3",
            ),
            (format!("{VECTOR}{{\"actor\":\"x\"}}\n"), ends(), "without a chain"),
        ] {
            let refused = synced(&file, ends).unwrap_err();
            assert!(refused.contains(refusal), "{refused}");
        }
        let other = Expectations::chain_of("github.com/acme/other");
        assert!(verify(VECTOR.as_bytes(), &other).unwrap().damage.is_some());
        let end = LedgerEnd {
            point: Point::start("github.com/acme/other"),
            is_torn: false,
            unadopted: None,
        };
        let lines: Vec<String> = VECTOR.lines().map(str::to_owned).collect();
        assert!(bytes_to_append(&end, b"", &lines).unwrap_err().ends_with("FORKED"));
    }
}
