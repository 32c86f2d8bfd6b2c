//! Content of a file -> text to scan: whether it is text, its encoding, and the part to scan.

use std::borrow::Cow;

use crate::file_state::FileState;

/// Number of bytes that decide whether a file is text, as in git.
const PROBE_BYTES: usize = 8_000;
/// A text may have one NUL per this many bytes of its probe, but always at least one: a string may contain it.
const BYTES_PER_NUL: usize = 1_000;
/// A large file counts as minified if its mean line length exceeds this.
const MINIFIED_LINE_BYTES: usize = 5_000;
/// Bytes of a minified file that are scanned: bundles have their imports at the top.
const MINIFIED_HEAD_BYTES: usize = 256 * 1024;

/// The part of a file to scan, and the state of the file.
pub fn text_to_scan(content: &[u8], minified_over_bytes: u64) -> (FileState, Cow<'_, [u8]>) {
    let probe = &content[..content.len().min(PROBE_BYTES)];
    let is_wide = content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff");
    let mut text = Cow::Borrowed(content);
    if is_wide || memchr::memchr(0, probe).is_some() {
        match byte_order(probe) {
            Some(read_unit) => text = Cow::Owned(decode_utf16(content, read_unit).into_bytes()),
            None if has_few_nuls(probe) => {}
            None => return (FileState::Binary, Cow::Borrowed(&[])),
        }
    }
    if content.len() as u64 > minified_over_bytes {
        let lines = memchr::memchr_iter(b'\n', &text).count() + 1;
        if text.len() / lines > MINIFIED_LINE_BYTES {
            let head = match text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[..text.len().min(MINIFIED_HEAD_BYTES)]),
                Cow::Owned(mut text) => {
                    text.truncate(MINIFIED_HEAD_BYTES);
                    Cow::Owned(text)
                }
            };
            return (FileState::Minified, head);
        }
    }
    (FileState::Ok, text)
}

/// Reads one unit of UTF-16.
type ReadUnit = fn([u8; 2]) -> u16;

/// The byte order of UTF-16: by its mark, else by the zeros of its ASCII characters.
fn byte_order(probe: &[u8]) -> Option<ReadUnit> {
    match probe {
        [0xff, 0xfe, ..] => return Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return Some(u16::from_be_bytes),
        _ => {}
    }
    let zeros = |first: usize| probe.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, units) = (zeros(0), zeros(1), probe.len() / 2);
    if odd * 4 > units * 3 && even * 100 <= units {
        Some(u16::from_le_bytes)
    } else if even * 4 > units * 3 && odd * 100 <= units {
        Some(u16::from_be_bytes)
    } else {
        None
    }
}

fn decode_utf16(content: &[u8], read_unit: ReadUnit) -> String {
    let units = content.chunks_exact(2).map(|pair| read_unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Whether a probe with NULs may still be text.
fn has_few_nuls(probe: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(probe) {
        Ok(_) => true,
        // The end of the probe cuts a character.
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && memchr::memchr_iter(0, probe).count() <= 1 + probe.len() / BYTES_PER_NUL
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "import './ä'\n";

    fn read(content: &[u8]) -> (FileState, String) {
        let (state, text) = text_to_scan(content, 1 << 20);
        (state, String::from_utf8_lossy(&text).into_owned())
    }

    #[test]
    fn text_is_text_in_utf8_and_utf16_and_with_a_nul_in_it() {
        let little: Vec<u8> = LINE.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = LINE.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (content, expected) in [
            (LINE.as_bytes().to_vec(), LINE.to_owned()),
            (format!("{LINE}'\0'").into_bytes(), format!("{LINE}'\0'")),
            (little.clone(), LINE.to_owned()),
            (big.clone(), LINE.to_owned()),
            ([b"\xff\xfe".to_vec(), little].concat(), format!("\u{feff}{LINE}")),
            ([b"\xfe\xff".to_vec(), big].concat(), format!("\u{feff}{LINE}")),
            (b"caf\xe9".to_vec(), "caf\u{fffd}".to_owned()),
            (Vec::new(), String::new()),
        ] {
            assert_eq!(read(&content), (FileState::Ok, expected));
        }
    }

    #[test]
    fn a_file_that_is_no_text_is_binary() {
        let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0".to_vec();
        let mixed: Vec<u8> = (0..4096_u32).map(|number| (number % 251) as u8).collect();
        for content in [picture, mixed, vec![0; 100], b"a\0b\0\0\0".to_vec()] {
            assert_eq!(read(&content).0, FileState::Binary);
        }
    }

    #[test]
    fn of_a_minified_file_the_head_is_read() {
        let text = format!("import './a';{}", "x=1;".repeat(300_000));
        let (state, head) = read(text.as_bytes());
        assert_eq!((state, head.len()), (FileState::Minified, MINIFIED_HEAD_BYTES));
        assert!(head.starts_with("import './a';"));
    }
}
