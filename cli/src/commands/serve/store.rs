//! The store of `coord serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use coord::settings::{env_vars, process_environment, secret};
use coord::store::Store;
use coord::store::redis::RedisStore;
use coord::store::upstash::UpstashStore;
use coord_embedded::{EmbeddedStore, OpenError};
use coord_files::Inside;
use coord_git::Opened;
use secrecy::SecretString;

use super::args::ServeArgs;
use super::banner::Served;
use crate::announcement::{Announced, Announcement, FOLDER, STORE};
use crate::{private_folder, store_place};

/// The store, and the files that announce the address.
///
/// The store opens on another thread, so that signals are heard meanwhile.
pub async fn open_store(
    args: &ServeArgs,
    address: SocketAddr,
    opened: &[Opened],
    served: &[Served],
) -> anyhow::Result<(Arc<dyn Store>, Announcement)> {
    let repositories = opened
        .iter()
        .map(|repository| (own_folder(repository), Some(repository.repo.clone())));
    if let Some(url) = &args.redis {
        let store = RedisStore::connect(url).context("--redis")?;
        note_places(opened, None, &store.describe());
        return Ok((Arc::new(store), Announcement::write(repositories, address)));
    }
    if let Some(url) = &args.upstash {
        let token: SecretString = secret(&process_environment, env_vars::UPSTASH_REDIS_REST_TOKEN)
            .with_context(|| format!("set {} to the token for --upstash", env_vars::UPSTASH_REDIS_REST_TOKEN))?;
        let store = UpstashStore::new(url, token).context("--upstash")?;
        note_places(opened, None, &store.describe());
        return Ok((Arc::new(store), Announcement::write(repositories, address)));
    }
    let (folder, made) = match (&args.data_dir, opened.first()) {
        // Whoever names a folder says whose it is.
        (Some(folder), _) => (Inside::new(folder, ""), private_folder::make_named(folder)),
        (None, Some(repository)) => {
            let folder = own_folder(repository);
            let made = private_folder::make_inside(&folder);
            (folder, made)
        }
        (None, None) => {
            let folder = state_folder(served)?;
            let made = private_folder::make(&folder);
            (Inside::new(folder, ""), made)
        }
    };
    made.with_context(|| format!("cannot make the folder {}", folder.full().display()))?;
    let file = folder.join(STORE);
    if args.data_dir.is_none() {
        private_folder::close(&folder.full());
        // A link or a pipe may have come with an archive.
        file.open().context("cannot open the store")?;
    }
    let path = file.full();
    let opening = {
        let (path, is_checked) = (path.clone(), args.check);
        tokio::task::spawn_blocking(move || match is_checked {
            true => EmbeddedStore::open_checked(&path),
            false => EmbeddedStore::open(&path),
        })
    };
    match opening.await? {
        Ok(store) => {
            note_places(
                opened,
                Some(&folder.full()),
                &format!("embedded store at {}", path.display()),
            );
            let folders = repositories.chain([(folder.clone(), None)]);
            Ok((Arc::new(store), Announcement::write(folders, address)))
        }
        Err(OpenError::InUse(path)) => {
            let path = path.display();
            match Announced::read(&folder) {
                Some(first) => bail!(
                    "another coord serve listens on {first}, and keeps the locks of these repositories in {path}: use that one, or stop it first"
                ),
                None => bail!("another process keeps the locks of these repositories in {path}: stop it first"),
            }
        }
        Err(error) => Err(error).with_context(|| format!("cannot open the store {}", path.display())),
    }
}

/// Notes in each repository whose locks are not kept in its own folder where they are: `place`. `store` is the folder of the embedded
/// store. This comes before the announcement: whoever has found the server knows its store after it has ended.
fn note_places(opened: &[Opened], store: Option<&Path>, place: &str) {
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let store = store.map(real);
    for repository in opened {
        let own = own_folder(repository);
        match store.as_ref() == Some(&real(&own.full())) {
            true => store_place::forget(&own),
            false => store_place::note(&own, place),
        }
    }
}

/// The folder of Coord's files in git's.
fn own_folder(repository: &Opened) -> Inside {
    Inside::new(&repository.git_folder, FOLDER)
}

/// The user's folder for the store of repositories without a folder on this machine. Each first repository has one, because
/// two processes cannot share a store.
fn state_folder(served: &[Served]) -> anyhow::Result<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = set("XDG_STATE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".local").join("state")));
    let (Some(base), Some(first)) = (base, served.first()) else {
        bail!("name a folder for the store with --data-dir");
    };
    Ok(base.join("coord").join(first.repo.as_str()))
}
