//! Agents write text that JSON forbids, and it is repaired while it is read: byte-order marks before the value, bytes that are not
//! UTF-8, and halves of surrogate pairs, as `JSON.stringify` writes them.

use std::io::{self, Read};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

const MARK: &str = "\u{feff}";

/// In place of half a pair.
const REPLACED: &[u8] = br"\ufffd";

/// JSON that a parser accepts.
pub(super) struct JsonCleaner<R> {
    input: R,
    /// Read, and not yet looked at: the beginning of a character.
    raw: Vec<u8>,
    /// Looked at, and not yet given away from `given` on.
    ready: Vec<u8>,
    given: usize,
    /// Whether the value has begun.
    has_begun: bool,
    is_in_text: bool,
    /// An escape that is not whole, from its backslash on; of a first half of a pair, the second one belongs to it.
    escape: Vec<u8>,
}

impl<R: Read> JsonCleaner<R> {
    pub(super) fn new(input: R) -> JsonCleaner<R> {
        JsonCleaner {
            input,
            raw: Vec::new(),
            ready: Vec::new(),
            given: 0,
            has_begun: false,
            is_in_text: false,
            escape: Vec::new(),
        }
    }

    /// Takes over the characters of `raw` that are whole; at the end of the input, all.
    fn take_over(&mut self, is_end: bool) {
        let raw = std::mem::take(&mut self.raw);
        let mut looked_at = 0;
        for chunk in raw.utf8_chunks() {
            looked_at += chunk.valid().len() + chunk.invalid().len();
            self.add(chunk.valid());
            let is_cut = looked_at == raw.len() && chunk.invalid().len() < 4 && is_beginning(chunk.invalid());
            if is_cut && !is_end {
                self.raw = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.add("\u{fffd}");
            }
        }
        if is_end {
            self.ready.append(&mut self.escape);
        }
    }

    fn add(&mut self, text: &str) {
        let text = match self.has_begun {
            true => text,
            false => text.trim_start_matches(|letter: char| MARK.contains(letter) || letter.is_ascii_whitespace()),
        };
        self.has_begun |= !text.is_empty();
        text.bytes().for_each(|byte| self.push(byte));
    }

    fn push(&mut self, byte: u8) {
        if !self.escape.is_empty() {
            self.escape.push(byte);
            return self.look_at_escape();
        }
        match byte {
            b'\\' if self.is_in_text => self.escape.push(byte),
            b'"' => {
                self.is_in_text = !self.is_in_text;
                self.ready.push(byte);
            }
            _ => self.ready.push(byte),
        }
    }

    fn look_at_escape(&mut self) {
        let is_unicode = |escape: &[u8]| escape.get(1) == Some(&b'u');
        let (first, second) = self.escape.split_at(self.escape.len().min(6));
        match (first.len(), second.len()) {
            (2, _) if !is_unicode(first) => self.ready.append(&mut self.escape),
            (..6, _) => {}
            (_, 0) => match unit(first) {
                Some(0xd800..=0xdbff) => {}
                Some(0xdc00..=0xdfff) => {
                    self.escape.clear();
                    self.ready.extend(REPLACED);
                }
                _ => self.ready.append(&mut self.escape),
            },
            (_, 1) if second == b"\\" => {}
            (_, 2..=5) if is_unicode(second) => {}
            (_, 6) if matches!(unit(second), Some(0xdc00..=0xdfff)) => self.ready.append(&mut self.escape),
            // Half a pair, and something else.
            _ => {
                let rest = second.to_vec();
                self.escape.clear();
                self.ready.extend(REPLACED);
                rest.into_iter().for_each(|byte| self.push(byte));
            }
        }
    }
}

impl<R: Read> Read for JsonCleaner<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
            let start = self.raw.len();
            self.raw.resize(start + CHUNK, 0);
            let read = self.input.read(&mut self.raw[start..]);
            self.raw.truncate(start + read.as_ref().map_or(0, |read| *read));
            let is_end = read? == 0;
            self.take_over(is_end);
            if is_end {
                break;
            }
        }
        let ready = &self.ready[self.given..];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.given += count;
        Ok(count)
    }
}

/// Whether more bytes could make it a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// The unit of UTF-16 that an escape of six characters stands for.
fn unit(escape: &[u8]) -> Option<u16> {
    u16::from_str_radix(std::str::from_utf8(escape.get(2..6)?).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `input`, so many bytes at once.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.0.len().min(buffer.len()).min(self.1));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    #[test]
    fn text_that_json_forbids_is_cleaned_however_it_is_chunked() {
        for (input, expected) in [
            (&b"\xef\xbb\xbf \xef\xbb\xbf{}"[..], "{}"),
            (b"", ""),
            (b"\xef\xbb", "\u{fffd}"),
            ("{\"a\":\"\u{feff}ü\"}".as_bytes(), "{\"a\":\"\u{feff}ü\"}"),
            (br#"["\ud83d"]"#, r#"["\ufffd"]"#),
            (br#"["\ud83dx\udE00"]"#, r#"["\ufffdx\ufffd"]"#),
            (br#"["\ud83d\ude00"]"#, r#"["\ud83d\ude00"]"#),
            (br#"["\ud83d\ud83d\ude00\n"]"#, r#"["\ufffd\ud83d\ude00\n"]"#),
            (br#"["\ud83d\\ude00"]"#, r#"["\ufffd\\ude00"]"#),
            (br#"["\ud83d\u0041"]"#, r#"["\ufffd\u0041"]"#),
            (br#"["\\ud83d"]"#, r#"["\\ud83d"]"#),
            (br#"["\ud83d\"", 1]"#, r#"["\ufffd\"", 1]"#),
            (br#"["\uzzzz"]"#, r#"["\uzzzz"]"#),
            (b"[\"\xed\xa0\xbd\"]", "[\"\u{fffd}\u{fffd}\u{fffd}\"]"),
            (b"[\"\xff\"]", "[\"\u{fffd}\"]"),
        ] {
            for at_once in [1, 2, 5, 1000] {
                let mut text = String::new();
                JsonCleaner::new(Slow(input, at_once))
                    .read_to_string(&mut text)
                    .unwrap();
                assert_eq!(
                    text,
                    expected,
                    "{:?}, {at_once} at once",
                    String::from_utf8_lossy(input)
                );
            }
        }
    }
}
