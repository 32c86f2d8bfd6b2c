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

/// The error of a request that the server at `address`, where one is known, does not answer.
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
    /// Whether it is the `coord serve` of the repository, found by its announcement.
    pub is_local: bool,
    /// The name of that server among all, those that have ended too.
    pub server: Option<String>,
    /// The other clone of the repository that the server is of.
    pub other_clone: Option<PathBuf>,
}

impl Connection {
    /// The clone that runs the server, if it is one on this machine.
    pub fn server_owner(&self) -> Option<String> {
        match &self.other_clone {
            Some(clone) => Some(format!(
                "the coord serve of another clone of this repository, {}",
                clone.display()
            )),
            None => self.is_local.then(|| "the coord serve of this clone".to_owned()),
        }
    }

    /// Connects the agent to the server that the options name, or else to that of the repository, which is started if none
    /// runs. Each request has `limit` to be answered.
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
            None => Some(local_server::running_or_started(working_copy)?),
        };
        Connection::to(local, args, working_copy, agent_id, limit)
    }

    /// As [`Connection::open`], but starts no server: `None` if no address is set and none runs, so that there are no locks.
    ///
    /// # Errors
    /// When the address or the token cannot be used, or none runs and the locks are kept in another store.
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
        Connection::to(local, args, working_copy, agent_id, limit).map(Some)
    }

    /// The connection to the server that is named, or else to the `local` one.
    fn to(
        local: Option<AnnouncedServer>,
        args: &AgentArgs,
        working_copy: &WorkingCopy,
        agent_id: Option<&AgentId>,
        limit: Duration,
    ) -> anyhow::Result<Connection> {
        let is_local = local.is_some();
        let other_clone = local.as_ref().and_then(|_| local_server::other_home(working_copy));
        let server = local.as_ref().and_then(|announced| announced.instance.clone());
        let address = match &local {
            Some(announced) => Some(announced.address()),
            None => args.server(working_copy)?,
        };
        let address = address.context("no server is named")?;
        // A local server knows its callers by the user of the system, and a token of a deployment is not for it.
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
