//! `coord mcp`: MCP over standard input and output, for the configuration of an agent. It is a proxy for a deployment or for
//! the `coord serve` of the repository, and fills in facts that the agent should not have to know.
//!
//! It keeps no state of coordination: locks are read from the server, and git's facts are read for each call.
//!
//! - [`stdio`]: the protocol's transport
//! - [`proxy`]: the state of one process between two calls
//! - [`target`]: the working copy that a call is for; the arguments that are filled in; [`folder`]: the folder that the
//!   agent works in
//! - [`backend`]: requests to the server, and why they fail
//! - [`tools`], `intents`, `teams`, `opencode`, [`resources`]: answers
//! - `listing`: the tools that the repository has a use for (`repository_use`), and its events; `rules`: the file from which a client has the
//!   rules
//! - [`release_retries`], `retrying`: releases that have not reached the server
//! - [`renewal`]: locks that are about to expire
//! - [`claims`]: locks claimed by this process, by `holder_key`; `expired`: those that ended; [`exit`]: locks that are left at the end

mod backend;
mod claims;
mod exit;
mod expired;
mod folder;
mod holder_key;
#[cfg(feature = "intents")]
mod intents;
mod listing;
#[cfg(feature = "teams")]
mod opencode;
mod proxy;
mod release_retries;
mod renewal;
mod repository_use;
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
use coord_mcp::{Offer, SdkRequest, Server, ToolGroup, ToolSelection};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rmcp::ServiceExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use self::proxy::Proxy;
use self::stdio::Input;

/// Most requests that are answered at once; further ones wait.
const MOST_AT_ONCE: usize = 32;

/// Most subscriptions; further ones end at once.
const MOST_LISTENERS: usize = 8;

/// Time limit of the end: the pending answers, and the release of the session's files.
const END_TIME: Duration = Duration::from_secs(5);

/// The part of it that the answers may take.
const LAST_ANSWERS_TIME: Duration = Duration::from_secs(3);

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
        ToolGroup::parse(names).map(Groups)
    }
}

impl McpArgs {
    /// Answers the agent until it closes standard input, or until Ctrl-C, SIGTERM or SIGHUP.
    ///
    /// # Errors Never: the agent gets the failures.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<()> {
        coord_runtime::logging::start_text("warn");
        let mut signals = Signals::caught();
        let listed = self
            .tools
            .map_or(ToolSelection::AsNeeded, |Groups(groups)| ToolSelection::Chosen(groups));
        let mut agent = self.agent;
        // The process leaves its folder.
        agent.token_file = agent.token_file.map(|file| std::path::absolute(&file).unwrap_or(file));
        let proxy = Proxy::new(agent, Duration::from_secs(self.renew_for));
        let input = Input::default();
        let ended_at = tokio::select! {
            ended_at = answer(&proxy, listed, &input) => ended_at,
            () = signals.next() => Instant::now(),
        };
        let deadline = ended_at + END_TIME;
        tokio::select! {
            given_back = timeout_at(deadline, proxy.release_files()) => {
                if given_back.is_err() {
                    exit::log_line("the end took too long; the remaining locks expire");
                }
            }
            // A second signal.
            () = signals.next() => {}
        }
        Ok(())
    }
}

/// Answers until the input ends, and says when that was.
async fn answer(proxy: &Proxy, listed: ToolSelection, input: &Input) -> Instant {
    let (sender, mut requests) = mpsc::channel(1);
    let folder = proxy.folder.get();
    let rules_file = Box::new(move |client: &str| rules::file_of(&folder, client));
    let server = Server::new(coord_tools::SETS, Offer::WorkingCopy, listed, rules_file, sender)
        .asking_roots(!proxy.folder.is_in_repository());
    let session = async {
        match server.serve(stdio::transport(input)).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the session has broken off");
                }
            }
            // The client has gone before its first message, or that is none of the protocol.
            Err(error) => tracing::debug!(%error, "no session"),
        }
    };
    let late = async { sleep_until(input.ended().await + LAST_ANSWERS_TIME).await };
    let background = async {
        tokio::join!(
            proxy.connect(),
            proxy.renew_locks(),
            proxy.retry_releases(),
            proxy.follow_events()
        );
    };
    tokio::pin!(session, late, background);
    let (mut answers, mut listeners) = (FuturesUnordered::new(), FuturesUnordered::new());
    loop {
        tokio::select! {
            () = &mut session => break,
            () = &mut late => break,
            Some(request) = requests.recv(), if answers.len() < MOST_AT_ONCE => match request {
                // These take as long as nothing happens, and keep no other request from its answer.
                change @ SdkRequest::Change { .. } if listeners.len() < MOST_LISTENERS => listeners.push(reply(proxy, change)),
                SdkRequest::Change { .. } => {}
                request => answers.push(reply(proxy, request)),
            },
            Some(()) = answers.next() => {}
            Some(()) = listeners.next() => {}
            () = &mut background => {}
        }
    }
    input.ended_at().unwrap_or_else(Instant::now)
}

/// Answers a request of the SDK. If the call was cancelled, the answer is dropped.
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
                count = proxy.happened_since(seen) => drop(reply.send(count)),
                () = reply.closed() => {}
            }
        }
        SdkRequest::Roots { uris, reply } => {
            proxy.note_roots(&uris);
            let _ = reply.send(());
        }
    }
}
