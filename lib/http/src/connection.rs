//! The connection of a request. A stream holds it, because after an upgrade the server would no longer count the
//! connection.

use std::sync::Arc;

/// A connection that a server counts.
pub trait OpenConnection: Send + Sync {
    /// Keeps the server from closing the connection in favor of others: it is the stream of a verified caller, who may
    /// have only a bounded number.
    fn keep(&self);
}

/// The connection, as an extension of a request. The server counts it until this is dropped.
#[derive(Clone)]
pub struct Connection(Arc<dyn OpenConnection>);

impl Connection {
    pub fn new(connection: Arc<dyn OpenConnection>) -> Self {
        Connection(connection)
    }

    /// Keeps the server from closing the connection in favor of others, until its next request.
    pub fn keep(&self) {
        self.0.keep();
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Connection")
    }
}
