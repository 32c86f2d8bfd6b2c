//! Clones of a served repository that use this server because they have no store: it reads their commits, too. Their
//! commands list them before they send a request ([`coord_agent::clone_list`]), so each request checks whether the list
//! has changed.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::middleware::Next;
use axum::response::Response;
use coord_agent::clone_list::{self, CloneList, Version};
use coord_domain::RepoId;
use coord_git::{GitSource, OpenedRepository};
use parking_lot::Mutex;

/// The lists of the served repositories.
pub struct JoinedClones {
    source: Arc<GitSource>,
    lists: Mutex<Vec<List>>,
}

struct List {
    repo: RepoId,
    /// Git's own folder of the served clone.
    clone: PathBuf,
    file: Option<PathBuf>,
    /// The version of the file that was read last.
    version: Option<Version>,
    /// The clones that use this server and can be read. They may be deleted and created again.
    joined: Vec<PathBuf>,
}

impl List {
    fn current_version(&self) -> Option<Version> {
        clone_list::version(self.file.as_deref()?)
    }
}

impl JoinedClones {
    /// The lists of the `opened` repositories; `None` if no repository has a remote, so that there are no other clones.
    pub fn of(source: &Arc<GitSource>, opened: &[OpenedRepository]) -> Option<Arc<JoinedClones>> {
        let lists: Vec<List> = opened
            .iter()
            .filter(|opened| opened.has_remote())
            .map(|opened| List {
                repo: opened.repo.clone(),
                clone: opened.git_folder.clone(),
                file: clone_list::path(&opened.repo),
                version: None,
                joined: Vec::new(),
            })
            .collect();
        (!lists.is_empty()).then(|| {
            Arc::new(JoinedClones {
                source: Arc::clone(source),
                lists: Mutex::new(lists),
            })
        })
    }

    fn has_changed(&self) -> bool {
        let lists = self.lists.lock();
        let is_missing = |clone: &PathBuf| !self.source.has_clone(clone) && clone.is_dir();
        lists
            .iter()
            .any(|list| list.current_version() != list.version || list.joined.iter().any(is_missing))
    }

    fn read(&self) {
        // The lock makes other requests wait until the clones that they need are read.
        for list in self.lists.lock().iter_mut() {
            list.version = list.current_version();
            list.joined.clear();
            for clone in CloneList::read(&list.repo).joined_to(&list.clone) {
                if !self.source.has_clone(clone)
                    && let Err(error) = self.source.add_clone(&list.repo, clone)
                {
                    tracing::warn!(%error, repo = %list.repo, "a clone that uses this server cannot be read");
                    continue;
                }
                list.joined.push(clone.to_owned());
            }
        }
    }
}

/// Reads the clones that were listed since the last request.
pub async fn read_joined(State(joined): State<Arc<JoinedClones>>, request: Request<Body>, next: Next) -> Response {
    if joined.has_changed() {
        // The task cannot be canceled. If it panics, the request continues without these clones.
        let _ = tokio::task::spawn_blocking(move || joined.read()).await;
    }
    next.run(request).await
}
