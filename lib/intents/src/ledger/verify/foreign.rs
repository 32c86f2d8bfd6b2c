use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use super::super::adoption::Adoption;
use super::super::chain::{CHAIN, PREV};
use super::super::hash::ChainHash;
use super::report::{Finding, ForeignLines, Verdict};

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The lines before the first sealed one, under a hash.
#[derive(Default)]
pub(super) struct Prefix {
    pub(super) found: ForeignLines,
    raw: Sha256,
    /// The same without the carriage returns of CRLF and without a byte order mark.
    plain: Sha256,
    has_bom: bool,
    /// The first line that no other program would have written, and why.
    pub(super) suspect: Option<(u64, &'static str)>,
    hashes: Option<(ChainHash, ChainHash)>,
    /// The line of the first adoption that does not fit.
    misfit: Option<(u64, Adoption)>,
    /// Whether it would fit without carriage returns or byte order mark.
    is_plainly_adopted: bool,
}

impl Prefix {
    pub(super) fn take(&mut self, content: &[u8], has_newline: bool) {
        let newline: &[u8] = if has_newline { b"\n" } else { b"" };
        self.found.lines += 1;
        self.found.bytes += (content.len() + newline.len()) as u64;
        self.raw.update(content);
        self.raw.update(newline);
        let mut plain = content.strip_suffix(b"\r").unwrap_or(content);
        if self.found.lines == 1 {
            self.has_bom = plain.starts_with(BOM);
            plain = plain.strip_prefix(BOM).unwrap_or(plain);
        }
        self.plain.update(plain);
        self.plain.update(newline);
        if self.suspect.is_none()
            && let Err(why) = is_of_others(plain)
        {
            self.suspect = Some((self.found.lines, why));
        }
    }

    /// Compares with the lines that a sealed line adopts.
    pub(super) fn compare(&mut self, line: u64, adoption: Adoption) {
        let (raw, plain) = *self.hashes.get_or_insert_with(|| {
            let finish = |hash: &mut Sha256| ChainHash::finish(std::mem::take(hash));
            (finish(&mut self.raw), finish(&mut self.plain))
        });
        let ForeignLines { lines, bytes, .. } = self.found;
        if adoption.hash == raw && (adoption.lines, adoption.bytes) == (lines, bytes) {
            self.found.is_adopted = true;
        } else if adoption.hash == plain {
            self.is_plainly_adopted = true;
        } else if self.misfit.is_none() {
            self.misfit = Some((line, adoption));
        }
    }

    /// A problem of the lines, or a note.
    pub(super) fn finding(&self) -> Option<Finding> {
        let ForeignLines {
            lines,
            bytes,
            is_adopted,
        } = self.found;
        if lines == 0 || is_adopted {
            return None;
        }
        let (line, verdict, detail) = if self.is_plainly_adopted {
            let verdict = if self.has_bom {
                Verdict::Bom
            } else {
                Verdict::LineEndings
            };
            (
                1,
                verdict,
                "the lines of other programs are as they were but for it".to_owned(),
            )
        } else if let Some((line, why)) = self.suspect {
            (line, Verdict::Edited, why.to_owned())
        } else if let Some((
            at,
            Adoption {
                lines: adopted,
                bytes: of,
                ..
            },
        )) = self.misfit
        {
            let found = format!("the lines of other programs ({lines} lines, {bytes} bytes)");
            (
                1,
                Verdict::Edited,
                format!("{found} are not those that line {at} adopts ({adopted}, {of})"),
            )
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

/// Whether a line without a `chain` may be one that was never sealed. Of a sealed line that was changed at one place, the
/// beginning of its `chain` or its `prev` is left.
pub(super) fn is_of_others(line: &[u8]) -> Result<(), &'static str> {
    const CHANGED: &str = "it has parts of a seal, and no whole one";
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
