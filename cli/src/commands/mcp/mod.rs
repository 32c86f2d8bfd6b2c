//! `coord mcp`: MCP over standard input and output, for the configuration of an agent. It is a proxy for a deployment
//! or for the `coord serve` of the repository, and fills in facts that the agent need not know.
//!
//! It stores no state: locks are read from the server, and git's facts are read for each call.
//!
//! - [`stdio`]: the transport of the protocol
//! - [`proxy`]: the data of one process between two calls
//! - [`target`]: the working copy that a call is for, and the arguments that are filled in; [`folder`]: the folder that
//!   the agent works in
//! - [`backend`]: requests to the server, and their failures
//! - [`tools`], `intents`, `teams`, `opencode`, [`resources`]: calls of tools, and resources
//! - `listing`: the tools that the repository has a use for, and its events; `rules`: the file in which a client reads
//!   the rules
//! - [`release_retries`], `retrying`: releases that have not reached the server
//! - [`renewal`]: locks that are about to expire, or have expired
//! - [`claims`]: locks claimed by this process; [`exit`]: those that are left at the end

mod backend;
mod claims;
mod exit;
mod folder;
#[cfg(feature = "intents")]
mod intents;
mod listing;
#[cfg(feature = "teams")]
mod opencode;
mod proxy;
mod release_retries;
mod renewal;
mod resources;
mod retrying;
mod rules;
mod stdio;
mod target;
#[cfg(feature = "teams")]
mod teams;
mod tools;

use std::time::Duration;

use clap::Args;
use coord_agent::options::AgentArgs;
use coord_agent::signals::Signals;
use coord_mcp::{SdkRequest, Server, ToolGroup, ToolHost, ToolSelection};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rmcp::ServiceExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use self::proxy::Proxy;
use self::stdio::Input;

/// Maximum concurrent requests; further ones wait.
const MAX_REQUESTS: usize = 32;

/// Maximum subscriptions; further ones end immediately.
const MAX_LISTENERS: usize = 8;

/// Time limit of the shutdown: pending responses, and the release of the session's files.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The part of it for pending responses.
const LAST_RESPONSES_TIMEOUT: Duration = Duration::from_secs(3);

/// Options of `coord mcp`.
#[derive(Debug, Args)]
pub struct McpArgs {
    #[command(flatten)]
    agent: AgentArgs,
    /// Seconds after the agent's last call for which its locks are renewed
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    renew_for: u64,
    /// The tools that the agent is offered; fewer cost it fewer tokens. locks: of files and intents; tasks, messages: of teams;
    /// opencode: those of the plugin opencode-teams, in place of tasks and messages [default: of files, and of intents and teams
    /// where there are any]
    #[arg(long, value_name = "GROUPS", value_parser = Groups::parse)]
    tools: Option<Groups>,
}

/// Tools that are offered together.
#[derive(Clone, Debug)]
struct Groups(Vec<ToolGroup>);

impl Groups {
    fn parse(names: &str) -> Result<Groups, String> {
        ToolGroup::parse(coord_tools::SETS, names).map(Groups)
    }
}

impl McpArgs {
    /// Answers the agent until it closes standard input, or until Ctrl-C, SIGTERM or SIGHUP.
    ///
    /// # Errors
    /// Never: failures go to the agent.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<()> {
        coord_runtime::logging::start_text("warn");
        let mut signals = Signals::caught();
        let selection = self
            .tools
            .map_or(ToolSelection::AsNeeded, |Groups(groups)| ToolSelection::Chosen(groups));
        let mut agent = self.agent;
        // The process changes its current folder.
        agent.token_file = agent.token_file.map(|file| std::path::absolute(&file).unwrap_or(file));
        let proxy = Proxy::new(agent, Duration::from_secs(self.renew_for));
        let input = Input::default();
        let ended_at = tokio::select! {
            ended_at = serve(&proxy, selection, &input) => ended_at,
            () = signals.next() => Instant::now(),
        };
        let deadline = ended_at + SHUTDOWN_TIMEOUT;
        tokio::select! {
            release = timeout_at(deadline, proxy.release_files()) => {
                if release.is_err() {
                    exit::log_line("the end took too long; the remaining locks expire");
                }
            }
            // A second signal.
            () = signals.next() => {}
        }
        Ok(())
    }
}

/// Answers requests until the input ends, and returns when that was.
async fn serve(proxy: &Proxy, selection: ToolSelection, input: &Input) -> Instant {
    let (sender, mut requests) = mpsc::channel(1);
    let folder = proxy.folder.get();
    let rules_file = Box::new(move |client: &str| rules::file_of(&folder, client));
    let server = Server::new(coord_tools::SETS, ToolHost::WorkingCopy, selection, rules_file, sender)
        .asking_roots(!proxy.folder.is_in_repository());
    let session = async {
        match server.serve(stdio::transport(input)).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the session has broken off");
                }
            }
            // The client has closed the input before its first message, or that is not a message of the protocol.
            Err(error) => tracing::debug!(%error, "no session"),
        }
    };
    let response_timeout = async { sleep_until(input.wait_for_end().await + LAST_RESPONSES_TIMEOUT).await };
    let background = async {
        tokio::join!(
            proxy.connect(),
            proxy.renew_locks(),
            proxy.retry_releases(),
            proxy.follow_events()
        );
    };
    tokio::pin!(session, response_timeout, background);
    let (mut responses, mut listeners) = (FuturesUnordered::new(), FuturesUnordered::new());
    loop {
        tokio::select! {
            () = &mut session => break,
            () = &mut response_timeout => break,
            Some(request) = requests.recv(), if responses.len() < MAX_REQUESTS => match request {
                // A listener waits until something happens, so it does not count as a request.
                change @ SdkRequest::Change { .. } => {
                    if listeners.len() < MAX_LISTENERS {
                        listeners.push(reply(proxy, change));
                    }
                }
                request => responses.push(reply(proxy, request)),
            },
            Some(()) = responses.next() => {}
            Some(()) = listeners.next() => {}
            () = &mut background => {}
        }
    }
    input.ended_at().unwrap_or_else(Instant::now)
}

/// Answers a request of the SDK. If the call was canceled, the response is dropped.
async fn reply(proxy: &Proxy, request: SdkRequest) {
    match request {
        SdkRequest::Call {
            tool,
            arguments,
            client,
            reply,
        } => {
            let _ = reply.send(proxy.call(tool, &arguments, client.as_deref()).await);
        }
        SdkRequest::Read { uri, client, reply } => {
            let _ = reply.send(proxy.read(&uri, client.as_deref()).await);
        }
        SdkRequest::Groups { is_anew, reply } => {
            let _ = reply.send(proxy.groups(is_anew).await);
        }
        SdkRequest::Change { seen, mut reply } => {
            // Stops when the client no longer listens.
            tokio::select! {
                count = proxy.wait_for_event(seen) => drop(reply.send(count)),
                () = reply.closed() => {}
            }
        }
        SdkRequest::Roots { uris, reply } => {
            proxy.folder.note_roots(&uris);
            let _ = reply.send(());
        }
    }
}
