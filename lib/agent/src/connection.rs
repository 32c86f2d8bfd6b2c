//! The connection of a command to its server.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientSettings};
use coord_server::error::ApiError;
use coord_settings::env_vars;

use super::local_server;
use super::options::AgentArgs;
use crate::announcement::AnnouncedServer;

/// The error of a request that the server does not answer. `address` is the server's address, if it is known.
pub fn no_server(address: Option<&str>, problem: String) -> ApiError {
    let host = address.and_then(|address| url::Url::parse(address).ok()?.host_str().map(str::to_owned));
    let name = match (address, host) {
        (_, Some(host)) if host.ends_with(".vercel.app") => "Vercel".to_owned(),
        (Some(address), _) => format!("The server at {address}"),
        (None, _) => "The server".to_owned(),
    };
    ApiError::NoServer { name, problem }
}

/// A client, and its server.
#[derive(Clone, Debug)]
pub struct Connection {
    pub client: Client,
    pub address: String,
    /// Whether the server is the `coord serve` of the repository, found by its announcement.
    pub is_local: bool,
    /// The id of that server, distinct from those of earlier servers.
    pub server: Option<String>,
    /// The other clone of the repository that runs the server.
    pub other_clone: Option<PathBuf>,
}

impl Connection {
    /// The clone that runs the server, in words, if the server runs on this machine.
    pub fn server_owner(&self) -> Option<String> {
        match &self.other_clone {
            Some(clone) => Some(format!(
                "the coord serve of another clone of this repository, {}",
                clone.display()
            )),
            None => self.is_local.then(|| "the coord serve of this clone".to_owned()),
        }
    }

    /// Connects the agent to the server in the options, or else to the repository's server, which is started if none
    /// runs. `limit` is the time limit of each request.
    ///
    /// # Errors
    /// When the address or the token cannot be used or is not confirmed, or the server does not start.
    pub fn open(
        args: &AgentArgs,
        working_copy: &WorkingCopy,
        agent_id: Option<&AgentId>,
        limit: Duration,
    ) -> anyhow::Result<Connection> {
        let local = match args.server(working_copy)? {
            Some(_) => None,
            None => Some(local_server::find_or_start(working_copy)?),
        };
        Connection::connect(local, args, working_copy, agent_id, limit)
    }

    /// As [`Connection::open`], but starts no server. `None` if no address is set and no server runs, so that there are
    /// no locks.
    ///
    /// # Errors
    /// When the address or the token cannot be used, or no server runs and the locks are in another store.
    pub fn open_running(
        args: &AgentArgs,
        working_copy: &WorkingCopy,
        agent_id: Option<&AgentId>,
        limit: Duration,
    ) -> anyhow::Result<Option<Connection>> {
        let local = match args.server(working_copy)? {
            Some(_) => None,
            None => match local_server::running(working_copy) {
                Some(announced) => Some(announced),
                None => return local_server::ensure_kept_here(working_copy).map(|()| None),
            },
        };
        Connection::connect(local, args, working_copy, agent_id, limit).map(Some)
    }

    /// Connects to the `local` server, or else to the server in the options.
    fn connect(
        local: Option<AnnouncedServer>,
        args: &AgentArgs,
        working_copy: &WorkingCopy,
        agent_id: Option<&AgentId>,
        limit: Duration,
    ) -> anyhow::Result<Connection> {
        let is_local = local.is_some();
        let other_clone = local.as_ref().and_then(|_| local_server::other_clone(working_copy));
        let server = local.as_ref().and_then(|announced| announced.instance.clone());
        let address = match &local {
            Some(announced) => Some(announced.address()),
            None => args.server(working_copy)?,
        };
        let address = address.context("no server is named")?;
        // A local server identifies its callers by the user of the system. It must not receive a deployment's token.
        let token = match is_local {
            true => None,
            false => args.token(working_copy)?,
        };
        let client = Client::with_settings(ClientSettings {
            base: &address,
            token: token.as_ref(),
            agent_id: agent_id.map(AgentId::as_str),
            server: server.as_deref(),
            limit,
        });
        let client = client.with_context(|| if is_local { "coord serve" } else { env_vars::COORD_URL })?;
        Ok(Connection {
            client,
            address,
            is_local,
            server,
            other_clone,
        })
    }
}
