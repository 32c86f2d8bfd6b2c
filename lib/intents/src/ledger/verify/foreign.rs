use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use super::super::adoption::Adoption;
use super::super::chain::{CHAIN, PREV};
use super::super::hash::ChainHash;
use super::report::{Finding, ForeignLines, Verdict};

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The lines before the first sealed one, as counts and hashes.
#[derive(Default)]
pub(super) struct Prefix {
    pub(super) counts: ForeignLines,
    raw: Sha256,
    /// Like `raw`, without the carriage returns of CRLF and without a byte order mark.
    plain: Sha256,
    has_bom: bool,
    /// The first line that no other program would have written, and why.
    pub(super) suspect: Option<(u64, &'static str)>,
    hashes: Option<(ChainHash, ChainHash)>,
    /// The first adoption that does not match, and its line.
    mismatch: Option<(u64, Adoption)>,
    /// Whether an adoption matches the `plain` hash only.
    is_plainly_adopted: bool,
}

impl Prefix {
    pub(super) fn add_line(&mut self, content: &[u8], has_newline: bool) {
        let newline: &[u8] = if has_newline { b"\n" } else { b"" };
        self.counts.lines += 1;
        self.counts.bytes += (content.len() + newline.len()) as u64;
        self.raw.update(content);
        self.raw.update(newline);
        let mut plain = content.strip_suffix(b"\r").unwrap_or(content);
        if self.counts.lines == 1 {
            self.has_bom = plain.starts_with(BOM);
            plain = plain.strip_prefix(BOM).unwrap_or(plain);
        }
        self.plain.update(plain);
        self.plain.update(newline);
        if self.suspect.is_none()
            && let Err(reason) = check_unsealed(plain)
        {
            self.suspect = Some((self.counts.lines, reason));
        }
    }

    /// Compares the lines with those that the sealed line `line` adopts.
    pub(super) fn compare(&mut self, line: u64, adoption: Adoption) {
        let (raw, plain) = *self.hashes.get_or_insert_with(|| {
            let finish = |hash: &mut Sha256| ChainHash::finish(std::mem::take(hash));
            (finish(&mut self.raw), finish(&mut self.plain))
        });
        let ForeignLines { lines, bytes, .. } = self.counts;
        if adoption.hash == raw && (adoption.lines, adoption.bytes) == (lines, bytes) {
            self.counts.is_adopted = true;
        } else if adoption.hash == plain {
            self.is_plainly_adopted = true;
        } else if self.mismatch.is_none() {
            self.mismatch = Some((line, adoption));
        }
    }

    /// The damage of these lines, or a note about them.
    pub(super) fn finding(&self) -> Option<Finding> {
        let ForeignLines {
            lines,
            bytes,
            is_adopted,
        } = self.counts;
        if lines == 0 || is_adopted {
            return None;
        }
        let (line, verdict, detail) = if self.is_plainly_adopted {
            let verdict = if self.has_bom {
                Verdict::Bom
            } else {
                Verdict::LineEndings
            };
            let detail = "apart from that, the lines of other programs are unchanged";
            (1, verdict, detail.to_owned())
        } else if let Some((line, reason)) = self.suspect {
            (line, Verdict::Edited, reason.to_owned())
        } else if let Some((line, adoption)) = self.mismatch {
            let adopted = format!("line {line} adopts ({}, {})", adoption.lines, adoption.bytes);
            let detail =
                format!("the lines of other programs ({lines} lines, {bytes} bytes) are not those that {adopted}");
            (1, Verdict::Edited, detail)
        } else {
            let detail = format!("no sealed line has the hash of the {lines} lines of other programs");
            (1, Verdict::Unadopted, detail)
        };
        Some(Finding {
            verdict,
            line,
            seq: None,
            detail,
        })
    }
}

/// Checks that a line without a `chain` may never have been sealed. If a sealed line was changed in one place, it still
/// has the beginning of its `chain`, or its `prev`.
pub(super) fn check_unsealed(line: &[u8]) -> Result<(), &'static str> {
    const CHANGED: &str = "it has parts of a seal, but not a whole one";
    let has_prev = memchr::memmem::find_iter(line, PREV).any(|at| {
        let digits = line.get(at + PREV.len()..at + PREV.len() + 64);
        digits.is_some_and(|digits| ChainHash::parse(digits).is_some())
    });
    if has_prev || memchr::memmem::find(line, CHAIN).is_some() {
        return Err(CHANGED);
    }
    #[derive(Deserialize)]
    struct Members {
        chain: Option<IgnoredAny>,
    }
    let text = str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    if text.trim().is_empty() {
        return Err("it is blank");
    }
    let members = Some(text).filter(|text| text.trim_start().starts_with('{'));
    match members.map(serde_json::from_str::<Members>) {
        Some(Ok(Members { chain: None })) => Ok(()),
        Some(Ok(_)) => Err(CHANGED),
        _ => Err("it is not a JSON object"),
    }
}
