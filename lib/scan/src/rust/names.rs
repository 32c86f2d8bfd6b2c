//! Names: their starts and ends.

use crate::meter;

/// The name at `position`, without `r#`, and its end.
pub(super) fn ident(text: &[u8], position: usize) -> Option<(&str, usize)> {
    let is_raw = text.get(position..position + 2) == Some(b"r#") && text.get(position + 2).is_some_and(is_name_start);
    let start = if is_raw { position + 2 } else { position };
    text.get(start).filter(|byte| is_name_start(byte))?;
    let end = word_end(text, start);
    Some((std::str::from_utf8(&text[start..end]).ok()?, end))
}

pub(super) fn word_end(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| is_name_byte(byte)).count();
    meter::read(length);
    position + length
}

pub(super) fn is_name_start(byte: &u8) -> bool {
    is_name_byte(byte) && !byte.is_ascii_digit()
}

pub(super) fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}
