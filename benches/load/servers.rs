//! A store, and a server over it.

use std::path::Path;

use anyhow::Result;

use crate::client::Subject;
use crate::process::{self, Process, State};

/// A store in a separate folder, and a server over it.
pub struct Servers {
    pub coord: Process,
    _redis: Option<Process>,
    _folder: tempfile::TempDir,
}

impl Servers {
    pub async fn start(repository: &Path, subject: &Subject, scratch: &Path, is_redis: bool) -> Result<Servers> {
        let folder = tempfile::tempdir_in(scratch)?;
        let redis = if is_redis {
            process::redis(folder.path()).await?
        } else {
            None
        };
        let state = match &redis {
            Some(redis) => State::Redis(redis.address),
            None => State::Embedded(folder.path()),
        };
        let coord = process::coord(repository, state).await?;
        process::graph_is_ready(&coord, &subject.repo_url).await?;
        Ok(Servers {
            coord,
            _redis: redis,
            _folder: folder,
        })
    }
}
