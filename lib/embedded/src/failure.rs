//! Errors of opening the file ([`OpenError`]), and of running one command ([`Failure`]).

use coord_store::Value;
use std::borrow::Cow;
use std::path::PathBuf;

/// Why the file of an embedded store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process (or another store of this one) has the file open.
    #[error("{path} is in use by another process", path = .0.display())]
    InUse(PathBuf),
    /// The file exists, but this program did not write it, or its format is not known.
    #[error("{path} is not a Coord store: {reason}", path = .path.display())]
    NotAStore {
        path: PathBuf,
        /// The unexpected content of the file.
        reason: String,
    },
    /// The file is a Coord store and is damaged.
    #[error("{path} is damaged: {reason}; move it away to start with an empty store", path = .path.display())]
    Damaged {
        path: PathBuf,
        /// The result of the check.
        reason: String,
    },
    /// The file or its folder cannot be read or written.
    #[error("{path} cannot be opened: {reason}", path = .path.display())]
    Io { path: PathBuf, reason: std::io::Error },
    /// The Lua interpreter or the committing thread could not be started.
    #[error("the embedded store cannot start: {0}")]
    Start(String),
}

/// Why one command failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error reply, code first. The command has changed nothing.
    Reply(Cow<'static, str>),
    /// The disk failed, and with it the whole call.
    Storage(String),
}

/// The result of a command.
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

    pub fn reply(text: String) -> Failure {
        Failure::Reply(Cow::Owned(text))
    }

    /// The error reply `ERR wrong number of arguments for 'NAME' command`.
    pub fn arity(command: &str) -> Failure {
        Failure::reply(format!("ERR wrong number of arguments for '{command}' command"))
    }
}

impl From<redb::StorageError> for Failure {
    fn from(error: redb::StorageError) -> Self {
        Failure::Storage(error.to_string())
    }
}
