//! Clones of a served repository that use this server because they have no store: it reads their commits too. Their commands list them before
//! they ask ([`coord_agent::clone_list`]), so that each request looks whether the list has changed.

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
    /// Git's own folder of the clone that is served.
    clone: PathBuf,
    /// The file with the list.
    file: Option<PathBuf>,
    seen: Option<Version>,
    /// The clones that use this server and can be read; they may be deleted and made again.
    joined: Vec<PathBuf>,
}

impl List {
    fn version(&self) -> Option<Version> {
        clone_list::version(self.file.as_deref()?)
    }
}

impl JoinedClones {
    /// Those of the repositories that are `opened`; `None` where none has a remote, so that no other clone can be of it.
    pub fn of(source: &Arc<GitSource>, opened: &[OpenedRepository]) -> Option<Arc<JoinedClones>> {
        let lists: Vec<List> = opened
            .iter()
            .filter(|opened| opened.has_remote())
            .map(|opened| List {
                repo: opened.repo.clone(),
                clone: opened.git_folder.clone(),
                file: clone_list::path(&opened.repo),
                seen: None,
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
            .any(|list| list.version() != list.seen || list.joined.iter().any(is_missing))
    }

    fn read(&self) {
        // Held, so that no request goes on before the clones that it needs are read.
        for list in self.lists.lock().iter_mut() {
            list.seen = list.version();
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
        // It cannot be cancelled; where it panics, the request goes on without these clones.
        let _ = tokio::task::spawn_blocking(move || joined.read()).await;
    }
    next.run(request).await
}
