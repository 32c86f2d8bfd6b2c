//! A store with nothing in it, and people who ask it things.

mod about_intents;
mod about_policy;
mod agent;
mod outcomes;
pub mod team;
pub mod worker;

pub use about_intents::AboutIntents;
pub use about_policy::AboutPolicy;
pub use agent::{Agent, BLOB, file_paths};
pub use outcomes::{
    answered, denial_of, files_and_users, granted, in_short, lost, not_pushed, question_of, released, stale,
};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use coord_domain::{AgentId, Branch, CommitSha, Holder, LockEntry, NeighborPolicy, RepoId, UserId};
use coord_state as state;
use coord_state::admission::HeadTerms;
use coord_state::heads::FetchedHead;
use coord_store::redis::RedisStore;
use coord_store::{Request, Store, Value};
use coord_test_support::{embedded, redis};
use serde_json::Value as Json;

use crate::watched::{Outcomes, WatchedStore};

/// The head of every branch, unless a test says otherwise.
pub const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A commit that was pushed after it.
pub const NEXT: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// A commit that nobody pushed.
pub const LOCAL: &str = "cccccccccccccccccccccccccccccccccccccccc";

/// No files: a release of these is one of everything that its caller holds.
pub const NO_FILES: [&str; 0] = [];

/// An empty, separate store, and a repository in it that no other test has.
pub struct World {
    pub store: Arc<dyn Store>,
    pub repo: RepoId,
    pub branch: Branch,
    pub claimed: state::locks::ClaimedRepositories,
    pub uses: state::admission::RememberedUses,
    /// The reader of the store's events.
    watched: Option<Arc<WatchedStore>>,
    /// Values that live as long as the store.
    _keep: Option<tempfile::TempDir>,
}

/// The URL of a server that no other test uses; None, loudly, without a redis-server.
pub fn separate_redis() -> Option<String> {
    match redis::start() {
        Some(port) => Some(format!("redis://127.0.0.1:{port}")),
        // Which says that the test is skipped.
        None => redis::empty_database(),
    }
}

impl World {
    /// Over the Redis protocol; None, loudly, without a redis-server.
    pub fn on_redis() -> Option<World> {
        let store = RedisStore::connect(&redis::empty_database()?).unwrap();
        Some(World::watching(Arc::new(store), None))
    }

    /// Over Upstash's REST protocol, before a redis-server that denies functions: so every outcome is that of scripts too.
    pub async fn on_upstash() -> Option<World> {
        let behind = RedisStore::connect(&redis::empty_database_without_functions()?).unwrap();
        let store = coord_test_support::upstash::client(Arc::new(behind)).await;
        Some(World::watching(Arc::new(store), None))
    }

    /// In a file, as `coord serve` keeps its state.
    pub fn on_embedded() -> World {
        let folder = tempfile::tempdir().unwrap();
        let store = embedded::open(&folder.path().join("store.redb"));
        World::watching(Arc::new(store), Some(folder))
    }

    /// On a Redis server that the test may change; None, loudly, without a redis-server.
    pub fn on_separate_redis() -> Option<World> {
        let store = RedisStore::connect(&separate_redis()?).unwrap();
        Some(World::over(Arc::new(store), None))
    }

    /// Notes that the branch is at `commit`, with `recent` behind it.
    pub async fn records_head(&self, commit: &str, recent: &[&str]) {
        let recent: Vec<CommitSha> = recent.iter().map(|commit| sha(commit)).collect();
        let commit = sha(commit);
        let learnt = FetchedHead::of(&commit, &recent);
        state::heads::record_head(&*self.store, &self.repo, &self.branch, &learnt)
            .await
            .unwrap();
    }

    /// A new repository in `store`.
    pub fn over(store: Arc<dyn Store>, keep: Option<tempfile::TempDir>) -> World {
        static NEXT_NAME: AtomicU32 = AtomicU32::new(0);
        let number = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
        coord_extensions::register_state();
        World {
            store,
            repo: RepoId::parse(&format!("https://example.com/tests/r{number}")).unwrap(),
            branch: branch("main"),
            claimed: state::locks::ClaimedRepositories::default(),
            uses: state::admission::RememberedUses::default(),
            watched: None,
            _keep: keep,
        }
    }

    /// Another repository in the same store.
    pub fn beside(&self) -> World {
        World::over(self.store.clone(), None)
    }

    /// The same, where every event that a script publishes is read.
    fn watching(store: Arc<dyn Store>, keep: Option<tempfile::TempDir>) -> World {
        let watched = WatchedStore::over(store);
        World {
            watched: Some(Arc::clone(&watched)),
            ..World::over(watched, keep)
        }
    }

    /// Runs `test` here; each event that was published meanwhile must be as its type has it. Returns what scripts have answered.
    pub async fn run<F: Future<Output = ()>>(mut self, test: impl FnOnce(World) -> F) -> Outcomes {
        // The store answers for as long as its file is there.
        let _keep = self._keep.take();
        let watched = self.watched.clone().expect("the events are read");
        test(self).await;
        watched.finish().await
    }

    /// `ann`, or `ann/agent`: someone whose working copy is at [`HEAD`], on `main`, where a source says that the branch is at
    /// [`HEAD`] too.
    pub fn agent(&self, name: &str) -> Agent<'_> {
        let (user, agent) = match name.split_once('/') {
            Some((user, agent)) => (user, Some(AgentId::parse(agent).unwrap())),
            None => (name, None),
        };
        Agent {
            world: self,
            holder: Holder {
                user_id: UserId::parse(user).unwrap(),
                user_name: format!("{user}'s name"),
                agent_id: agent,
            },
            branch: self.branch.clone(),
            head: sha(HEAD),
            work_branch: None,
            base: None,
            repo_head: Some(sha(HEAD)),
            has_aged_head: false,
            policy: NeighborPolicy::Block,
            message: format!("What {name} does and why"),
            ttl: 300,
            interface: None,
            changes_interface_of: Vec::new(),
            wait: 0,
            about: AboutIntents::default(),
            about_policy: AboutPolicy::default(),
            uses: self.uses.of(&self.repo),
        }
    }

    /// Runs one command.
    pub async fn command<const N: usize>(&self, words: [&str; N]) -> Value {
        let mut replies = self.store.run(vec![Request::command(words)]).await.unwrap();
        replies.remove(0)
    }

    /// Runs the script with the text `source`.
    pub async fn script(&self, source: &str, keys: &[&str], arguments: &[&str]) -> Value {
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        let call = coord_test_support::script::call(source, keys, &arguments);
        self.store.run(vec![call]).await.unwrap().remove(0)
    }

    /// A command whose answer is a number.
    pub async fn number<const N: usize>(&self, words: [&str; N]) -> i64 {
        self.command(words).await.as_int().unwrap()
    }

    /// The key of the head of the branch.
    pub fn head_key(&self) -> String {
        state::heads::keys::head(&self.repo, &self.branch)
    }

    /// The key of the graph of the branch.
    pub fn graph_key(&self) -> String {
        state::builds::keys::graph(&self.repo, &self.branch)
    }

    /// Returns the locks stored under `path`, expired or not.
    pub async fn stored(&self, path: &str) -> Vec<LockEntry> {
        match self
            .command(["HGET", &state::locks::keys::locks(&self.repo), path])
            .await
        {
            Value::Bulk(json) => serde_json::from_slice(&json).unwrap(),
            _ => Vec::new(),
        }
    }

    /// Every stored lock, by its file.
    async fn all_stored(&self) -> BTreeMap<String, Vec<LockEntry>> {
        let locks = self.command(["HGETALL", &state::locks::keys::locks(&self.repo)]).await;
        pairs(&locks)
            .map(|(path, entries)| (path, serde_json::from_str(entries.as_str().unwrap()).unwrap()))
            .collect()
    }

    /// How many files have locks.
    pub async fn locked_file_count(&self) -> i64 {
        self.number(["HLEN", &state::locks::keys::locks(&self.repo)]).await
    }

    /// Every event of the log: its id and what it says.
    pub async fn events(&self) -> Vec<(String, Json)> {
        let log = self
            .command(["XRANGE", &state::events::keys::status_log(&self.repo), "-", "+"])
            .await;
        let read = |entry: &Value| {
            let parts = entry.as_array()?;
            let fields = parts.get(1)?.as_array()?;
            assert!(fields.first()?.as_str()?.starts_with("event"), "{fields:?}");
            let event = serde_json::from_str(fields.get(1)?.as_str()?).ok()?;
            Some((parts.first()?.as_str()?.to_owned(), event))
        };
        log.as_array()
            .unwrap()
            .iter()
            .map(|entry| read(entry).unwrap())
            .collect()
    }

    /// The newest event of the log.
    pub async fn last_event(&self) -> Json {
        self.events().await.pop().unwrap().1
    }

    /// The events since the log had `before` of them, each as `type user files`.
    pub async fn events_since(&self, before: usize) -> Vec<String> {
        self.events()
            .await
            .iter()
            .skip(before)
            .map(|(_, event)| {
                let files: Vec<&str> = event["files"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|file| file.as_str())
                    .collect();
                let text = |name: &str| event[name].as_str().unwrap_or("-").to_owned();
                format!("{} {} {}", text("type"), text("user"), files.join(" "))
            })
            .collect()
    }

    /// Lets every lock on `paths` expire now, as if its time had passed.
    pub async fn expire_locks(&self, paths: &[impl AsRef<str>]) {
        self.expire_locks_where(paths, |_| true).await;
    }

    /// The same for the locks of `user` alone.
    pub async fn expire_locks_of(&self, user: &str, paths: &[impl AsRef<str>]) {
        self.expire_locks_where(paths, |entry| entry.user_id == user).await;
    }

    async fn expire_locks_where(&self, paths: &[impl AsRef<str>], is_over: impl Fn(&LockEntry) -> bool) {
        let command = |words: Vec<&str>| Request::Command(words.iter().map(|word| word.as_bytes().to_vec()).collect());
        let paths: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
        let (locks, expiries) = (
            state::locks::keys::locks(&self.repo),
            state::locks::keys::expiries(&self.repo),
        );
        let read = command([&["HMGET", &locks], &paths[..]].concat());
        let stored = self.store.run(vec![read]).await.unwrap().remove(0);
        let shortened = |(path, json): (&&str, &Value)| {
            let json = json.as_str().unwrap_or_else(|| panic!("{path} is not locked"));
            let mut entries: Vec<LockEntry> = serde_json::from_str(json).unwrap();
            assert!(entries.iter().any(&is_over), "nothing on {path} can expire");
            for entry in entries.iter_mut().filter(|entry| is_over(entry)) {
                entry.expiry = 1_000_000_000;
                entry.expiry_ms = Some(1_000_000_000_000);
            }
            serde_json::to_string(&entries).unwrap()
        };
        let written: Vec<String> = paths.iter().zip(stored.as_array().unwrap()).map(shortened).collect();
        let (mut set, mut index) = (vec!["HSET", &locks], vec!["ZADD", &expiries]);
        for (path, json) in paths.iter().zip(&written) {
            set.extend([path, json.as_str()]);
            index.extend(["1000000000", path]);
        }
        self.store.run(vec![command(set), command(index)]).await.unwrap();
    }

    /// Asserts that the counts of held locks and the index of expiries say exactly what the locks say.
    pub async fn assert_counts_are_exact(&self) {
        self.assert_held_is_exact().await;
        self.assert_index_is_exact().await;
    }

    /// Asserts that what is counted as held, by person and in all, is exactly what the locks say.
    pub async fn assert_held_is_exact(&self) {
        let mut expected = BTreeMap::new();
        for entry in self.all_stored().await.into_values().flatten() {
            let texts = [&entry.key, &entry.file_path, &entry.message, &entry.user_name];
            let bytes: usize = texts.iter().map(|text| text.len()).sum();
            for field in [format!("@{}", entry.user_id), "all".to_owned()] {
                *expected.entry(field).or_insert(0) += (bytes + 256).div_ceil(1024) as i64;
            }
        }
        assert_eq!(self.held().await, expected);
    }

    /// Returns the counts of held locks.
    pub async fn held(&self) -> BTreeMap<String, i64> {
        let held = self.command(["HGETALL", &state::locks::keys::held(&self.repo)]).await;
        pairs(&held)
            .map(|(login, count)| (login, count.as_int().unwrap()))
            .collect()
    }

    /// Asserts that the expiry index says exactly what the locks say.
    pub async fn assert_index_is_exact(&self) {
        let earliest = |entries: Vec<LockEntry>| entries.iter().map(LockEntry::free_from).min();
        let expected: BTreeMap<String, i64> = self
            .all_stored()
            .await
            .into_iter()
            .map(|(path, entries)| (path, earliest(entries).expect("no empty list is stored")))
            .collect();
        let expiries = state::locks::keys::expiries(&self.repo);
        let index = self.command(["ZRANGE", &expiries, "0", "-1", "WITHSCORES"]).await;
        let index: BTreeMap<String, i64> = pairs(&index).map(|(path, at)| (path, at.as_int().unwrap())).collect();
        assert_eq!(index, expected);
    }
}

/// The pairs of a reply: a name and its value each.
pub fn pairs(reply: &Value) -> impl Iterator<Item = (String, &Value)> {
    let pairs = reply.as_array().unwrap().chunks(2);
    pairs.map(|pair| (pair[0].as_str().unwrap().to_owned(), &pair[1]))
}

/// `count` files of a folder: `0.ts` and so on.
pub fn files(folder: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{folder}/{number}.ts")).collect()
}

pub fn sha(text: &str) -> CommitSha {
    CommitSha::parse(text).unwrap()
}

pub fn branch(name: &str) -> Branch {
    Branch::parse(name).unwrap()
}

/// A head from the store, while it is young.
pub fn aged(refresh_after: u32, at_most: Option<u32>) -> HeadTerms<'static> {
    HeadTerms::Aged {
        refresh_after,
        at_most,
        is_asked: false,
    }
}
