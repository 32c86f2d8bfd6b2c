use std::fmt;
use std::str::FromStr;

use super::hash::{ChainHash, InvalidPoint};

/// The `prev` of the first line. It is the hash of the repository's name (`host/owner/name`), so that the ledger of
/// another repository cannot pass for this one.
pub fn genesis(repository: &str) -> ChainHash {
    ChainHash::of(&[b"coord ledger v1\n", repository.as_bytes(), b"\n"])
}

/// A position in the chain: the number of lines before it, and the hash of the last of these. Written `COUNT:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Point {
    /// The number of lines before the point, and the `seq` of the last of these.
    pub seq: u64,
    /// The hash of the last line, or [`genesis`] before the first.
    pub hash: ChainHash,
}

impl Point {
    /// The point before the first line of `repository`.
    pub fn start(repository: &str) -> Self {
        Point {
            seq: 0,
            hash: genesis(repository),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Point {
    type Err = InvalidPoint;

    fn from_str(text: &str) -> Result<Self, InvalidPoint> {
        let (seq, hash) = text.split_once(':').ok_or(InvalidPoint)?;
        Ok(Point {
            seq: parse_seq(seq.as_bytes()).ok_or(InvalidPoint)?,
            hash: hash.parse()?,
        })
    }
}

/// Parses digits without leading zeros. With leading zeros, a number would have several spellings, and `seq` is not
/// hashed.
pub(super) fn parse_seq(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit) && (digits.first() != Some(&b'0') || digits.len() == 1);
    if !is_number {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_one_spelling() {
        let point = Point::start("github.com/acme/shop");
        let hash = point.hash.to_string();
        assert_eq!(hash, "5a116337e5727bac89550cd157109e6381dc2dddeb475f74d3216de3b13de473");
        assert_eq!(point.to_string().parse(), Ok(point));
        for wrong in ["", "1", ":", "01:", "+1:", "-1:", "1 :", "18446744073709551616:"] {
            assert_eq!(format!("{wrong}{hash}").parse::<Point>(), Err(InvalidPoint), "{wrong}");
        }
    }
}
