//! A store, and a server over it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::client::Subject;
use crate::process::{self, Process};

/// The stores under measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    Redis,
    Embedded,
    /// A double of Upstash in the driver, over an embedded store.
    Upstash,
}

impl StoreKind {
    pub fn name(self) -> &'static str {
        match self {
            StoreKind::Redis => "redis-server",
            StoreKind::Embedded => "embedded",
            StoreKind::Upstash => "Upstash REST",
        }
    }
}

/// A store in a separate folder, and a server over it.
pub struct Servers {
    pub coord: Process,
    pub redis: Option<Process>,
    repository: PathBuf,
    /// The options of `coord serve` that name the store.
    store: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Servers {
    /// Returns as soon as the graph of `repository` is built.
    pub async fn start(repository: &Path, subject: &Subject, scratch: &Path, kind: StoreKind) -> Result<Servers> {
        let folder = tempfile::tempdir_in(scratch)?;
        let mut redis = None;
        let store = match kind {
            StoreKind::Redis => {
                let server = process::redis(folder.path()).await?.context("redis-server has gone")?;
                let url = format!("redis://{}", server.address);
                redis = Some(server);
                ["--redis".to_owned(), url]
            }
            StoreKind::Embedded => ["--data-dir".to_owned(), folder.path().display().to_string()],
            StoreKind::Upstash => [
                "--upstash".to_owned(),
                process::upstash(&folder.path().join("store.redb")).await?,
            ],
        };
        let coord = process::coord(process::free_address()?, repository, &store).await?;
        process::graph_is_ready(&coord, &subject.repo_url).await?;
        Ok(Servers {
            coord,
            redis,
            repository: repository.to_owned(),
            store: store.into(),
            _folder: folder,
        })
    }

    /// Starts the server again at its address, after a kill.
    pub async fn restart(&mut self) -> Result<()> {
        self.coord = process::coord(self.coord.address, &self.repository, &self.store).await?;
        Ok(())
    }
}
