use std::io::{self, BufRead};

use sha2::{Digest, Sha256};

use super::content::ContentHash;
use super::entry::{Entry, Payload};
use super::hash::ChainHash;
use super::input::ToolInput;
use super::terms::ActionType;
use super::trace_id::TraceId;

/// Lines of other programs at the beginning of a file, as a line of Coord's names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The hash of their bytes, newlines included.
    pub hash: ChainHash,
    /// How many bytes.
    pub bytes: u64,
    /// How many lines.
    pub lines: u64,
}

impl Adoption {
    /// Takes in all of `foreign`, which is not kept in memory. A last line without newline counts.
    pub fn of(mut foreign: impl BufRead) -> io::Result<Self> {
        let (mut hash, mut bytes, mut newlines, mut last) = (Sha256::new(), 0, 0, b'\n');
        loop {
            let part = foreign.fill_buf()?;
            let Some(&end) = part.last() else { break };
            hash.update(part);
            newlines += memchr::memchr_iter(b'\n', part).count() as u64;
            last = end;
            let read = part.len();
            bytes += read as u64;
            foreign.consume(read);
        }
        Ok(Adoption {
            hash: ChainHash::finish(hash),
            bytes,
            lines: newlines + u64::from(last != b'\n'),
        })
    }

    /// That of the bytes under `hash`, whose numbers are `input`: `bytes` and `lines`, and no others.
    pub fn stated(hash: ChainHash, input: &str) -> Option<Self> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Stated {
            bytes: u64,
            lines: u64,
        }
        let Stated { bytes, lines } = serde_json::from_str(input).ok()?;
        // A line has its newline, or is the last and has a byte.
        (1..=bytes).contains(&lines).then_some(Adoption { hash, bytes, lines })
    }

    /// The id of the event: the same lines have the same one, so that they are adopted once.
    pub fn trace_id(&self) -> TraceId {
        TraceId::parse(&self.hash.to_string()).expect("64 digits")
    }

    /// The payload of the line that adopts them, whose `action_type` is STATE_TRANSITION.
    pub fn payload(&self) -> Payload {
        Payload {
            tool_input: Some(ToolInput::record(
                &serde_json::json!({ "bytes": self.bytes, "lines": self.lines }),
            )),
            hash: Some(ContentHash::Sha256(self.hash)),
            ..Payload::default()
        }
    }

    /// The entries that `line` adopts, if it is such a line.
    pub fn read(line: &[u8]) -> Option<Self> {
        // Nearly all lines are none, and need not be parsed.
        memchr::memmem::find(line, b"\"tool_input\":{\"bytes\":")?;
        let entry = Entry::parse(line).ok()?;
        let (input, Some(ContentHash::Sha256(hash))) = (entry.payload.tool_input?, entry.payload.hash) else {
            return None;
        };
        let adoption = Adoption::stated(hash, input.as_str())?;
        (entry.action_type == ActionType::StateTransition).then_some(adoption)
    }
}
