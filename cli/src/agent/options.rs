//! Which server is asked, about which repository, with which token, for which branch, and as whom: by options, the environment and
//! `git config`, in this order.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use coord::domain::{AgentId, Branch, RepoId};
use coord::settings::{env_vars, process_environment, secret, value_of};
use coord_git::WorkingCopy;
use secrecy::SecretString;

use super::local_server;

/// Largest token file, in bytes.
const MOST_TOKEN_BYTES: u64 = 16 * 1024;

/// Options of every command that asks a server.
#[derive(Clone, Debug, Default, Args)]
pub struct AgentArgs {
    /// The server [default: the `coord serve` of this repository, which is started if none runs]
    #[arg(long, value_name = "URL", env = env_vars::COORD_URL, hide_env_values = true)]
    pub url: Option<String>,
    /// A file that has the token alone; COORD_TOKEN is the token itself
    #[arg(long, value_name = "FILE", env = env_vars::COORD_TOKEN_FILE)]
    pub token_file: Option<PathBuf>,
    /// The branch that the work is for [default: the upstream of the checked-out branch, or else that branch]
    #[arg(long, value_name = "BRANCH", env = env_vars::COORD_BRANCH)]
    pub branch: Option<String>,
    /// The agent that asks; it tells several agents of one person apart
    #[arg(long = "agent", value_name = "ID", env = env_vars::COORD_AGENT)]
    pub agent_id: Option<String>,
}

impl AgentArgs {
    /// The server's address, where one is set.
    pub fn url(&self, working_copy: &WorkingCopy) -> Option<String> {
        set(self.url.clone()).or_else(|| working_copy.setting("coord.url"))
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
        let asked = running.filter(|running| url.is_none_or(|url| running.is_at(&url)));
        asked.and_then(|asked| asked.repo).unwrap_or_else(|| own.clone())
    }

    /// The same, as requests name it.
    pub fn repo_url(&self, working_copy: &WorkingCopy) -> String {
        format!("https://{}", self.repo(working_copy))
    }

    /// The token, where one is set.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or has no token.
    pub fn token(&self, working_copy: &WorkingCopy) -> anyhow::Result<Option<SecretString>> {
        if let Some(token) = secret(&process_environment, env_vars::COORD_TOKEN) {
            return Ok(Some(token));
        }
        let file = self.token_file.clone();
        let Some(file) = file.or_else(|| working_copy.setting("coord.tokenFile").map(PathBuf::from)) else {
            return Ok(None);
        };
        let shown = file.display();
        let about = || format!("the token file {shown} cannot be read");
        if std::fs::metadata(&file).with_context(about)?.len() > MOST_TOKEN_BYTES {
            bail!("the token file {shown} is larger than {MOST_TOKEN_BYTES} bytes");
        }
        let text = std::fs::read_to_string(&file).with_context(about)?;
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
