//! The connection of a request, for streams that outlive their response: after an upgrade the server no longer counts it.

use std::any::Any;
use std::sync::Arc;

/// A guard of the connection, as an extension of a request. The connection counts for as long as it is kept.
#[derive(Clone)]
pub struct Connection(Arc<dyn Any + Send + Sync>);

impl Connection {
    /// A connection that counts while `guard` is kept.
    pub fn guarded_by(guard: Arc<dyn Any + Send + Sync>) -> Self {
        Connection(guard)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Connection({} guards)", Arc::strong_count(&self.0))
    }
}
