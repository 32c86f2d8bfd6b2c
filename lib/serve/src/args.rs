//! The options of `coord serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use coord_settings::variables::{self, Reader};

use super::listen_address;

/// Options of `coord serve`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = variables::help(Reader::Serve))]
pub struct ServeArgs {
    /// A repository to serve, one of its worktrees, or a folder inside; may be repeated [default: the current folder, unless --github is given]
    #[arg(long, value_name = "PATH")]
    pub repo: Vec<PathBuf>,
    /// A repository on GitHub, read through its API; may be repeated, and combined with --repo
    #[arg(long, value_name = "OWNER/NAME")]
    pub github: Vec<String>,
    /// Address of GitHub's API; an Enterprise Server has it at /api/v3 [default: that of github.com]
    #[arg(long, value_name = "URL", requires = "github")]
    pub github_api: Option<String>,
    /// Address to listen on: 127.0.0.1:3000, localhost:3000, or a port on this machine only [default: 127.0.0.1:3000, or the next free port]
    #[arg(long, value_name = "ADDR", value_parser = listen_address::parse)]
    pub listen: Option<SocketAddr>,
    /// The same as --listen 127.0.0.1:PORT
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub port: Option<u16>,
    /// Folder of the embedded store [default: coord/ in the first repository's git folder; without --repo, your own folder for state]
    #[arg(long, value_name = "PATH")]
    pub data_dir: Option<PathBuf>,
    /// Check the file of the embedded store for damage whatever its size [default: up to 256 MiB, and after a crash]
    #[arg(long, conflicts_with_all = ["redis", "upstash"])]
    pub check: bool,
    /// Keep the state in Redis or Valkey instead: redis:// or rediss://
    #[arg(long, value_name = "URL", conflicts_with_all = ["upstash", "data_dir"])]
    pub redis: Option<String>,
    /// Keep the state in Upstash Redis instead: its REST address
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    pub upstash: Option<String>,
    /// Seconds that a lock is held unless it is renewed [default: 300]
    #[arg(long, value_name = "SECONDS")]
    pub lock_ttl: Option<u32>,
    /// Interval of `git fetch` in every served clone, 5 to 86,400; without this option, run it yourself. Uses your git and its credentials, and never prompts
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(5..=86_400))]
    pub fetch: Option<u32>,
    /// Keep the files of .orchestration/ in every served clone current, as `coord sync` does; changes that only a person may make are logged and left out
    #[cfg(feature = "intents")]
    #[arg(long, conflicts_with = "exit_when_idle")]
    pub sync: bool,
    /// Stop after this many seconds without a request; commands that start a server set it
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub exit_when_idle: Option<u32>,
}
