//! Git settings of the repository that Coord's commands and hooks read.

use anyhow::Context;
use coord_agent::confirmed::Server;
use coord_agent::git;
use coord_agent::options::{TOKEN_FILE, URL};
use coord_domain::Branch;
use coord_git::WorkingCopy;
use coord_hooks::hook::KEEP_GOING;

use super::args::InitArgs;
use super::record::Record;

/// The change of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: &'static str,
    /// The new value; `None` to remove the setting.
    pub value: Option<String>,
}

const KEYS: [&str; 4] = [URL, TOKEN_FILE, "coord.branch", KEEP_GOING];

impl Setting {
    /// The arguments with which git makes the change.
    pub fn arguments(&self) -> Vec<&str> {
        match &self.value {
            Some(value) => vec!["config", "--local", self.key, value],
            None => vec!["config", "--local", "--unset", self.key],
        }
    }
}

/// The settings that `args` changes.
///
/// # Errors
/// When a value is invalid.
pub fn to_change(args: &InitArgs, working_copy: &WorkingCopy) -> anyhow::Result<Vec<Setting>> {
    if let Some(address) = &args.url {
        coord_protocol::Client::new(address, None, None).context("--url")?;
    }
    if let Some(branch) = &args.branch {
        Branch::parse(branch).map_err(|invalid| anyhow::anyhow!("--branch {branch:?} {invalid}"))?;
    }
    let token_file = match &args.token_file {
        Some(file) => {
            let file = std::path::absolute(file).context("--token-file")?;
            anyhow::ensure!(file.is_file(), "--token-file {} is not a file", file.display());
            Some(
                file.into_os_string()
                    .into_string()
                    .ok()
                    .context("--token-file is not UTF-8")?,
            )
        }
        None => None,
    };
    let keep_going = args.keep_going.then(|| "true".to_owned());
    let values = [args.url.clone(), token_file, args.branch.clone(), keep_going];
    let settings = KEYS.into_iter().zip(values).filter(|(_, value)| value.is_some());
    let settings = settings.map(|(key, value)| Setting { key, value });
    Ok(settings
        .filter(|setting| working_copy.setting(setting.key) != setting.value)
        .collect())
}

/// Confirms the server and the token file that `args` names, because the user has typed them. A token file for a server
/// that was set earlier is confirmed only if that server was.
///
/// # Errors
/// When the confirmation cannot be written.
pub fn confirm(args: &InitArgs, working_copy: &WorkingCopy) -> anyhow::Result<()> {
    let Some(working_copy) = WorkingCopy::find(working_copy.root())? else {
        return Ok(());
    };
    let token_file = args.token_file.as_ref().and_then(|_| working_copy.setting(TOKEN_FILE));
    let without_file = |url: &String| Server {
        url: url.clone(),
        token_file: None,
    };
    let url = match &args.url {
        Some(url) => Some(url.clone()),
        None => working_copy
            .setting(URL)
            .filter(|url| working_copy.own_setting(URL).is_none() || without_file(url).is_confirmed()),
    };
    let Some(url) = url.filter(|_| args.url.is_some() || token_file.is_some()) else {
        return Ok(());
    };
    // A variable may set a token besides the one of the file.
    if args.url.is_some() {
        without_file(&url).confirm()?;
    }
    match token_file {
        Some(_) => Server { url, token_file }.confirm(),
        None => Ok(()),
    }
}

/// The removal of the recorded settings that still have the recorded values.
pub fn to_remove(record: &Record, working_copy: &WorkingCopy) -> Vec<Setting> {
    let is_unchanged = |key: &&'static str| {
        let recorded = record.settings.get(*key);
        recorded.is_some() && working_copy.setting(key).as_ref() == recorded
    };
    let keys = KEYS.into_iter().filter(is_unchanged);
    keys.map(|key| Setting { key, value: None }).collect()
}

/// Makes the changes, in git and in the record.
///
/// # Errors
/// When git refuses.
pub async fn write(settings: &[Setting], working_copy: &WorkingCopy, record: &mut Record) -> anyhow::Result<()> {
    for setting in settings {
        git::output(working_copy.root(), setting.arguments()).await?;
        match &setting.value {
            Some(value) => record.settings.insert(setting.key.to_owned(), value.clone()),
            None => record.settings.remove(setting.key),
        };
    }
    Ok(())
}
