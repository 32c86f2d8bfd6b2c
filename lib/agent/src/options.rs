//! The server, repository, token, branch and agent of a command's requests, from options, the environment and
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

/// Maximum size of a token file, in bytes.
const MAX_TOKEN_BYTES: u64 = 16 * 1024;

/// The setting for the server's address.
pub const URL: &str = "coord.url";

/// The setting for the file with the server's token.
pub const TOKEN_FILE: &str = "coord.tokenFile";

/// The error if the repository's own settings name a server that the user has not confirmed.
#[derive(Debug)]
pub struct UnconfirmedServer(pub Server);

impl std::error::Error for UnconfirmedServer {}

impl std::fmt::Display for UnconfirmedServer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Server { url, token_file } = &self.0;
        let url: String = url.chars().filter(|character| !character.is_control()).collect();
        let file = match token_file {
            Some(_) => " and the file of a token for it",
            None => "",
        };
        write!(
            out,
            "this repository's own git configuration names the server {url}{file}, which you have not confirmed: run \
             `coord trust` in a terminal if you trust it, or set {}",
            env_vars::COORD_URL
        )
    }
}

/// Options of every command that sends requests to a server.
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
        non_empty(self.url.clone()).or_else(|| working_copy.setting(URL))
    }

    /// The server's address, if it is set. The repository may set it only to this machine, or to a server that the user
    /// has confirmed.
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

    /// The server, if the repository's own settings name it or the file of its token. `None` if the user names both.
    pub fn named_by_repository(&self, working_copy: &WorkingCopy) -> Option<Server> {
        let own_url = match non_empty(self.url.clone()) {
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

    /// The server's id of the repository: the id of its remote. Without a remote, the id in the announcement of this
    /// clone's server, because a store that is shared with other machines has another id than [`WorkingCopy::repo`].
    /// The announcement of a killed server does not count, because the next server may have another store.
    pub fn repo(&self, working_copy: &WorkingCopy) -> RepoId {
        let own = working_copy.repo();
        if working_copy.has_remote() {
            return own.clone();
        }
        let url = self.url(working_copy);
        let server =
            local_server::running(working_copy).filter(|announced| url.is_none_or(|url| announced.is_at(&url)));
        server.and_then(|server| server.repo).unwrap_or_else(|| own.clone())
    }

    /// The repository's URL in requests.
    pub fn repo_url(&self, working_copy: &WorkingCopy) -> String {
        format!("https://{}", self.repo(working_copy))
    }

    /// The token for the server, if it is set. A server on this machine that only the repository names receives none.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or has no token. When the repository names the server or the file,
    /// and the user has not confirmed them.
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
        let path = self.token_file.clone();
        let Some(path) = path.or_else(|| working_copy.setting(TOKEN_FILE).map(PathBuf::from)) else {
            return Ok(None);
        };
        let path_text = path.display();
        let context = || format!("the token file {path_text} cannot be read");
        let file = open_stream(&path).with_context(context)?;
        let file = file.with_context(|| format!("{}: there is no such file", context()))?;
        let mut text = String::new();
        file.take(MAX_TOKEN_BYTES + 1)
            .read_to_string(&mut text)
            .with_context(context)?;
        if text.len() as u64 > MAX_TOKEN_BYTES {
            bail!("the token file {path_text} is larger than {MAX_TOKEN_BYTES} bytes");
        }
        match text.trim() {
            "" => bail!("the token file {path_text} is empty"),
            token => Ok(Some(SecretString::from(token.to_owned()))),
        }
    }

    /// The branch that the work is for.
    ///
    /// # Errors
    /// When the named branch is invalid. When no branch is named, HEAD is detached, and the repository has no default
    /// branch.
    pub fn branch(&self, working_copy: &WorkingCopy) -> anyhow::Result<Branch> {
        Ok(self.branches(working_copy)?.0)
    }

    /// The branch that the work is for, and the branch that is committed to, if it is another branch.
    ///
    /// # Errors
    /// As [`AgentArgs::branch`].
    pub fn branches(&self, working_copy: &WorkingCopy) -> anyhow::Result<(Branch, Option<Branch>)> {
        let name = non_empty(self.branch.clone()).or_else(|| working_copy.setting("coord.branch"));
        match name {
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

    /// The agent in the options, or else the agent of opencode-teams, whose commands, hooks and tools are one agent.
    ///
    /// # Errors
    /// When the text is not a valid `agent_id`.
    pub fn agent_id(&self) -> anyhow::Result<Option<AgentId>> {
        let parse = |id: String| AgentId::parse(&id).map_err(|invalid| anyhow::anyhow!("the agent {id:?} {invalid}"));
        let id = non_empty(self.agent_id.clone());
        id.or_else(|| value_of(&process_environment, env_vars::OPENCODE_AGENT_ID))
            .map(parse)
            .transpose()
    }
}

/// `value` unless it is empty: an agent's configuration may pass on a variable that is not set.
fn non_empty(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
}
