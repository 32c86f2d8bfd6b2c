//! Where `agent_trace.jsonl` goes on, which it only does as the server does.

use std::io::Read;

use coord_agent::ledger::LedgerLocation;
use coord_intents::ledger::{Expectations, ForeignLines, Point, Verdict, split, verify};

/// Where the ledger in a file goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LedgerEnd {
    /// The point after its last whole line.
    pub point: Point,
    /// Whether its last line was not written to its end.
    pub is_torn: bool,
    /// Lines of other programs at its beginning that no line adopts.
    pub unadopted: Option<ForeignLines>,
}

/// Where the ledger that `file` gives goes on. A sentence where nothing can be appended.
///
/// # Errors
/// When it cannot be read.
pub(super) fn end(
    file: impl Read,
    repository: &str,
    ends: LedgerLocation,
) -> std::io::Result<Result<LedgerEnd, String>> {
    let expected = Expectations {
        repository: repository.to_owned(),
        base: (ends.base.seq > 0).then_some(ends.base),
        anchors: Vec::new(),
    };
    let report = verify(file, &expected)?;
    // A file without sealed lines begins where the server's begins.
    let is_empty = report.start == report.end;
    let point = if is_empty { ends.base } else { report.end };
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
            "it ends with lines without a chain, and no other line can follow them".to_owned(),
        ));
    }
    if point.seq > ends.sealed.seq {
        let (more, less) = (point.seq, ends.sealed.seq);
        return Ok(Err(format!(
            "it has {more} lines, and the server knows of {less}: the server has lost some, or is another"
        )));
    }
    if point.seq < ends.base.seq {
        let (from, to) = (point.seq + 1, ends.base.seq);
        return Ok(Err(format!(
            "the server no longer has the lines {from} to {to}; keep this file, and begin a new one"
        )));
    }
    // A torn line before all sealed lines may be the first of them.
    let is_known = report.foreign.lines > 0 && !(is_torn && is_empty);
    Ok(Ok(LedgerEnd {
        point,
        is_torn,
        unadopted: Some(report.foreign).filter(|foreign| is_known && !foreign.is_adopted),
    }))
}

/// The bytes that bring `lines`, those after `end`, into the file, whose last line so far is `torn`. A sentence where they do not
/// go on from there.
pub(super) fn bytes_to_append(end: &LedgerEnd, torn: &[u8], lines: &[String]) -> Result<Vec<u8>, String> {
    let forked = || {
        format!(
            "the server goes on otherwise than the file after line {}: FORKED",
            end.point.seq
        )
    };
    // All of the last line may be there but its newline.
    let lacks_newline = split(torn).is_some_and(|line| line.seq == end.point.seq && line.hash == end.point.hash);
    let mut bytes = if lacks_newline { b"\n".to_vec() } else { Vec::new() };
    let is_cut = end.is_torn && !lacks_newline;
    let Some(first) = lines.first() else {
        return if is_cut {
            Err("its last line is torn, and the server has none".to_owned())
        } else {
            Ok(bytes)
        };
    };
    let goes_on =
        split(first.as_bytes()).is_some_and(|line| line.seq == end.point.seq + 1 && line.prev == end.point.hash);
    if !goes_on {
        return Err(forked());
    }
    bytes.extend(lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()));
    match is_cut {
        false => Ok(bytes),
        // The existing part of the line is the beginning of the server's.
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
        let end = end(file.as_bytes(), REPOSITORY, ends).unwrap()?;
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
        let unadopted = |file: &str| end(file.as_bytes(), REPOSITORY, ends()).unwrap().unwrap().unadopted;
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
        let edited = VECTOR.replace("Wrote", "Wrote!");
        assert!(synced(&edited, ends()).unwrap_err().starts_with("EDITED at line 2"));
        let older = LedgerLocation {
            sealed: Point {
                seq: 2,
                ..ends().sealed
            },
            ..ends()
        };
        assert!(synced(VECTOR, older).unwrap_err().contains("the server knows of 2"));
        let trimmed = LedgerLocation {
            base: Point {
                seq: 3,
                ..ends().sealed
            },
            ..ends()
        };
        let first = format!("{}\n", VECTOR.lines().next().unwrap());
        assert!(
            synced(&first, trimmed)
                .unwrap_err()
                .contains("no longer has the lines 2 to 3")
        );
        let foreign = "{\"actor\":\"x\"}\n";
        assert!(
            synced(&format!("{VECTOR}{foreign}"), ends())
                .unwrap_err()
                .contains("without a chain")
        );
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
