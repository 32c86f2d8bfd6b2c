//! Sets in brackets, as git reads them.

use super::segment::ByteSet;

/// The element that begins with a `[`.
pub(super) struct Brackets {
    pub(super) set: ByteSet,
    /// The length of its text.
    pub(super) length: usize,
    pub(super) has_class: bool,
}

/// Parses the set at the beginning of `text`, which begins with `[`. A member is a byte, a range of bytes, or a class.
/// A `]` that comes first is a member. `None` for brackets that git cannot read: no name matches.
pub(super) fn parse(text: &[u8]) -> Option<Brackets> {
    let negated = matches!(text.get(1), Some(b'!' | b'^'));
    let mut at = if negated { 2 } else { 1 };
    let (mut set, mut previous, mut has_class) = (ByteSet::EMPTY, None, false);
    loop {
        let byte = *text.get(at)?;
        let next = text.get(at + 1).copied();
        match (byte, previous, next) {
            (b'\\', ..) => {
                set.insert(next?);
                previous = next;
                at += 2;
            }
            (b'-', Some(from), Some(to)) if to != b']' => {
                let escaped = to == b'\\';
                let to = if escaped { *text.get(at + 2)? } else { to };
                (from..=to).for_each(|byte| set.insert(byte));
                previous = None;
                at += if escaped { 3 } else { 2 };
            }
            (b'[', _, Some(b':')) => {
                let length = memchr::memchr(b']', &text[at + 2..])?;
                match text[at + 2..at + 2 + length].split_last() {
                    Some((b':', name)) => {
                        let is_member = class(name)?;
                        (0..=u8::MAX).filter(is_member).for_each(|byte| set.insert(byte));
                        has_class = true;
                        previous = None;
                        at += length + 3;
                    }
                    _ => {
                        set.insert(b'[');
                        previous = Some(b'[');
                        at += 1;
                    }
                }
            }
            _ => {
                set.insert(byte);
                previous = Some(byte);
                at += 1;
            }
        }
        if *text.get(at)? == b']' {
            let set = if negated {
                set.complement()
            } else {
                set.and(&ByteSet::ANY)
            };
            let length = at + 1;
            return Some(Brackets { set, length, has_class });
        }
    }
}

fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
