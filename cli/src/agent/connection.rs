//! The connection of a command to its server.

use std::time::Duration;

use anyhow::Context;
use coord::domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientSettings};

use super::local_server;
use super::options::AgentArgs;

/// A client, and what it is connected to.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The client.
    pub client: Client,
    /// The server's address.
    pub address: String,
    /// Whether it is the `coord serve` of the repository, found by its announcement.
    pub is_local: bool,
}

impl Connection {
    /// Connects the agent to the server that the options name, or else to that of the repository, which is started if none
    /// runs. Each request has `limit` to be answered.
    ///
    /// # Errors
    /// When the address or the token cannot be used, or the server does not start.
    pub fn open(
        args: &AgentArgs,
        working_copy: &WorkingCopy,
        agent_id: Option<&AgentId>,
        limit: Duration,
    ) -> anyhow::Result<Connection> {
        let named = args.url(working_copy);
        let is_local = named.is_none();
        let address = match named {
            Some(address) => address,
            None => local_server::running_or_started(working_copy)?,
        };
        // A local server knows its callers by the user of the system, and a token of a deployment is not for it.
        let token = match is_local {
            true => None,
            false => args.token(working_copy)?,
        };
        let client = Client::with_settings(ClientSettings {
            base: &address,
            token: token.as_ref(),
            agent_id: agent_id.map(AgentId::as_str),
            limit,
        });
        let client = client.with_context(|| if is_local { "coord serve" } else { "COORD_URL" })?;
        Ok(Connection {
            client,
            address,
            is_local,
        })
    }
}
