//! The text form of an interface, in the record of a file.

use std::fmt::Write;

use super::{Interface, InterfaceResult, InterfaceUnknown, MAX_INTERFACE_NAMES};

/// Increment this when the same text gives other heads or names, so that nothing compares stored interfaces with new
/// ones.
pub const INTERFACE_VERSION: u32 = 3;

/// Begins the first line of an interface. No kind of import has this letter.
pub const LETTER: char = 'I';

/// Appends the lines of an interface: `IVERSION DIGEST LEFT_OUT COUNT` and for each name `DIGEST NAME`, or
/// `IVERSION - REASON`.
pub fn encode(interface: &InterfaceResult, out: &mut String) {
    // Writing to a String never fails.
    let _ = match interface {
        Err(reason) => writeln!(out, "{LETTER}{INTERFACE_VERSION} - {}", reason.name()),
        Ok(Interface {
            digest,
            names,
            left_out,
        }) => {
            let _ = writeln!(
                out,
                "{LETTER}{INTERFACE_VERSION} {digest:032x} {left_out} {}",
                names.len()
            );
            names
                .iter()
                .try_for_each(|(name, digest)| writeln!(out, "{digest:016x} {name}"))
        }
    };
}

/// Parses the lines of [`encode`], from after the letter; returns the rest of the text too. The interface of another
/// version is skipped. `None` for any other text.
pub fn decode(text: &str) -> Option<(Option<InterfaceResult>, &str)> {
    let (line, mut rest) = text.split_once('\n')?;
    let mut fields = line.split(' ');
    let is_current = fields.next()?.parse() == Ok(INTERFACE_VERSION);
    let digest = fields.next()?;
    if digest == "-" {
        let name = fields.next()?;
        let reason = InterfaceUnknown::ALL.into_iter().find(|reason| reason.name() == name);
        if is_current && reason.is_none() {
            return None;
        }
        return Some((reason.filter(|_| is_current).map(Err), rest));
    }
    let digest = u128::from_str_radix(digest, 16).ok()?;
    let left_out = fields.next()?.parse().ok()?;
    let count: usize = fields
        .next()?
        .parse()
        .ok()
        .filter(|count| *count <= MAX_INTERFACE_NAMES)?;
    let mut names = Vec::with_capacity(count);
    for _ in 0..count {
        let (line, after) = rest.split_once('\n')?;
        rest = after;
        let (digest, name) = line.split_once(' ')?;
        names.push((name.to_owned(), u64::from_str_radix(digest, 16).ok()?));
    }
    let interface = Interface {
        digest,
        names,
        left_out,
    };
    Some((is_current.then_some(Ok(interface)), rest))
}
