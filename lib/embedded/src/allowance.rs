//! Limits of one request, beside the bounds of Lua: time, and the bytes of its reply. Lua runs no hook in a command and
//! counts no reply that is still outside of its memory, so a command reads both while it runs. Coord's own scripts are not
//! bounded by it.

use super::failure::{Failure, Outcome};
use coord_store::Value;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time limit of a client's command, script or transaction.
pub(super) const CLIENT_TIME: Duration = Duration::from_secs(2);

/// Most bytes of all replies to one call. Coord's own largest reads, a stored graph and the records of manifests, stay below
/// half of it.
const MOST_REPLIED: usize = 128 << 20;

/// Size that each element of a reply counts for, beside its text.
pub(super) const ITEM_BYTES: usize = 32;

/// Work between two looks at the clock, of which a record that is read counts for [`RECORD`], and a byte of a pattern for 1.
const LOOK_EVERY: usize = 1024;
pub(super) const RECORD: usize = 64;

/// The rest of a call's allowance for its next request.
#[derive(Clone, Copy)]
pub(super) struct Left {
    /// When the transaction that the request belongs to must end.
    pub until: Option<Instant>,
    /// Bytes that the replies may have.
    pub reply_bytes: usize,
}

impl Left {
    /// Of a call that is no transaction, and of whose replies `replied` bytes exist.
    pub fn after(replied: usize) -> Left {
        Left {
            until: None,
            reply_bytes: MOST_REPLIED.saturating_sub(replied),
        }
    }

    /// When a client's script or command that begins now must end.
    pub fn deadline(self) -> Instant {
        let own = Instant::now() + CLIENT_TIME;
        self.until.map_or(own, |until| own.min(until))
    }
}

/// The running command's remaining allowance.
pub(super) struct Allowance {
    /// None where nothing is bounded.
    deadline: Option<Instant>,
    reply_bytes: Cell<usize>,
    work: Cell<usize>,
    is_too_large: Cell<bool>,
}

impl Allowance {
    /// Of one of our own scripts, which the interpreter ends.
    pub fn unbounded() -> Self {
        Allowance {
            deadline: None,
            reply_bytes: Cell::new(usize::MAX),
            work: Cell::new(0),
            is_too_large: Cell::new(false),
        }
    }

    /// Until `deadline`, with a reply of at most `reply_bytes`.
    pub fn until(deadline: Instant, reply_bytes: usize) -> Self {
        Allowance {
            deadline: Some(deadline),
            reply_bytes: Cell::new(reply_bytes),
            ..Self::unbounded()
        }
    }

    /// Of a plain command.
    pub fn of_command(left: Left) -> Self {
        Self::until(left.deadline(), left.reply_bytes)
    }

    /// Whether anything is bounded.
    pub fn is_bounded(&self) -> bool {
        self.deadline.is_some()
    }

    /// Whether the command failed because of the size of its reply.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large.get()
    }

    /// Notes that much work. Fails once the time is up.
    pub fn step(&self, work: usize) -> Result<(), Failure> {
        let Some(deadline) = self.deadline else {
            return Ok(());
        };
        self.work.set(self.work.get() + work);
        if self.work.get() < LOOK_EVERY {
            return Ok(());
        }
        self.work.set(0);
        if Instant::now() > deadline {
            return Err(Failure::fixed("ERR the command ran longer than 2 seconds"));
        }
        Ok(())
    }

    /// Notes an element of the reply, with a text of that many bytes. Fails before there are too many.
    pub fn reply(&self, bytes: usize) -> Result<(), Failure> {
        let Some(left) = self.reply_bytes.get().checked_sub(ITEM_BYTES + bytes) else {
            self.is_too_large.set(true);
            return Err(Failure::fixed(
                "OOM the reply is larger than the memory that is left for it",
            ));
        };
        self.reply_bytes.set(left);
        Ok(())
    }

    /// A text of the reply.
    pub fn bulk(&self, text: &[u8]) -> Outcome {
        self.reply(text.len())?;
        Ok(Value::bulk(text))
    }

    /// A text of the reply, or nil.
    pub fn bulk_or_nil(&self, text: Option<impl std::ops::Deref<Target = [u8]>>) -> Outcome {
        match text {
            Some(text) => self.bulk(&text),
            None => self.reply(0).map(|()| Value::Nil),
        }
    }
}

/// The size of a reply, as [`Allowance::reply`] counts it.
pub(super) fn size(reply: &Value) -> usize {
    ITEM_BYTES
        + match reply {
            Value::Nil | Value::Int(_) => 0,
            Value::Bulk(bytes) => bytes.len(),
            Value::Status(text) | Value::Error(text) => text.len(),
            Value::Array(items) => items.iter().map(size).sum(),
        }
}
