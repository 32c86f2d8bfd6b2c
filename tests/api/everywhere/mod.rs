//! The rules for heads, releases, renewals and spellings, on every store, with a clone as the source and with GitHub.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use coord_sources::github::{ApiBase, Credential, GithubConfig, GithubSource};
use coord_sources::{Source, Sources};
use coord_state as state;
use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_test_support::embedded;
use coord_test_support::git::Repo;
use coord_test_support::github::Fake;
use coord_test_support::redis::empty_database;
use secrecy::SecretString;
use serde_json::json;

use crate::answer::Answer;
use crate::api::{self, Api, listen};

/// Runs each of these tests, functions of a [`World`], on every store with a clone as the source.
macro_rules! with_a_clone {
    ($($test:ident),* $(,)?) => {
        in_a_world!(clone_on_embedded, Embedded, Clone, $($test)*);
        in_a_world!(clone_on_redis, Redis, Clone, $($test)*);
        in_a_world!(clone_over_rest, Rest, Clone, $($test)*);
    };
}

/// The same with GitHub.
macro_rules! with_github {
    ($($test:ident),* $(,)?) => {
        in_a_world!(github_on_embedded, Embedded, Github, $($test)*);
        in_a_world!(github_on_redis, Redis, Github, $($test)*);
        in_a_world!(github_over_rest, Rest, Github, $($test)*);
    };
}

macro_rules! everywhere {
    ($($test:ident),* $(,)?) => {
        with_a_clone!($($test),*);
        with_github!($($test),*);
    };
}

macro_rules! in_a_world {
    ($module:ident, $store:ident, $source:ident, $($test:ident)*) => {
        mod $module {
            use crate::everywhere::{SourceKind, StoreKind, World};

            $(
                #[tokio::test]
                async fn $test() {
                    if let Some(world) = World::start(StoreKind::$store, SourceKind::$source).await {
                        super::$test(world).await;
                    }
                }
            )*
        }
    };
}

mod heads;
mod holders;
mod pushes;
mod releases;
mod renaming;
mod spellings;
mod without_remote;

/// The repository, by the URL of its remote: that of the fake GitHub.
const URL: &str = "https://127.0.0.1/acme/widgets";

#[derive(Clone, Copy)]
pub enum StoreKind {
    Embedded,
    Redis,
    Rest,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    Clone,
    Github,
}

impl StoreKind {
    /// An empty store; None, loudly, without a redis-server.
    async fn open(self) -> Option<Arc<dyn Store>> {
        let redis = || Some(RedisStore::connect(&empty_database()?).unwrap());
        Some(match self {
            StoreKind::Embedded => Arc::new(embedded::in_memory()),
            StoreKind::Redis => Arc::new(redis()?),
            StoreKind::Rest => Arc::new(coord_test_support::upstash::client(Arc::new(redis()?)).await),
        })
    }
}

/// A server over an empty store, and a repository that agents push to. `api.git` is ann's clone of it, which is what is served where
/// the source is a clone.
pub struct World {
    pub api: Api,
    pub origin: Repo,
    github: Option<Fake>,
}

impl World {
    /// Whether the source is a clone.
    pub fn is_clone(&self) -> bool {
        self.github.is_none()
    }

    pub async fn start(store: StoreKind, source: SourceKind) -> Option<World> {
        let store = store.open().await?;
        let folder = tempfile::tempdir().unwrap();
        let (origin, copy, [first, head]) = repositories(folder.path());
        let github = match source {
            SourceKind::Clone => None,
            SourceKind::Github => Some(Fake::serve(origin.path()).await),
        };
        let mut api = Api::serve_on(store, folder, copy, first, head, |app| {
            app.cron_secret = Some(SecretString::from(CRON));
            // Its end is no part of these tests, whatever else the machine does.
            app.locks.comparison_time = Duration::from_secs(60);
            if let Some(fake) = &github {
                app.source = Some(reading(fake));
            }
        })
        .await;
        api.repo_url = URL;
        Some(World { api, origin, github })
    }

    /// GitHub, where that is the source.
    pub fn github(&self) -> Option<&Fake> {
        self.github.as_ref()
    }

    /// Returns the requests to GitHub since the last call.
    pub fn requested_paths(&self) -> Vec<String> {
        self.github.as_ref().map_or_else(Vec::new, Fake::requested_paths)
    }

    /// How many of them compare commits.
    pub fn comparisons(&self) -> usize {
        let requests = self.requested_paths();
        requests.iter().filter(|target| target.starts_with("/compare/")).count()
    }

    /// The reference that heads are read from.
    pub fn head_ref(&self) -> &'static str {
        match self.github {
            None => "refs/remotes/origin/main",
            Some(_) => "refs/heads/main",
        }
    }

    /// Commits what ann has written, and pushes it.
    pub fn push(&self, files: &[(&str, &str)]) -> String {
        let commit = self.api.git.commit(files);
        self.api.git.git(&["push", "--quiet", "origin", "HEAD:main"]);
        commit
    }

    /// A teammate pushes, and the source has the commit from now on.
    pub async fn others_push(&self, files: &[(&str, &str)]) -> String {
        let commit = self.origin.commit(files);
        self.fetch("main").await;
        commit
    }

    /// Lets the source have what was pushed to `branch`: the clone fetches, and the stored head is old.
    pub async fn fetch(&self, branch: &str) {
        if self.github.is_none() {
            self.api.git.git(&["fetch", "--quiet", "--prune"]);
            return;
        }
        let branch = coord_domain::Branch::parse(branch).unwrap();
        let key = state::heads::keys::head(&self.api.repo(), &branch);
        self.api.command(["HSET", &key, "checked_at", "1"]).await;
    }

    /// OPEN of files whose work was pushed as `new_head`, from a working copy that is at it.
    pub async fn open(&self, user: &str, paths: &[&str], new_head: &str) -> Answer {
        let more = json!({ "new_repo_head": new_head, "agent_head": new_head });
        self.api.post_status(user, "OPEN", paths, more).await
    }

    /// Another process over the same store, that has asked its source nothing.
    pub async fn another_process(&self) -> Api {
        let mut app = api::state(Arc::clone(&self.api.store), &[self.api.git.path().to_owned()]);
        if let Some(fake) = &self.github {
            app.source = Some(reading(fake));
        }
        let edge = app.edge.clone();
        let routes = coord_http::routes(app, coord_extensions::endpoints());
        let address = listen(coord_http::wrap_router(edge, coord_extensions::endpoints(), routes)).await;
        self.api.elsewhere(address, Arc::clone(&self.api.store))
    }
}

/// A file of a folder: its path there and its content.
type FileIn = (PathBuf, Vec<u8>);

/// A repository and a clone of it in `folder`, and the commits of its branch `main`. They are made once, and written to each folder
/// without running git.
fn repositories(folder: &Path) -> (Repo, Repo, [String; 2]) {
    static MADE: OnceLock<(Vec<FileIn>, [String; 2])> = OnceLock::new();
    let (files, commits) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let origin = Repo::init(folder.path().join("origin"), &["--template="]);
        origin.git(&["config", "receive.denyCurrentBranch", "updateInstead"]);
        let first = origin.commit(&[
            ("src/auth.ts", "import './db';\n"),
            ("src/db.ts", ""),
            ("src/page.ts", "import './auth';\n"),
        ]);
        let head = origin.commit(&[("README.md", "A shop\n")]);
        Repo::at(folder.path()).git(&["clone", "--quiet", "--template=", "origin", "copy"]);
        let copy = Repo::at(folder.path().join("copy"));
        copy.git(&["config", "remote.origin.url", URL]);
        let mut files = Vec::new();
        read_files(folder.path(), Path::new(""), &mut files);
        (files, [first, head])
    });
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let (origin, copy) = (Repo::at(folder.join("origin")), Repo::at(folder.join("copy")));
    // Named as callers name it, and fetched by path.
    let config = copy.path().join(".git/config");
    let by_path = format!("[url \"{}\"]\n\tinsteadOf = {URL}\n", origin.path().display());
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + &by_path).unwrap();
    (origin, copy, commits.clone())
}

/// All files of `root` below `folder`.
fn read_files(root: &Path, folder: &Path, files: &mut Vec<FileIn>) {
    for entry in std::fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            read_files(root, &name, files);
        } else {
            files.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
}

/// The secret of the sweep.
const CRON: &str = "the secret of the cron";

/// Sweeps, and returns how many locks had expired.
pub async fn sweep(api: &Api) -> u64 {
    let authorization = format!("Bearer {CRON}");
    let swept = api.get("/api/cron_cleanup", &[("authorization", &authorization)]).await;
    swept.json()["expired"].as_u64().unwrap()
}

fn reading(fake: &Fake) -> Arc<Sources> {
    let config = GithubConfig::new(ApiBase::parse(fake.api()).unwrap(), Credential::Anonymous);
    let github: Arc<dyn Source> = Arc::new(GithubSource::new(config).unwrap());
    Arc::new(Sources::of([github]))
}

/// The warnings that begin with `code`, in one text.
pub fn warnings(answer: &Answer, code: &str) -> String {
    answer.warnings(code).join("\n")
}
