//! What goes wrong: opening the file ([`OpenError`]), and running one command ([`Failure`]).

use coord::store::Value;
use std::borrow::Cow;
use std::path::PathBuf;

/// Why the file of an embedded store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process (or another store of this one) has the file open.
    #[error("{path} is in use by another process", path = .0.display())]
    InUse(PathBuf),
    /// The file is there and is not one that this program wrote, or is of a format that it does not know.
    #[error("{path} is not a Coord store: {reason}", path = .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The file is one of ours and is damaged.
    #[error("{path} is damaged: {reason}; move it away to start with an empty store", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the check found.
        reason: String,
    },
    /// The file or its folder cannot be read or written.
    #[error("{path} cannot be opened: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The Lua interpreter or the committing thread could not be started.
    #[error("the embedded store cannot start: {0}")]
    Start(String),
}

/// Why one command did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command is answered with this error, code first. Nothing was changed by it.
    Reply(Cow<'static, str>),
    /// The disk did not do its part. The whole call fails.
    Storage(String),
}

/// What a command gives.
pub(super) type Outcome = Result<Value, Failure>;

impl Failure {
    pub const NOT_AN_INTEGER: Failure = Failure::fixed("ERR value is not an integer or out of range");
    pub const NOT_A_FLOAT: Failure = Failure::fixed("ERR value is not a valid float");
    pub const SYNTAX: Failure = Failure::fixed("ERR syntax error");
    pub const OVERFLOW: Failure = Failure::fixed("ERR increment or decrement would overflow");
    pub const WRONG_TYPE: Failure = Failure::fixed("WRONGTYPE Operation against a key holding the wrong kind of value");

    /// An error reply with a text known at compile time.
    pub const fn fixed(text: &'static str) -> Failure {
        Failure::Reply(Cow::Borrowed(text))
    }

    /// An error reply.
    pub fn reply(text: String) -> Failure {
        Failure::Reply(Cow::Owned(text))
    }

    /// `ERR wrong number of arguments for 'NAME' command`.
    pub fn arity(command: &str) -> Failure {
        Failure::reply(format!("ERR wrong number of arguments for '{command}' command"))
    }
}

impl From<redb::StorageError> for Failure {
    fn from(error: redb::StorageError) -> Self {
        Failure::Storage(error.to_string())
    }
}
