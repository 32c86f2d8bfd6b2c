//! `coord store`: exports and wipes the state that a server keeps, for its operator.

mod contents;
mod export;
mod wipe;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use coord_agent::announcement::STORE;
use coord_agent::local_server;
use coord_embedded::{EmbeddedStore, OpenError};
use coord_git::WorkingCopy;
use coord_settings::process_environment;
use coord_store::{Store, connect};

const AFTER_HELP: &str = "\
The store is that of --data-dir. Without it, it is the one that UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN,
KV_REST_API_URL and KV_REST_API_TOKEN, or REDIS_URL name; without these, the file of this repository. Stop the server
of a file first.

Exit status: 0 done; 1 error, or nothing was wiped; 2 wrong usage.";

/// Options of `coord store`.
#[derive(Debug, Args)]
pub struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Write the content as lines of JSON, without credentials
    #[command(after_help = AFTER_HELP)]
    Export {
        /// A new file, which only you can read [default: standard output]
        file: Option<PathBuf>,
        #[command(flatten)]
        location: LocationArgs,
    },
    /// Delete the content, after asking; in Redis only keys that begin with coord:
    #[command(after_help = AFTER_HELP)]
    Wipe {
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        location: LocationArgs,
    },
}

/// The location of the store.
#[derive(Debug, Args)]
struct LocationArgs {
    /// The folder of an embedded store
    #[arg(long, value_name = "PATH")]
    data_dir: Option<PathBuf>,
}

impl StoreArgs {
    /// # Errors
    /// When the store cannot be opened, read or written, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        coord_serve::register_state();
        match self.command {
            StoreCommand::Export { file, location } => export::run(&*location.open().await?, file).await?,
            StoreCommand::Wipe { yes, location } => wipe::run(&*location.open().await?, yes).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl LocationArgs {
    async fn open(self) -> anyhow::Result<Arc<dyn Store>> {
        if let Some(folder) = self.data_dir {
            return open_file(folder.join(STORE)).await;
        }
        // Half a pair is an error: only the intended store may be wiped.
        match connect::is_configured(process_environment) {
            true => Ok(connect::from_env(process_environment)?),
            false => open_file(repository_store()?).await,
        }
    }
}

/// The file that a server of this repository uses.
fn repository_store() -> anyhow::Result<PathBuf> {
    let Some(working_copy) = WorkingCopy::find(".".as_ref())? else {
        bail!("this is not a repository: name the folder of a store with --data-dir, or set REDIS_URL");
    };
    if let Some(store) = local_server::other_store(&working_copy) {
        bail!("the state of this repository is elsewhere ({store}): name its folder with --data-dir, or set REDIS_URL");
    }
    Ok(local_server::store_file(&working_copy))
}

async fn open_file(path: PathBuf) -> anyhow::Result<Arc<dyn Store>> {
    // Opening would create the file.
    if !path.is_file() {
        bail!("there is no store at {}", path.display());
    }
    match tokio::task::spawn_blocking(move || EmbeddedStore::open(&path)).await? {
        Ok(store) => Ok(Arc::new(store)),
        Err(OpenError::InUse(path)) => bail!("a server uses {}: stop it first", path.display()),
        Err(error) => Err(error).context("cannot open the store"),
    }
}
