use std::io::{self, BufRead};

use sha2::{Digest, Sha256};

use super::content::ContentHash;
use super::entry::{Entry, Payload};
use super::hash::ChainHash;
use super::input::ToolInput;
use super::terms::ActionType;
use super::trace_id::TraceId;

/// Lines of other programs at the beginning of a file, which a line of Coord identifies by their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The hash of their bytes, newlines included.
    pub hash: ChainHash,
    pub bytes: u64,
    pub lines: u64,
}

impl Adoption {
    /// Reads all of `foreign` as a stream. A last line without a newline counts.
    pub fn of(mut foreign: impl BufRead) -> io::Result<Self> {
        let (mut hash, mut bytes, mut newlines, mut last_byte) = (Sha256::new(), 0, 0, b'\n');
        loop {
            let chunk = foreign.fill_buf()?;
            let Some(&end) = chunk.last() else { break };
            hash.update(chunk);
            newlines += memchr::memchr_iter(b'\n', chunk).count() as u64;
            last_byte = end;
            let length = chunk.len();
            bytes += length as u64;
            foreign.consume(length);
        }
        Ok(Adoption {
            hash: ChainHash::finish(hash),
            bytes,
            lines: newlines + u64::from(last_byte != b'\n'),
        })
    }

    /// The adoption of the bytes with this hash. `input` has the members `bytes` and `lines`, and no others.
    pub fn parse(hash: ChainHash, input: &str) -> Option<Self> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Counts {
            bytes: u64,
            lines: u64,
        }
        let Counts { bytes, lines } = serde_json::from_str(input).ok()?;
        // Each line has at least one byte: a newline, or content in the last line.
        (1..=bytes).contains(&lines).then_some(Adoption { hash, bytes, lines })
    }

    /// The id of the event. The same lines have the same id, so they are adopted only once.
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

    /// The lines that `line` adopts, if it adopts any.
    pub fn read(line: &[u8]) -> Option<Self> {
        // Nearly all lines adopt nothing and need not be parsed.
        memchr::memmem::find(line, b"\"tool_input\":{\"bytes\":")?;
        let entry = Entry::parse(line).ok()?;
        let (input, Some(ContentHash::Sha256(hash))) = (entry.payload.tool_input?, entry.payload.hash) else {
            return None;
        };
        let adoption = Adoption::parse(hash, input.as_str())?;
        (entry.action_type == ActionType::StateTransition).then_some(adoption)
    }
}
