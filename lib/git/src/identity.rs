//! The id of a repository on disk.
//!
//! The id is the one that callers send as `repo_url`: the URL of the remote `origin` in the repository's own
//! configuration. Without `origin`, the only remote counts. `url.*.insteadOf` is not applied: it configures how this
//! machine connects, not the name of the repository. A remote that is a path (`/srv/core.git`, `../core`, `file://`,
//! `C:\core`), or whose URL names no `host/owner/name`, counts as no remote.
//!
//! Without a remote, the id is `localhost/local/NAME`. NAME is at first the folder of the main worktree, or of the bare
//! repository without `.git`, so that all worktrees of a repository agree; [`local_name`] stores it. In a shared store,
//! `-` and eight digits follow, derived from the machine and the first folder. So repositories of the same name on
//! other machines have other ids.

use std::path::Path;

use coord_domain::RepoId;
use gix::config::File;
use gix::config::file::SectionRef;

use super::local_name::{self, LocalName};

/// The sections of remotes in the repository's own configuration. A remote may have several sections. Remotes of the
/// user's or the system's configuration are left out: they would give every repository on the machine the same id.
pub(super) fn remote_sections<'a>(config: &'a File) -> impl Iterator<Item = (String, SectionRef<'a>)> {
    let sections = config.sections_by_name("remote").into_iter().flatten();
    sections.filter_map(|section| {
        let is_own = section.meta().source.kind() == gix::config::source::Kind::Repository;
        let name = section.header().subsection_name().filter(|_| is_own)?;
        Some((name.to_string(), section))
    })
}

/// Names and first URLs of the remotes.
pub(super) fn remotes(config: &File) -> Vec<(String, String)> {
    let mut remotes: Vec<(String, Vec<String>)> = Vec::new();
    for (name, section) in remote_sections(config) {
        let index = match remotes.iter().position(|(remote, _)| *remote == name) {
            Some(index) => index,
            None => {
                remotes.push((name, Vec::new()));
                remotes.len() - 1
            }
        };
        let urls = &mut remotes[index].1;
        for url in section.values("url") {
            // An empty value removes those before it.
            if url.is_empty() {
                urls.clear();
            } else {
                urls.push(url.to_string());
            }
        }
    }
    remotes
        .into_iter()
        .filter_map(|(name, urls)| Some((name, urls.into_iter().next()?)))
        .collect()
}

/// The id of the repository in `common_dir` with these remotes; `machine` names this machine if the store is shared.
pub(super) fn repo_id(remotes: &[(String, String)], common_dir: &Path, machine: Option<&str>) -> Option<RepoId> {
    let ids: Vec<(&str, RepoId)> = remotes
        .iter()
        .filter(|(_, url)| !is_path(url))
        .filter_map(|(name, url)| Some((name.as_str(), RepoId::parse(url).ok()?)))
        .collect();
    let origin = ids.iter().find(|(name, _)| *name == "origin");
    match (origin, ids.as_slice()) {
        (Some((_, id)), _) | (None, [(_, id)]) => Some(id.clone()),
        _ => {
            let LocalName { mut name, made_at } = local_name::of(common_dir);
            if let Some(machine) = machine {
                let digest = sha1_smol::Sha1::from(format!("{machine}\0{made_at}")).digest();
                let digest = digest.to_string();
                name = format!("{name}-{}", &digest[..8]);
            }
            RepoId::parse(&format!("https://localhost/local/{name}")).ok()
        }
    }
}

/// Whether `repo` is the id of a repository without a remote, which no other clone can have.
pub(super) fn is_local(repo: &RepoId) -> bool {
    repo.as_str().starts_with("localhost/local/")
}

/// Whether git would read `url` as a path: no scheme and no colon before the first slash, or a Windows drive.
fn is_path(url: &str) -> bool {
    if url.contains("://") {
        return false;
    }
    match url.split_once(':') {
        None => true,
        Some((before, _)) => before.contains(['/', '\\']) || before.len() <= 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(remotes: &[(&str, &str)], common_dir: &str) -> String {
        let remotes: Vec<_> = remotes
            .iter()
            .map(|&(name, url)| (name.to_owned(), url.to_owned()))
            .collect();
        repo_id(&remotes, Path::new(common_dir), None)
            .unwrap()
            .as_str()
            .to_owned()
    }

    #[test]
    fn in_a_shared_store_a_folder_of_one_machine_is_not_that_of_another() {
        let id = |folder: &str, machine| repo_id(&[], Path::new(folder), Some(machine)).unwrap();
        let one = id("/w/core/.git", "ada");
        assert_eq!(one, id("/w/core/.git", "ada"));
        assert_ne!(one, id("/w/core/.git", "bob"));
        assert_ne!(one, id("/v/core/.git", "ada"));
        let digits = one.as_str().strip_prefix("localhost/local/core-").unwrap();
        assert_eq!(digits.len(), 8);
        let remote = [("origin".to_owned(), "https://github.com/dedalus/core".to_owned())];
        let with_remote = repo_id(&remote, Path::new("/w/core/.git"), Some("ada")).unwrap();
        assert_eq!(with_remote.as_str(), "github.com/dedalus/core");
    }

    #[test]
    fn origin_names_the_repository_and_else_the_only_remote() {
        let origin = ("origin", "git@github.com:Dedalus/core.git");
        let fork = ("fork", "https://github.com/someone/core");
        assert_eq!(id(&[fork, origin], "/w/x/.git"), "github.com/dedalus/core");
        assert_eq!(id(&[fork], "/w/x/.git"), "github.com/someone/core");
        let third = ("third", "https://github.com/third/core");
        assert_eq!(id(&[fork, third], "/w/x/.git"), "localhost/local/x");
    }

    #[test]
    fn a_path_is_no_remote() {
        for url in [
            "/srv/core.git",
            "../core",
            "./a:b/c/d",
            "folder/a:b/c/d",
            "file:///srv/a/core.git",
            "C:/a/b/core",
            "C:\\a\\b",
            "https://host/only-a-name",
        ] {
            assert_eq!(id(&[("origin", url)], "/w/x/.git"), "localhost/local/x", "{url}");
            let upstream = ("upstream", "https://github.com/dedalus/core");
            assert_eq!(
                id(&[("origin", url), upstream], "/w/x/.git"),
                "github.com/dedalus/core",
                "{url}"
            );
        }
    }
}
