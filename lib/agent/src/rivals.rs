//! Clones of one repository on this machine whose servers have separate stores, so that they do not see each other's
//! locks.

use std::net::SocketAddr;
use std::path::Path;

use coord_domain::RepoId;
use coord_files::RootedPath;
use coord_git::display_path;

use super::local_server;
use crate::announcement::{AnnouncedServer, FOLDER, STORE};
use crate::clone_list::CloneList;
use crate::store_location;

/// Another clone with a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// The consequence for the user.
    pub sentence: String,
    /// The command that fixes it.
    pub fix: String,
}

/// Finds the rivals of the clone of `repo` with git's folder `own`, whose server is at `socket`.
pub fn of(repo: &RepoId, own: &Path, socket: SocketAddr) -> Vec<Rival> {
    let list = CloneList::read(repo);
    let own_store = store_location::elsewhere(&folder(own));
    let other_clones = list.with_servers().filter(|clone| *clone != own);
    let rivals = other_clones.filter_map(|clone| {
        let folder = folder(clone);
        if !local_server::has_server(&folder) {
            return None;
        }
        let other = AnnouncedServer::read(&folder)?;
        let is_apart = other.repo.as_ref() == Some(repo) && other.socket() != socket;
        let is_same_store = own_store.is_some() && store_location::elsewhere(&folder) == own_store;
        if !is_apart || is_same_store || !local_server::runs(&other, &folder) {
            return None;
        }
        let is_home = list.home() == Some(own);
        Some(Rival {
            sentence: format!(
                "another clone of this repository ({}) has its own server at {}: agents in the two clones do not see \
                 each other's locks",
                display_path(clone).display(),
                other.address()
            ),
            fix: fix_command(if is_home { clone } else { own }),
        })
    });
    rivals.collect()
}

/// The command after which `clone` uses the other clone's server. A server ends when its store is moved away.
fn fix_command(clone: &Path) -> String {
    let folder = folder(clone);
    let store = folder.join(STORE);
    match local_server::has_store(&folder) {
        true => format!(
            "mv {} {}",
            quote(&store.full()),
            quote(&folder.join("store-before.redb").full())
        ),
        false => match AnnouncedServer::read(&folder) {
            Some(announced) => format!("kill {}", announced.process),
            None => "stop coord serve in one of the two clones".to_owned(),
        },
    }
}

fn folder(clone: &Path) -> RootedPath {
    RootedPath::new(clone, FOLDER)
}

fn quote(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
