use std::fmt;
use std::str::FromStr;

use super::hash::{ChainHash, InvalidPoint};

/// The first line's `prev`: it names the repository (`host/owner/name`), so that the ledger of another repository is not
/// mistaken for it.
pub fn genesis(repository: &str) -> ChainHash {
    ChainHash::of(&[b"coord ledger v1\n", repository.as_bytes(), b"\n"])
}

/// A place in the chain: after so many lines, the last of which has this hash. Written `COUNT:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Point {
    /// How many lines there are up to here; the `seq` of the last of them.
    pub seq: u64,
    /// The hash of the last line, or the one that names the repository.
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

/// A number as the format has it: digits without zeros before them. Otherwise one number would have several spellings, and
/// `seq` is not hashed.
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
