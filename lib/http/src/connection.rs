//! The connection of a request, for streams that outlive their response: after an upgrade the server no longer counts it.

use std::sync::Arc;

/// A connection that a server counts.
pub trait OpenConnection: Send + Sync {
    /// Keeps the connection from making room for others: it is a stream whose caller was verified, and has a bounded number.
    fn keep(&self);
}

/// The connection, as an extension of a request. It counts for as long as this is held.
#[derive(Clone)]
pub struct Connection(Arc<dyn OpenConnection>);

impl Connection {
    /// The connection that `open` counts.
    pub fn new(open: Arc<dyn OpenConnection>) -> Self {
        Connection(open)
    }

    /// Keeps it from making room for others, until its next request.
    pub fn keep(&self) {
        self.0.keep();
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Connection")
    }
}
