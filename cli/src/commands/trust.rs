//! `coord trust`: confirms the server and the token file that a repository's own settings name. Until then Coord sends
//! nothing there, because the repository's author may have chosen them.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use coord_agent::confirmed::Server;
use coord_agent::options::{AgentArgs, TOKEN_FILE, URL};
use coord_agent::person::{PersonArgs, ensure_confirmed};
use coord_agent::stdout;
use coord_git::WorkingCopy;
use coord_settings::{env_vars, process_environment, value_of};

/// Options of `coord trust`.
#[derive(Clone, Debug, Args)]
pub struct TrustArgs {
    /// Withdraw the confirmation
    #[arg(long)]
    pub remove: bool,
    #[command(flatten)]
    person: PersonArgs,
}

impl TrustArgs {
    /// # Errors
    /// When the folder is in no working copy, there is no terminal, the person declines, or the file cannot be written.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let working_copy = WorkingCopy::containing(&std::env::current_dir().context("the current folder")?)?;
        // Only the repository's own settings count here, not the user's variables. The agent's id is kept, because an
        // agent may not confirm a server.
        let args = AgentArgs {
            agent_id: value_of(&process_environment, env_vars::COORD_AGENT),
            ..AgentArgs::default()
        };
        let servers = servers(&args, &working_copy);
        let outcome = if servers.is_empty() {
            "This repository's own git configuration names no server: there is nothing to confirm.\n"
        } else if self.remove {
            for server in &servers {
                server.forget()?;
            }
            "Removed: commands and hooks no longer contact this server.\n"
        } else if servers.iter().all(Server::is_confirmed) {
            "You have confirmed this server already.\n"
        } else {
            ensure_confirmed(&args, self.person, &question(&working_copy, &servers))?;
            for server in servers {
                server.confirm()?;
            }
            "Confirmed.\n"
        };
        stdout::print(outcome.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The servers to confirm: the one that gets the token of the environment, and the one that gets the token of a file.
fn servers(args: &AgentArgs, working_copy: &WorkingCopy) -> Vec<Server> {
    let Some(url) = args.url(working_copy) else {
        return Vec::new();
    };
    let without_file = working_copy
        .own_setting(URL)
        .map(|url| Server { url, token_file: None });
    let with_file = working_copy.own_setting(TOKEN_FILE).map(|file| Server {
        url,
        token_file: Some(file),
    });
    without_file.into_iter().chain(with_file).collect()
}

fn question(working_copy: &WorkingCopy, servers: &[Server]) -> String {
    let root = working_copy.root().display().to_string();
    let mut text = format!("The git configuration of {root} names\n");
    for Server { url, token_file } in servers {
        text += &match token_file {
            None => format!("  the server {url}, which gets your requests and COORD_TOKEN\n"),
            Some(file) => format!("  the file {file}, whose text {url} gets as your token\n"),
        };
    }
    text.retain(|letter| letter == '\n' || !letter.is_control());
    text + "Trust it?"
}
