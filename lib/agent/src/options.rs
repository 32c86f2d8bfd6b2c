//! Which server is asked, about which repository, with which token, for which branch, and as whom: by options, the environment and
//! `git config`, in this order.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use coord_domain::{AgentId, Branch, RepoId};
use coord_files::open_stream;
use coord_git::WorkingCopy;
use coord_settings::{env_vars, process_environment, secret, value_of};
use secrecy::SecretString;

use super::confirmed::{Server, is_of_this_machine};
use super::local_server;

/// Largest token file, in bytes.
const MOST_TOKEN_BYTES: u64 = 16 * 1024;

/// The setting that names the server.
pub const URL: &str = "coord.url";

/// The setting that names the file of its token.
pub const TOKEN_FILE: &str = "coord.tokenFile";

/// The repository's own settings name a server that the user has not confirmed.
#[derive(Debug)]
pub struct UnconfirmedServer(pub Server);

impl std::error::Error for UnconfirmedServer {}

impl std::fmt::Display for UnconfirmedServer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Server { url, token_file } = &self.0;
        let url: String = url.chars().filter(|letter| !letter.is_control()).collect();
        let file = match token_file {
            Some(_) => " and the file of a token for it",
            None => "",
        };
        write!(
            out,
            "this repository's own git configuration names the server {url}{file}, which you have not confirmed: run `coord trust` \
             in a terminal if you trust it, or set {}",
            env_vars::COORD_URL
        )
    }
}

/// Options of every command that asks a server.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Server and agent")]
pub struct AgentArgs {
    /// The server [default: this repository's `coord serve`, started if needed]
    #[arg(long, value_name = "URL", env = env_vars::COORD_URL, hide_env_values = true)]
    pub url: Option<String>,
    /// A file with the token; COORD_TOKEN is the token itself
    #[arg(long, value_name = "FILE", env = env_vars::COORD_TOKEN_FILE, hide_env_values = true)]
    pub token_file: Option<PathBuf>,
    /// The branch that the work will be merged into [default: from git]
    #[arg(long, value_name = "BRANCH", env = env_vars::COORD_BRANCH, hide_env_values = true)]
    pub branch: Option<String>,
    /// Your agent id: it tells several agents of one person apart
    #[arg(long = "agent", value_name = "ID", env = env_vars::COORD_AGENT, hide_env_values = true)]
    pub agent_id: Option<String>,
}

impl AgentArgs {
    /// The server's address from any source.
    pub fn url(&self, working_copy: &WorkingCopy) -> Option<String> {
        set(self.url.clone()).or_else(|| working_copy.setting(URL))
    }

    /// The server's address, where one is set that may be asked: by the user, or by the repository for this machine or with the
    /// user's confirmation.
    ///
    /// # Errors
    /// When the repository's own settings name a server that the user has not confirmed.
    pub fn server(&self, working_copy: &WorkingCopy) -> anyhow::Result<Option<String>> {
        match self.named_by_repository(working_copy) {
            Some(server) if !is_of_this_machine(&server.url) && !server.is_confirmed() => {
                Err(UnconfirmedServer(server).into())
            }
            _ => Ok(self.url(working_copy)),
        }
    }

    /// The server and the file of a token that the repository's own settings would decide, as far as they do.
    pub fn named_by_repository(&self, working_copy: &WorkingCopy) -> Option<Server> {
        let own_url = match set(self.url.clone()) {
            Some(_) => None,
            None => working_copy.own_setting(URL),
        };
        let has_token = secret(&process_environment, env_vars::COORD_TOKEN).is_some() || self.token_file.is_some();
        let token_file = match has_token {
            true => None,
            false => working_copy.own_setting(TOKEN_FILE),
        };
        if own_url.is_none() && token_file.is_none() {
            return None;
        }
        Some(Server {
            url: own_url.or_else(|| self.url(working_copy))?,
            token_file,
        })
    }

    /// The repository, by the id that the server has for it: that of its remote. Without one, that by which the server of this
    /// clone serves it, because a store that is shared with other machines has another than [`WorkingCopy::repo`]. An
    /// announcement that a killed server has left behind does not count: the next server may have another store.
    pub fn repo(&self, working_copy: &WorkingCopy) -> RepoId {
        let own = working_copy.repo();
        if working_copy.has_remote() {
            return own.clone();
        }
        let url = self.url(working_copy);
        let running = local_server::running(working_copy);
        let server = running.filter(|running| url.is_none_or(|url| running.is_at(&url)));
        server.and_then(|server| server.repo).unwrap_or_else(|| own.clone())
    }

    /// The same, as requests name it.
    pub fn repo_url(&self, working_copy: &WorkingCopy) -> String {
        format!("https://{}", self.repo(working_copy))
    }

    /// The token for the server that is named, where one is set. One that only the repository names and the user has not
    /// confirmed gets none.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or has no token, or the repository names it for a server of the user's.
    pub fn token(&self, working_copy: &WorkingCopy) -> anyhow::Result<Option<SecretString>> {
        if let Some(server) = self.named_by_repository(working_copy)
            && !server.is_confirmed()
        {
            return match is_of_this_machine(&server.url) {
                true => Ok(None),
                false => Err(UnconfirmedServer(server).into()),
            };
        }
        if let Some(token) = secret(&process_environment, env_vars::COORD_TOKEN) {
            return Ok(Some(token));
        }
        let file = self.token_file.clone();
        let Some(file) = file.or_else(|| working_copy.setting(TOKEN_FILE).map(PathBuf::from)) else {
            return Ok(None);
        };
        let shown = file.display();
        let about = || format!("the token file {shown} cannot be read");
        let opened = open_stream(&file).with_context(about)?;
        let opened = opened.with_context(|| format!("{}: there is no such file", about()))?;
        let mut text = String::new();
        opened
            .take(MOST_TOKEN_BYTES + 1)
            .read_to_string(&mut text)
            .with_context(about)?;
        if text.len() as u64 > MOST_TOKEN_BYTES {
            bail!("the token file {shown} is larger than {MOST_TOKEN_BYTES} bytes");
        }
        match text.trim() {
            "" => bail!("the token file {shown} is empty"),
            token => Ok(Some(SecretString::from(token.to_owned()))),
        }
    }

    /// The branch that the work is for.
    ///
    /// # Errors
    /// When the branch that is named is none, or none is named where HEAD is detached and the repository has no default branch.
    pub fn branch(&self, working_copy: &WorkingCopy) -> anyhow::Result<Branch> {
        Ok(self.branches(working_copy)?.0)
    }

    /// The same, and the branch that is committed to, where it is another one.
    ///
    /// # Errors
    /// As [`AgentArgs::branch`].
    pub fn branches(&self, working_copy: &WorkingCopy) -> anyhow::Result<(Branch, Option<Branch>)> {
        let named = set(self.branch.clone()).or_else(|| working_copy.setting("coord.branch"));
        match named {
            Some(name) => {
                let branch = Branch::parse(&name);
                let branch = branch.map_err(|invalid| anyhow::anyhow!("the branch {name:?} {invalid}"))?;
                let work_branch = working_copy.checked_out().filter(|checked_out| *checked_out != branch);
                Ok((branch, work_branch))
            }
            None => working_copy.branches().with_context(|| {
                format!(
                    "no branch is checked out in {}; name the one that the work is for, with --branch or {}",
                    working_copy.root().display(),
                    env_vars::COORD_BRANCH
                )
            }),
        }
    }

    /// The agent that is named, where one is, or else that of opencode-teams: commands, hooks and tools are one agent.
    ///
    /// # Errors
    /// When it is no `agent_id`.
    pub fn agent_id(&self) -> anyhow::Result<Option<AgentId>> {
        let parse = |id: String| AgentId::parse(&id).map_err(|invalid| anyhow::anyhow!("the agent {id:?} {invalid}"));
        let named = set(self.agent_id.clone()).or_else(|| value_of(&process_environment, env_vars::OPENCODE_AGENT_ID));
        named.map(parse).transpose()
    }
}

/// A value that is not empty: an agent's configuration may pass a variable on that is not set.
fn set(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
}
