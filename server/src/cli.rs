//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Keeps coding agents out of each other's way: they ask what is locked, claim files, and are told what to do next.
#[derive(Debug, Parser)]
#[command(name = "coord", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; without a command, `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve repositories on this machine (the default).
    Serve(ServeArgs),
}

/// Options of `coord serve`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Environment:
  COORD_JWT_SECRET          verifies callers by JWT (HS256); needed to listen beyond this machine
  COORD_LOCK_TTL_SECONDS    as --lock-ttl
  COORD_NEIGHBOR_POLICY     block (default) or warn: what a written neighbor means for a writer
  COORD_STORE_TOKEN         what clients of --upstash-listen must show
  GITHUB_TOKEN              reads the repositories of --github; without, 60 requests an hour
  GITHUB_APP_ID, GITHUB_APP_PRIVATE_KEY
                            the same as a GitHub App
  GITHUB_API_URL            as --github-api
  CRON_SECRET               lets GET /api/cron_cleanup run the sweep, which runs by itself anyway
  UPSTASH_REDIS_REST_TOKEN  the token for --upstash
  RUST_LOG                  log level, such as debug")]
pub struct ServeArgs {
    /// A repository, one of its worktrees, or a folder inside; may be given several times [default: the current folder, unless --github is given]
    #[arg(long, value_name = "PATH")]
    pub repo: Vec<PathBuf>,
    /// A repository on GitHub, read through its API; may be given several times, beside --repo as well
    #[arg(long, value_name = "OWNER/NAME")]
    pub github: Vec<String>,
    /// Address of GitHub's API; an Enterprise Server has it at /api/v3 [default: that of github.com]
    #[arg(long, value_name = "URL", requires = "github")]
    pub github_api: Option<String>,
    /// Where to listen [default: 127.0.0.1:3000, or the next free port]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Where the embedded store lives [default: coord/ in the first repository's git folder; without --repo, a folder of the user's]
    #[arg(long, value_name = "PATH")]
    pub data_dir: Option<PathBuf>,
    /// Keep the state in Redis or Valkey instead: redis:// or rediss://
    #[arg(long, value_name = "URL", conflicts_with_all = ["upstash", "data_dir"])]
    pub redis: Option<String>,
    /// Keep the state in Upstash Redis instead: its REST address
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    pub upstash: Option<String>,
    /// Seconds that a lock is held unless it is renewed [default: 300]
    #[arg(long, value_name = "SECONDS")]
    pub lock_ttl: Option<u32>,
    /// Offer the store here by Upstash's REST protocol, for functions and other clients
    #[arg(long, value_name = "ADDR")]
    pub upstash_listen: Option<SocketAddr>,
}
