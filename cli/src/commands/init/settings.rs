//! Settings of git in the repository, which say what agents ask.

use anyhow::Context;
use coord::domain::Branch;
use coord_git::WorkingCopy;

use super::args::InitArgs;
use super::record::Record;
use crate::agent::git;
use crate::commands::hook::KEEP_GOING;

/// A setting, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub key: &'static str,
    /// Its value. `None` where it is removed.
    pub value: Option<String>,
}

const KEYS: [&str; 4] = ["coord.url", "coord.tokenFile", "coord.branch", KEEP_GOING];

impl Setting {
    /// The arguments of git that change it.
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
/// When a value cannot be one.
pub fn changed(args: &InitArgs, working_copy: &WorkingCopy) -> anyhow::Result<Vec<Setting>> {
    if let Some(address) = &args.url {
        coord_protocol::Client::new(address, None, None).context("--url")?;
    }
    if let Some(branch) = &args.branch {
        Branch::parse(branch).map_err(|invalid| anyhow::anyhow!("--branch {branch:?} {invalid}"))?;
    }
    let token_file = match &args.token_file {
        Some(file) => {
            let file = std::path::absolute(file).context("--token-file")?;
            anyhow::ensure!(file.is_file(), "--token-file {} is no file", file.display());
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
    let wanted = KEYS.into_iter().zip(values).filter(|(_, value)| value.is_some());
    let wanted = wanted.map(|(key, value)| Setting { key, value });
    Ok(wanted
        .filter(|setting| working_copy.setting(setting.key) != setting.value)
        .collect())
}

/// The settings that `record` has, where they are still as they were set.
pub fn recorded(record: &Record, working_copy: &WorkingCopy) -> Vec<Setting> {
    let keys = KEYS.into_iter().filter(|key| record.settings.contains_key(*key));
    let same = keys.filter(|key| working_copy.setting(key).as_ref() == record.settings.get(*key));
    same.map(|key| Setting { key, value: None }).collect()
}

/// Changes them, and the record.
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
