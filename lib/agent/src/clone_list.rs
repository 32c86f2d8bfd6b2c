//! The clones of each repository on this machine: the clone that has the store and the server, and the clones that use
//! it. The address and the process of a server are in the folder of its clone ([`crate::announcement`]).
//!
//! Each repository has a small file in the user's own folder for state. Readers see either the old or the new content.
//! A damaged file counts as empty. Each change removes clones that no longer exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use coord_domain::RepoId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use serde::{Deserialize, Serialize};

use crate::{private_folder, user_state};

/// The folder of the files.
const FOLDER: &str = "clones";

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Maximum number of listed clones of each role.
const MAX_CLONES: usize = 64;

/// The clones of a repository, each by git's own folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct CloneList {
    /// The repository, because the name of the file is a digest.
    repo: String,
    /// The clone whose folder has the store.
    home: Option<PathBuf>,
    /// Clones without a store, whose commands use the home's server. It reads their commits too.
    joined: BTreeSet<PathBuf>,
    /// Clones whose server has another store.
    apart: BTreeSet<PathBuf>,
}

/// Distinguishes versions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(Option<SystemTime>, u64);

/// The role of a clone that is not the home.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CloneRole {
    Joined,
    Apart,
}

impl CloneList {
    /// Reads the list of `repo`. It is empty if there is none.
    pub fn read(repo: &RepoId) -> CloneList {
        file(repo).and_then(|file| read(&file, repo)).unwrap_or_default()
    }

    /// The clone with the store, if it still exists.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref().filter(|home| home.is_dir())
    }

    /// The clones that use the store of `home`; none if `home` is not the home.
    pub fn joined_to(&self, home: &Path) -> impl Iterator<Item = &Path> {
        let is_home = self.home.as_deref() == Some(home);
        self.joined.iter().map(PathBuf::as_path).filter(move |_| is_home)
    }

    /// Every clone that may have a server.
    pub fn with_servers(&self) -> impl Iterator<Item = &Path> {
        self.home.iter().chain(&self.apart).map(PathBuf::as_path)
    }

    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.with_servers().chain(self.joined.iter().map(PathBuf::as_path))
    }

    fn contains(&self, clone: &Path, role: CloneRole) -> bool {
        let clones = match role {
            CloneRole::Joined => &self.joined,
            CloneRole::Apart => &self.apart,
        };
        self.home() == Some(clone) || (self.home().is_some() && clones.contains(clone))
    }

    fn add(&mut self, clone: &Path, role: CloneRole) {
        let exists = |clone: &PathBuf| clone.is_dir();
        self.home = self.home.take().filter(exists);
        self.joined.retain(exists);
        self.apart.retain(exists);
        self.joined.remove(clone);
        self.apart.remove(clone);
        if self.home.is_none() {
            self.home = Some(clone.to_owned());
        }
        let clones = match role {
            CloneRole::Joined => &mut self.joined,
            CloneRole::Apart => &mut self.apart,
        };
        if self.home.as_deref() != Some(clone) && clones.len() < MAX_CLONES {
            clones.insert(clone.to_owned());
        }
    }
}

/// The path of the list of `repo`, whether or not there is a list. `None` if the user has no folder for state.
pub fn path(repo: &RepoId) -> Option<PathBuf> {
    file(repo).map(|file| file.full())
}

/// The version of the list at `path`, which changes whenever the list changes.
pub fn version(path: &Path) -> Option<Version> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some(Version(metadata.modified().ok(), metadata.len()))
}

/// Lists the clone of `repo` with git's folder `clone`, which has no store. Returns the clone with the store: this
/// clone if there was none.
pub fn join(repo: &RepoId, clone: &Path) -> Option<PathBuf> {
    add(repo, clone, CloneRole::Joined)
}

/// Lists the clone of `repo` with git's folder `clone`, whose server has another store than that of other clones.
pub fn register(repo: &RepoId, clone: &Path) -> Option<PathBuf> {
    add(repo, clone, CloneRole::Apart)
}

/// Removes the clone with git's folder `home` from the list of `repo`, because it is now a clone of another repository.
pub fn forget_home(repo: &RepoId, home: &Path) {
    if let Some(file) = file(repo) {
        let result = change(&file, repo, |list| {
            list.home = list.home.take().filter(|listed| listed != home);
        });
        if let Err(error) = result {
            tracing::debug!(%error, "the clones of the repository cannot be listed");
        }
    }
}

fn add(repo: &RepoId, clone: &Path, role: CloneRole) -> Option<PathBuf> {
    let file = file(repo)?;
    let list = read(&file, repo).unwrap_or_default();
    if list.contains(clone, role) {
        return list.home;
    }
    match change(&file, repo, |list| list.add(clone, role)) {
        Ok(list) => list.home,
        Err(error) => {
            tracing::debug!(%error, "the clones of the repository cannot be listed");
            list.home().map(Path::to_owned)
        }
    }
}

fn change(file: &RootedPath, repo: &RepoId, change: impl FnOnce(&mut CloneList)) -> anyhow::Result<CloneList> {
    file.create_parents(PRIVATE_MODE)?;
    let lock = file.with_extension("lock").append(FILE_MODE)?;
    lock.lock()?;
    let mut list = read(file, repo).unwrap_or_default();
    repo.as_str().clone_into(&mut list.repo);
    change(&mut list);
    file.write(&serde_json::to_vec_pretty(&list)?, FILE_MODE)?;
    Ok(list)
}

fn read(file: &RootedPath, repo: &RepoId) -> Option<CloneList> {
    let list: CloneList = private_folder::read_json(file, MAX_BYTES)?;
    let mut paths = list.home.iter().chain(&list.joined).chain(&list.apart);
    let is_usable = list.repo == repo.as_str() && paths.all(|path| path.is_absolute());
    Some(list).filter(|_| is_usable)
}

fn file(repo: &RepoId) -> Option<RootedPath> {
    let digest = sha1_smol::Sha1::from(repo.as_str()).digest().to_string();
    user_state::inside(&format!("{FOLDER}/{}.json", &digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clone_is_the_home_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let clones = ["one", "two", "three"].map(|name| folder.path().join(name));
        for clone in &clones {
            std::fs::create_dir(clone).unwrap();
        }
        let [one, two, three] = &clones;
        let mut list = CloneList::default();
        list.add(one, CloneRole::Joined);
        list.add(two, CloneRole::Joined);
        list.add(three, CloneRole::Apart);
        assert_eq!(list.home(), Some(one.as_path()));
        assert_eq!(list.joined_to(one).collect::<Vec<_>>(), [two]);
        assert_eq!(list.joined_to(two).count(), 0);
        assert_eq!(list.with_servers().collect::<Vec<_>>(), [one, three]);
        assert!(list.contains(two, CloneRole::Joined) && !list.contains(two, CloneRole::Apart));
        std::fs::remove_dir(one).unwrap();
        assert_eq!(list.home(), None);
        assert!(!list.contains(two, CloneRole::Joined), "a clone has to be the home");
        list.add(two, CloneRole::Joined);
        assert_eq!(list.home(), Some(two.as_path()));
        assert_eq!(list.with_servers().collect::<Vec<_>>(), [two, three]);
    }

    #[test]
    fn a_list_of_another_repository_and_a_damaged_one_count_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = RootedPath::new(folder.path(), "list.json");
        let repo = RepoId::parse("github.com/acme/shop").unwrap();
        for (text, is_read) in [
            (r#"{"repo":"github.com/acme/shop","home":"/w/shop/.git"}"#, true),
            (r#"{"repo":"github.com/acme/other","home":"/w/shop/.git"}"#, false),
            (r#"{"repo":"github.com/acme/shop","home":"../.git"}"#, false),
            (r#"{"repo":"github.com/acme/shop","joined":["x"]}"#, false),
            (r#"{"repo":1}"#, false),
            ("", false),
        ] {
            std::fs::write(folder.path().join("list.json"), text).unwrap();
            assert_eq!(read(&file, &repo).is_some(), is_read, "{text}");
        }
    }
}
