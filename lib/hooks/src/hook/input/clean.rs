//! Repairs text that agents write although JSON forbids it, as a stream: byte-order marks before the value, bytes that
//! are not UTF-8, and halves of surrogate pairs, which `JSON.stringify` writes.

use std::io::{self, Read};

/// Maximum number of bytes of one read.
const CHUNK: usize = 64 * 1024;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Replaces half a surrogate pair.
const REPLACEMENT: &[u8] = br"\ufffd";

/// A reader of JSON that a parser accepts.
pub(super) struct JsonCleaner<R> {
    input: R,
    /// Bytes that were read but not cleaned: the beginning of a character.
    raw: Vec<u8>,
    /// Cleaned bytes. Those before `returned` were returned to the caller.
    cleaned: Vec<u8>,
    returned: usize,
    /// Whether the value has begun.
    has_begun: bool,
    is_in_string: bool,
    /// An incomplete escape, from its backslash. The first half of a surrogate pair includes the second half.
    escape: Vec<u8>,
}

impl<R: Read> JsonCleaner<R> {
    pub(super) fn new(input: R) -> JsonCleaner<R> {
        JsonCleaner {
            input,
            raw: Vec::new(),
            cleaned: Vec::new(),
            returned: 0,
            has_begun: false,
            is_in_string: false,
            escape: Vec::new(),
        }
    }

    /// Cleans the complete characters of `raw`; at the end of the input, all of them.
    fn clean_raw(&mut self, is_end: bool) {
        let raw = std::mem::take(&mut self.raw);
        let mut consumed = 0;
        for chunk in raw.utf8_chunks() {
            consumed += chunk.valid().len() + chunk.invalid().len();
            self.add(chunk.valid());
            let is_cut = consumed == raw.len() && chunk.invalid().len() < 4 && is_incomplete(chunk.invalid());
            if is_cut && !is_end {
                self.raw = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.add("\u{fffd}");
            }
        }
        if is_end {
            self.cleaned.append(&mut self.escape);
        }
    }

    fn add(&mut self, text: &str) {
        let text = match self.has_begun {
            true => text,
            false => text.trim_start_matches(|letter: char| letter == BYTE_ORDER_MARK || letter.is_ascii_whitespace()),
        };
        self.has_begun |= !text.is_empty();
        text.bytes().for_each(|byte| self.push(byte));
    }

    fn push(&mut self, byte: u8) {
        if !self.escape.is_empty() {
            self.escape.push(byte);
            return self.clean_escape();
        }
        match byte {
            b'\\' if self.is_in_string => self.escape.push(byte),
            b'"' => {
                self.is_in_string = !self.is_in_string;
                self.cleaned.push(byte);
            }
            _ => self.cleaned.push(byte),
        }
    }

    /// Moves `escape` to `cleaned` if it is complete.
    fn clean_escape(&mut self) {
        let is_unicode = |escape: &[u8]| escape.get(1) == Some(&b'u');
        let (first, second) = self.escape.split_at(self.escape.len().min(6));
        match (first.len(), second.len()) {
            (2, _) if !is_unicode(first) => self.cleaned.append(&mut self.escape),
            (..6, _) => {}
            (_, 0) => match utf16_unit(first) {
                Some(0xd800..=0xdbff) => {}
                Some(0xdc00..=0xdfff) => {
                    self.escape.clear();
                    self.cleaned.extend(REPLACEMENT);
                }
                _ => self.cleaned.append(&mut self.escape),
            },
            (_, 1) if second == b"\\" => {}
            (_, 2..=5) if is_unicode(second) => {}
            (_, 6) if matches!(utf16_unit(second), Some(0xdc00..=0xdfff)) => self.cleaned.append(&mut self.escape),
            // Half a surrogate pair, and other text after it.
            _ => {
                let rest = second.to_vec();
                self.escape.clear();
                self.cleaned.extend(REPLACEMENT);
                rest.into_iter().for_each(|byte| self.push(byte));
            }
        }
    }
}

impl<R: Read> Read for JsonCleaner<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.returned == self.cleaned.len() {
            self.cleaned.clear();
            self.returned = 0;
            let start = self.raw.len();
            self.raw.resize(start + CHUNK, 0);
            let result = self.input.read(&mut self.raw[start..]);
            self.raw.truncate(start + result.as_ref().map_or(0, |length| *length));
            let is_end = result? == 0;
            self.clean_raw(is_end);
            if is_end {
                break;
            }
        }
        let available = &self.cleaned[self.returned..];
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.returned += count;
        Ok(count)
    }
}

/// Whether more bytes could make `bytes` a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// The UTF-16 unit of an escape of six characters.
fn utf16_unit(escape: &[u8]) -> Option<u16> {
    u16::from_str_radix(std::str::from_utf8(escape.get(2..6)?).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields the input in pieces of this many bytes.
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
