//! Lines of the ledger, their chain, and its verification. The format is in `docs/reference/ledger.md`.
//!
//! - [`Entry`]: a parsed line; [`Event`] and [`PreparedLine`]: a line to write, as texts that a script joins
//! - [`ToolInput`]: a tool's input as recorded
//! - [`Record`]: any line for display, also of other programs; [`Adoption`]: the hash of their lines
//! - [`genesis`], [`seal`], [`Sealer`]: the chain; [`Point`]: a position in it
//! - [`verify()`]: checks that a ledger is whole, as a stream, against [`Anchor`]s
//! - [`Checkpoint`], [`Trailers`]: anchors outside the store
//! - [`ContentHash`]: the content of a file

mod adoption;
mod chain;
mod checkpoint;
mod content;
mod credentials;
mod entry;
mod hash;
mod input;
mod note;
mod point;
mod prepared;
mod record;
mod terms;
mod timestamp;
mod trace_id;
mod trailers;
mod verify;

pub use adoption::Adoption;
pub use chain::{SealedParts, Sealer, UnsealableText, seal, split};
pub use checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint};
pub use content::ContentHash;
pub use credentials::blank_credentials;
pub use entry::{Entry, InvalidEntry, LINE_BYTES, Metadata, Outcome, Payload};
pub use hash::{ChainHash, InvalidPoint};
pub use input::ToolInput;
pub use note::{InvalidKey, SigningKey, VerifyingKey};
pub use point::{Point, genesis};
pub use prepared::{Event, Line, LineTooLong, PreparedLine};
pub use record::{Record, UnreadableLine};
pub use terms::{ActionType, ResultStatus, State};
pub use timestamp::{InvalidTime, Timestamp};
pub use trace_id::{InvalidTraceId, TraceId};
pub use trailers::Trailers;
pub use verify::{Anchor, Expectations, Finding, ForeignLines, MAX_LINE_BYTES, Report, Source, Verdict, verify};
