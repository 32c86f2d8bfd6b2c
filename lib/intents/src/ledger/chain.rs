use std::io::Write;

use sha2::{Digest, Sha256};

use super::hash::ChainHash;
use super::point::{Point, parse_seq};

/// The hash of a line after `prev`. `body` is the line without its `chain` and without its closing brace.
pub(super) fn link(prev: &ChainHash, body: &[u8]) -> ChainHash {
    let mut hash = Sha256::new();
    let mut head = [b'\n'; 65];
    head[..64].copy_from_slice(&prev.digits());
    hash.update(head);
    hash.update(body);
    hash.update(b"}");
    ChainHash::finish(hash)
}

/// The parts of a sealed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedParts<'a> {
    /// The line up to its `chain`, without the comma and the closing brace.
    pub body: &'a [u8],
    /// The number of the line, from 1.
    pub seq: u64,
    /// The hash of the line before.
    pub prev: ChainHash,
    /// The hash of this line.
    pub hash: ChainHash,
}

impl SealedParts<'_> {
    /// The hash that the line must have after its own `prev`.
    pub fn expected_hash(&self) -> ChainHash {
        link(&self.prev, self.body)
    }
}

pub(super) const CHAIN: &[u8] = b",\"chain\":{\"seq\":";
pub(super) const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b"\",\"hash\":\"";
const END: &[u8] = b"\"}}";

/// The bytes of `chain` with the longest number.
pub(super) const CHAIN_BYTES: usize = CHAIN.len() + 20 + PREV.len() + 64 + HASH.len() + 64 + END.len() - 1;

/// Splits the `chain` off the end of a line without a newline. `None` if the line has no `chain` in exactly this form.
pub fn split(line: &[u8]) -> Option<SealedParts<'_>> {
    let rest = line.strip_suffix(END)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let rest = rest.strip_suffix(HASH)?;
    let (rest, prev) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let rest = rest.strip_suffix(PREV)?;
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, seq) = rest.split_at(rest.len() - digits);
    Some(SealedParts {
        body: rest.strip_suffix(CHAIN)?,
        seq: parse_seq(seq).filter(|&seq| seq > 0)?,
        prev: ChainHash::parse(prev)?,
        hash: ChainHash::parse(hash)?,
    })
}

/// Why a text cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsealableText {
    /// It is not a JSON object on one line. Only its first and last bytes, and line breaks, are checked.
    #[error("a line of the ledger is one JSON object without line breaks")]
    NotALine,
    /// It has a `chain` already.
    #[error("the line is sealed already")]
    Sealed,
}

/// Seals `line` as number `seq` after `prev`, and returns the sealed line and its hash. Neither line has a newline.
pub fn seal(prev: &ChainHash, seq: u64, line: &str) -> Result<(String, ChainHash), UnsealableText> {
    let mut sealed = Vec::with_capacity(line.len() + CHAIN_BYTES);
    let hash = append(&mut sealed, prev, seq, line)?;
    Ok((String::from_utf8(sealed).expect("text and digits"), hash))
}

fn append(out: &mut Vec<u8>, prev: &ChainHash, seq: u64, line: &str) -> Result<ChainHash, UnsealableText> {
    let body = line
        .strip_suffix('}')
        .filter(|body| body.len() > 1 && body.starts_with('{'));
    let body = body.filter(|body| memchr::memchr2(b'\n', b'\r', body.as_bytes()).is_none());
    let body = body.ok_or(UnsealableText::NotALine)?.as_bytes();
    if split(line.as_bytes()).is_some() {
        return Err(UnsealableText::Sealed);
    }
    let hash = link(prev, body);
    for part in [body, CHAIN] {
        out.extend_from_slice(part);
    }
    write!(out, "{seq}").expect("memory");
    for part in [PREV, &prev.digits(), HASH, &hash.digits(), END] {
        out.extend_from_slice(part);
    }
    Ok(hash)
}

/// Seals lines one after the other.
#[derive(Clone, Debug)]
pub struct Sealer {
    point: Point,
}

impl Sealer {
    /// Continues the chain after `point`.
    pub fn after(point: Point) -> Self {
        Sealer { point }
    }

    /// Appends `line`, sealed and with its newline, to `out`. A refused line changes nothing.
    pub fn append(&mut self, out: &mut Vec<u8>, line: &str) -> Result<Point, UnsealableText> {
        let seq = self.point.seq + 1;
        let hash = append(out, &self.point.hash, seq, line)?;
        out.push(b'\n');
        self.point = Point { seq, hash };
        Ok(self.point)
    }

    /// The point after the last line.
    pub fn point(&self) -> Point {
        self.point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_at_the_end_of_a_line_is_a_chain() {
        let start = Point::start("h/o/n");
        let (line, hash) = seal(&start.hash, 1, r#"{"a":1}"#).unwrap();
        let sealed = split(line.as_bytes()).unwrap();
        assert_eq!(
            (sealed.body, sealed.seq, sealed.prev, sealed.hash),
            (&br#"{"a":1"#[..], 1, start.hash, hash)
        );
        assert_eq!(sealed.expected_hash(), hash);
        for wrong in [
            line.replace("\"seq\":1", "\"seq\":01"),
            line.replace("\"seq\":1", "\"seq\":0"),
            line.replace("\"seq\":1", "\"seq\":"),
            line.replace("\"seq\":1", "\"seq\":99999999999999999999"),
            line.replace("\"prev\"", "\"prew\""),
            line.replace("\"hash\":", "\"hash\": "),
            format!("{line} "),
            line.to_uppercase(),
            line[line.len() - 100..].to_owned(),
        ] {
            assert_eq!(split(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn an_invalid_unsealed_line_is_refused() {
        let start = Point::start("h/o/n");
        for wrong in [
            "",
            "{}",
            "{",
            "[1]",
            "{\"a\":1}\n",
            "{\"a\":\n1}",
            "{\"a\":1}\r",
            " {\"a\":1}",
        ] {
            assert_eq!(seal(&start.hash, 1, wrong), Err(UnsealableText::NotALine), "{wrong:?}");
        }
        let (line, _) = seal(&start.hash, u64::MAX, r#"{"a":1}"#).unwrap();
        assert_eq!(line.len(), r#"{"a":1}"#.len() + CHAIN_BYTES);
        assert_eq!(seal(&start.hash, 2, &line), Err(UnsealableText::Sealed));
    }
}
