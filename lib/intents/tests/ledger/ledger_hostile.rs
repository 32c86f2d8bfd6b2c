//! Input that was made to hurt: bounded memory, no panic.

use std::io::{self, Read};

use coord_intents::ledger::{Entry, Expectations, MAX_LINE_BYTES, Record, UnreadableLine, Verdict, verify};

use crate::sample::{Ledger, REPOSITORY, event, unsealed};

fn verdict(source: impl Read) -> Option<Verdict> {
    let report = verify(source, &Expectations::chain_of(REPOSITORY)).unwrap();
    report.damage.map(|damage| damage.verdict)
}

/// The reader's own test measures its buffer.
// rule: ledger#line-size
#[test]
fn a_line_of_100_mb_is_named_and_not_read() {
    let sample = Ledger::sample(3).bytes();
    let line = |byte| io::repeat(byte).take(100 << 20);
    assert_eq!(verdict(line(b'x')), Some(Verdict::Oversized));
    assert_eq!(verdict(sample.chain(line(b'{'))), Some(Verdict::Oversized));
    let sample = Ledger::sample(3).bytes();
    let report = verify(sample.chain(line(b' ')), &Expectations::chain_of(REPOSITORY)).unwrap();
    assert_eq!(
        report.damage.map(|damage| (damage.line, damage.seq)),
        Some((4, Some(4)))
    );
}

#[test]
fn deep_json_ends_no_stack() {
    for open in ["[", "{\"a\":"] {
        let deep = open.repeat(MAX_LINE_BYTES / open.len() - 10);
        assert!(matches!(Record::read(deep.as_bytes()), Err(UnreadableLine::Json(_))));
        assert!(Entry::parse(deep.as_bytes()).is_err());
        let balanced = format!("{{\"a\":{}{}}}\n", "[".repeat(400_000), "]".repeat(400_000));
        assert_eq!(verdict(balanced.as_bytes()), None, "an object of another program");
        let damaged = format!("{}{deep}\n", String::from_utf8(Ledger::sample(2).bytes()).unwrap());
        assert_eq!(verdict(damaged.as_bytes()), Some(Verdict::Edited));
    }
    assert!(matches!(
        Record::read(&vec![b' '; MAX_LINE_BYTES + 1]),
        Err(UnreadableLine::TooLong)
    ));
}

#[test]
fn bytes_that_are_no_utf_8_are_named() {
    let mut bytes = Ledger::sample(3).bytes();
    bytes.extend_from_slice(b"{\"a\":\"\xff\xfe\"}\n");
    assert_eq!(verdict(&bytes[..]), Some(Verdict::Edited));
    assert!(Record::read(b"{\"a\":\"\xff\"}").is_err());
    assert_eq!(verdict(&b"\0\0\0\n"[..]), Some(Verdict::Edited));
    assert_eq!(verdict(&b"\n\n\n"[..]), Some(Verdict::Edited));
}

#[test]
fn numbers_at_their_ends_do_not_overflow() {
    let line = unsealed(event(1), 1);
    for seq in [
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999",
        "0",
        "-1",
        "1e3",
    ] {
        let chain = format!(
            ",\"chain\":{{\"seq\":{seq},\"prev\":\"{0}\",\"hash\":\"{0}\"}}}}\n",
            "0".repeat(64)
        );
        let bytes = line.trim_end_matches('}').to_owned() + "}" + &chain;
        assert!(verdict(bytes.as_bytes()).is_some(), "{seq}");
    }
}

#[test]
fn an_error_of_reading_is_no_verdict() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let source = Ledger::sample(3).bytes();
    assert!(verify(source.chain(Broken), &Expectations::chain_of(REPOSITORY)).is_err());
}
