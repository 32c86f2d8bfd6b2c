//! The folder that the agent works in: that of the process, or else the one that the agent's environment or the client
//! names. Editors start their servers in the home folder or in `/`. A folder that was removed does not count.

use std::path::{Path, PathBuf};

use coord_git::WorkingCopy;
use parking_lot::RwLock;
use url::Url;

/// Variables in which agents name one or several folders of the project.
const VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"];

/// The folder. It changes when the client names another one.
#[derive(Debug)]
pub struct AgentFolder(RwLock<PathBuf>);

impl AgentFolder {
    /// The agent's folder when the process starts. The process then changes to `/`, because git finds nothing from a
    /// current folder that has been removed.
    pub fn of_process() -> AgentFolder {
        let current = std::env::current_dir();
        let _ = std::env::set_current_dir("/");
        let current = current.unwrap_or_else(|_| PathBuf::from("/"));
        let named = VARIABLES
            .iter()
            .filter_map(std::env::var_os)
            .flat_map(|value| paths_in(&value.to_string_lossy()));
        let folder = std::iter::once(current.clone())
            .chain(named)
            .find(|folder| is_in_repository(folder));
        AgentFolder(RwLock::new(folder.unwrap_or(current)))
    }

    pub fn get(&self) -> PathBuf {
        self.0.read().clone()
    }

    pub fn is_in_repository(&self) -> bool {
        is_in_repository(&self.get())
    }

    /// Changes to the first of the folders at `uris` that is in a repository, unless the current one is.
    pub fn note_roots(&self, uris: &[String]) {
        if self.is_in_repository() {
            return;
        }
        let mut roots = uris.iter().filter_map(|uri| path_of(uri));
        if let Some(root) = roots.find(|root| is_in_repository(root)) {
            *self.0.write() = root;
        }
    }
}

fn is_in_repository(folder: &Path) -> bool {
    folder.is_dir() && WorkingCopy::root_containing(folder).is_some()
}

/// The absolute paths in a variable: one, or several that are separated by commas or by the system's separator.
fn paths_in(value: &str) -> Vec<PathBuf> {
    let whole = std::iter::once(PathBuf::from(value));
    let parts = value.split(',').map(|part| PathBuf::from(part.trim()));
    let candidates = whole.chain(parts).chain(std::env::split_paths(value));
    candidates.filter(|path| path.is_absolute()).collect()
}

/// The path of a `file:` URI on this machine.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_uri_of_a_file_is_a_path_and_nothing_else_is() {
        for (uri, path) in [
            ("file:///w/shop/src/a.ts", Some("/w/shop/src/a.ts")),
            ("file:///w/My%20Shop/%E6%97%A5", Some("/w/My Shop/日")),
            ("file://localhost/w/shop", Some("/w/shop")),
            ("file://elsewhere/w/shop", None),
            ("https://example.com/w", None),
            ("/w/shop", None),
            ("", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path.map(Path::new), "{uri}");
        }
    }

    #[test]
    fn a_variable_has_one_folder_or_several() {
        let paths = |value| {
            let paths = paths_in(value).into_iter();
            paths.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert!(paths("/w/a").contains(&"/w/a".to_owned()));
        for several in ["/w/a,/w/b", "/w/a:/w/b", "/w/a, /w/b"] {
            let found = paths(several);
            assert!(
                found.contains(&"/w/a".to_owned()) && found.contains(&"/w/b".to_owned()),
                "{found:?}"
            );
        }
        assert!(paths("src").is_empty());
    }
}
