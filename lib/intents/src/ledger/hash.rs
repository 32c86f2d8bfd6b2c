use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// A SHA-256, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash([u8; 32]);

impl ChainHash {
    /// The hash of `parts`, one after the other.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Self::finish(hash)
    }

    pub(super) fn finish(hash: Sha256) -> Self {
        ChainHash(hash.finalize().into())
    }

    /// Reads 64 lower-case digits, and nothing else.
    pub fn parse(digits: &[u8]) -> Option<Self> {
        let digits: &[u8; 64] = digits.try_into().ok()?;
        let mut bytes = [0; 32];
        let mut seen = 0;
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
            seen |= high | low;
            *byte = (high << 4) | (low & 15);
        }
        (seen & NO_DIGIT == 0).then_some(ChainHash(bytes))
    }

    pub fn digits(&self) -> [u8; 64] {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        digits
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for ChainHash {
    fn from(bytes: [u8; 32]) -> Self {
        ChainHash(bytes)
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";
const NO_DIGIT: u8 = 0x80;

/// The value of each digit, by its byte.
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

impl fmt::Display for ChainHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(str::from_utf8(&self.digits()).expect("digits"))
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for ChainHash {
    type Err = InvalidPoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text.as_bytes()).ok_or(InvalidPoint)
    }
}

impl serde::Serialize for ChainHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Text that is not `COUNT:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a count, a colon and 64 lower-case hexadecimal digits are expected")]
pub struct InvalidPoint;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_64_lower_case_digits_and_nothing_else() {
        let hash = ChainHash::of(&[b"a", b"bc"]);
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        for wrong in [
            &text[1..],
            &text.to_uppercase(),
            &format!("{text}0"),
            &text.replace('b', "g"),
        ] {
            assert_eq!(ChainHash::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
