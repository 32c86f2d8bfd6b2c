//! The servers that the user has confirmed, in the user's own file. The settings of a repository may name a server and
//! a token file, but the author of the repository wrote them.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::private_folder;
use coord_files::RootedPath;

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A server, and the file with the token for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Server {
    /// The address, exactly as in the setting.
    pub url: String,
    /// The file, exactly as in the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct ConfirmedServers {
    servers: BTreeSet<Server>,
}

impl Server {
    /// Whether the user has confirmed the server.
    pub fn is_confirmed(&self) -> bool {
        path()
            .and_then(|path| read(&path))
            .is_ok_and(|confirmed| confirmed.servers.contains(self))
    }

    /// Adds the server to the confirmed ones.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn confirm(self) -> anyhow::Result<()> {
        change(|servers| servers.insert(self))
    }

    /// Removes the server from the confirmed ones.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn forget(&self) -> anyhow::Result<()> {
        change(|servers| servers.remove(self))
    }
}

/// Whether `url` names this machine. A local server receives no credential, and nothing leaves the machine.
pub fn is_of_this_machine(url: &str) -> bool {
    let url = Url::parse(url.trim()).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// The user's own folder for Coord's settings.
pub fn user_folder(home: &Path) -> PathBuf {
    std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| home.join(".config"))
        .join("coord")
}

fn path() -> anyhow::Result<PathBuf> {
    let home = std::env::home_dir().context("you have no home folder")?;
    Ok(user_folder(&home).join("servers.json"))
}

fn read(path: &Path) -> anyhow::Result<ConfirmedServers> {
    let context = || format!("cannot read {}", path.display());
    match private_folder::read(&RootedPath::beside(path), MAX_BYTES) {
        Ok(text) => serde_json::from_slice(&text).with_context(context),
        Err(error) if error.kind() == ErrorKind::NotFound && !path.exists() => Ok(ConfirmedServers::default()),
        Err(error) => Err(error).with_context(context),
    }
}

fn change(change: impl FnOnce(&mut BTreeSet<Server>) -> bool) -> anyhow::Result<()> {
    let path = path()?;
    let Some(folder) = path.parent() else {
        bail!("you have no folder for settings");
    };
    let mut confirmed = read(&path)?;
    if !change(&mut confirmed.servers) {
        return Ok(());
    }
    let context = || format!("cannot write {}", path.display());
    private_folder::make(folder).with_context(context)?;
    // Only the user may read a new temporary file.
    let temporary = tempfile::NamedTempFile::new_in(folder).with_context(context)?;
    serde_json::to_writer_pretty(&temporary, &confirmed).with_context(context)?;
    temporary.persist(&path).with_context(context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_this_machine() {
        for url in [
            "http://127.0.0.1:3000",
            "http://127.9.9.9",
            "http://[::1]:3000/",
            " http://LOCALHOST:1 ",
        ] {
            assert!(is_of_this_machine(url), "{url}");
        }
        for url in [
            "https://coord.example.com",
            "http://127.0.0.1@evil.example",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "http://0.0.0.0:3000",
            "http://10.0.0.1",
            "127.0.0.1:3000",
            "",
        ] {
            assert!(!is_of_this_machine(url), "{url}");
        }
    }
}
