//! The store of `coord serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use coord_agent::announcement::{AnnouncedServer, Announcement, FOLDER, STORE};
use coord_agent::clone_list::{self, CloneList};
use coord_agent::{local_server, private_folder, store_location, user_state};
use coord_embedded::{EmbeddedStore, OpenError};
use coord_files::RootedPath;
use coord_git::OpenedRepository;
use coord_settings::{env_vars, process_environment, secret};
use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_store::upstash::UpstashStore;
use secrecy::SecretString;

use super::args::ServeArgs;
use super::banner::ServedRepository;

pub struct OpenStore {
    pub store: Arc<dyn Store>,
    /// The same store, if it is a file on this machine, which may be deleted.
    pub embedded_store: Option<EmbeddedStore>,
    /// The files that announce the address.
    pub announcement: Announcement,
}

/// Opens the store, and writes the files that announce the address.
///
/// An embedded store opens on another thread, so that the process still handles signals.
pub async fn open_store(
    args: &ServeArgs,
    address: SocketAddr,
    opened: &[OpenedRepository],
    served: &[ServedRepository],
) -> anyhow::Result<OpenStore> {
    list_clones(opened);
    let repositories = opened
        .iter()
        .map(|repository| (own_folder(repository), Some(repository.repo.clone())));
    if let Some(store) = open_remote(args)? {
        note_locations(opened, None, &store.describe());
        return Ok(OpenStore {
            store,
            embedded_store: None,
            announcement: Announcement::write(repositories, address),
        });
    }
    let folder = make_folder(args, opened, served)?;
    let path = folder.join(STORE).full();
    let store = open_embedded(args, &folder).await?;
    note_locations(
        opened,
        Some(&folder.full()),
        &format!("embedded store at {}", path.display()),
    );
    let folders = repositories.chain([(folder, None)]);
    Ok(OpenStore {
        embedded_store: Some(store.clone()),
        store: Arc::new(store),
        announcement: Announcement::write(folders, address),
    })
}

/// The store on another machine or in another process, if the command line names one.
fn open_remote(args: &ServeArgs) -> anyhow::Result<Option<Arc<dyn Store>>> {
    Ok(match (&args.redis, &args.upstash) {
        (Some(url), _) => Some(Arc::new(RedisStore::connect(url).context("--redis")?)),
        (None, Some(url)) => {
            let token: SecretString = secret(&process_environment, env_vars::UPSTASH_REDIS_REST_TOKEN)
                .with_context(|| format!("set {} to the token for --upstash", env_vars::UPSTASH_REDIS_REST_TOKEN))?;
            Some(Arc::new(UpstashStore::new(url, token).context("--upstash")?))
        }
        (None, None) => None,
    })
}

/// Makes the folder of the embedded store.
fn make_folder(
    args: &ServeArgs,
    opened: &[OpenedRepository],
    served: &[ServedRepository],
) -> anyhow::Result<RootedPath> {
    let (folder, result) = match (&args.data_dir, opened.first()) {
        // A user who names a folder is responsible for its owner.
        (Some(folder), _) => (RootedPath::new(folder, ""), private_folder::make_named(folder)),
        (None, Some(repository)) => {
            let folder = own_folder(repository);
            let result = private_folder::make_inside(&folder);
            (folder, result)
        }
        (None, None) => {
            let folder = state_folder(served)?;
            let result = private_folder::make(&folder);
            (RootedPath::new(folder, ""), result)
        }
    };
    result.with_context(|| format!("cannot make the folder {}", folder.full().display()))?;
    Ok(folder)
}

async fn open_embedded(args: &ServeArgs, folder: &RootedPath) -> anyhow::Result<EmbeddedStore> {
    let file = folder.join(STORE);
    if args.data_dir.is_none() {
        private_folder::close(&folder.full());
        // A link or a pipe may have come with an archive.
        file.open().context("cannot open the store")?;
    }
    let path = file.full();
    let result = {
        let (path, is_checked) = (path.clone(), args.check);
        tokio::task::spawn_blocking(move || match is_checked {
            true => EmbeddedStore::open_checked(&path),
            false => EmbeddedStore::open(&path),
        })
    };
    match result.await? {
        Err(OpenError::InUse(path)) => {
            let path = path.display();
            match AnnouncedServer::read(folder) {
                Some(first) => bail!(
                    "another coord serve listens on {first}, and keeps the locks of these repositories in {path}: use that one, or stop it first"
                ),
                None => bail!("another process keeps the locks of these repositories in {path}: stop it first"),
            }
        }
        result => result.with_context(|| format!("cannot open the store {}", path.display())),
    }
}

/// Lists the served clones, so that other clones of their repositories find this server. Of several served clones of a
/// repository, those after the first use its store.
fn list_clones(opened: &[OpenedRepository]) {
    for (index, repository) in opened.iter().enumerate().filter(|(_, opened)| opened.has_remote()) {
        let is_later = opened[..index].iter().any(|first| first.repo == repository.repo);
        match is_later && !local_server::has_store(&own_folder(repository)) {
            true => clone_list::join(&repository.repo, &repository.git_folder),
            false => clone_list::register(&repository.repo, &repository.git_folder),
        };
    }
}

/// Whether the commands of a clone find the store in the folder `store` by the list of clones.
fn is_listed(repository: &OpenedRepository, store: &Path) -> bool {
    let list = CloneList::read(&repository.repo);
    let home = list.home().map(|home| home.join(FOLDER));
    repository.has_remote()
        && home.is_some_and(|home| home.canonicalize().is_ok_and(|home| home == store))
        && !local_server::has_store(&own_folder(repository))
}

/// Notes the `location` of the locks in each repository that keeps them outside of its own folder. `store` is the
/// folder of the embedded store. This comes before the announcement: a command that has found the server must find its
/// store, too, after the server has ended.
fn note_locations(opened: &[OpenedRepository], store: Option<&Path>, location: &str) {
    let canonical = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let store = store.map(canonical);
    for repository in opened {
        let own = own_folder(repository);
        let is_found = |store: &PathBuf| *store == canonical(&own.full()) || is_listed(repository, store);
        match store.as_ref().is_some_and(is_found) {
            true => store_location::forget(&own),
            false => store_location::note(&own, location),
        }
    }
}

/// The folder of Coord's files in git's.
fn own_folder(repository: &OpenedRepository) -> RootedPath {
    RootedPath::new(&repository.git_folder, FOLDER)
}

/// The user's folder for the store of repositories without a folder on this machine. Each first repository has one,
/// because two processes cannot share a store.
fn state_folder(served: &[ServedRepository]) -> anyhow::Result<PathBuf> {
    let (Some(folder), Some(first)) = (user_state::folder(), served.first()) else {
        bail!("name a folder for the store with --data-dir");
    };
    Ok(folder.join(first.repo.as_str()))
}
