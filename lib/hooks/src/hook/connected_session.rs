//! A session that has reached its server.

use coord_agent::connection::Connection;
use coord_agent::work::Work;
use coord_domain::AgentId;

/// The connection of a session, its work, and the holder of its locks.
#[derive(Clone, Copy)]
pub(super) struct ConnectedSession<'a> {
    pub(super) connection: &'a Connection,
    pub(super) work: &'a Work,
    pub(super) holder: &'a AgentId,
}
