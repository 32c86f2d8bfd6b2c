//! The requests of clients, and the answers to them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// One request that the judge has to know of.
#[derive(Clone, Debug)]
pub struct Ask {
    pub handle: String,
    /// A unique number, which is in the titles that it writes.
    pub mark: usize,
    pub act: Act,
    pub reply: Reply,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// New tasks; that in place 1 of request 7 has the title `m7.1`.
    Create(Vec<Wanted>),
    /// The fields to set, and whether expiries are forgotten; the title then ends with ` u7`.
    Update {
        id: String,
        dependencies: Option<Vec<String>>,
        blocks: Option<Vec<String>>,
        clears: bool,
    },
    /// A claim, or the next task, with its files or without them.
    Take {
        with_files: bool,
    },
    Complete(String),
    Send(String),
    /// The same to the leader, whoever that is, by a member that has nothing to do.
    Idle(String),
    /// One of `left`, `handed over to h3` or `forced s2`.
    Deed(String),
}

/// Edges and files of a new task.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub files: Vec<String>,
    pub dependencies: Vec<Named>,
    pub blocks: Vec<Named>,
}

#[derive(Clone, Debug)]
pub enum Named {
    Task(String),
    New(usize),
}

#[derive(Clone, Debug)]
pub enum Reply {
    Done(Json),
    Refused(String),
    /// The client or the server was killed: it may have been done or not.
    Unanswered,
}

/// The messages that each reader got, in the order in which it accepted them.
pub type Inboxes = BTreeMap<String, Vec<(u64, String)>>;
