//! Lists of a full repository: the store time of reads without a script.

use std::time::Instant;

use coord_domain::{Holder, RepoId, UserId};
use coord_state::{intents, locks};
use coord_store::{Request, Store};

use crate::run::{Measurement, processor_time};

/// The list that is read.
#[derive(Clone, Copy, Debug)]
pub enum Case {
    /// 10,000 locks, as `GET /api/locks` has them.
    Locks,
    /// The registry of 1,000 intents, with the texts of those that a response has room for.
    Intents,
    /// The owners of 20,000 files, each with two intents and 16 earlier contents.
    Owners,
}

impl Case {
    pub const ALL: [Case; 3] = [Case::Locks, Case::Intents, Case::Owners];

    pub fn name(self) -> &'static str {
        match self {
            Case::Locks => "lists: 10,000 locks",
            Case::Intents => "lists: 1,000 intents, with 64 texts of 64 KiB",
            Case::Owners => "lists: the owners of 20,000 files with 16 earlier contents each",
        }
    }
}

struct Lists<'a> {
    store: &'a dyn Store,
    repo: RepoId,
    holder: Holder,
}

impl Lists<'_> {
    async fn fill(&self, key: &str, fields: impl Iterator<Item = (String, String)>) {
        let words: Vec<String> = fields.flat_map(|(field, value)| [field, value]).collect();
        for some in words.chunks(1000) {
            let words = ["HSET", key].into_iter().chain(some.iter().map(String::as_str));
            let set = Request::Command(words.map(|word| word.as_bytes().to_vec()).collect());
            self.store.run(vec![set]).await.expect("an answer");
        }
    }

    async fn prepare(&self, case: Case) {
        let path = |number: usize| format!("src/package/module/listed/component{number}.ts");
        match case {
            Case::Locks => {
                let lock = |number: usize| {
                    let lock = serde_json::json!([{
                        "key": format!("{}:main:{}", self.repo, path(number)), "file_path": path(number), "branch": "main",
                        "user_id": format!("person{}", number % 10), "user_name": "Mona Lisa", "status": "WRITING",
                        "agent_head": "a".repeat(40), "message": "Rework the session handling so that it uses tokens",
                        "timestamp": 3_999_999_700_i64, "expiry": 4_000_000_000_i64, "token": number,
                    }]);
                    (path(number), lock.to_string())
                };
                self.fill(&locks::keys::locks(&self.repo), (0..10_000).map(lock)).await;
            }
            Case::Intents => {
                let record = |number: usize| {
                    let record = serde_json::json!({
                        "status": "PENDING", "version": 1, "order": number, "created_ms": 1, "updated_ms": 1, "bytes": 65_000,
                        "digest": "d".repeat(40),
                    });
                    (format!("INT-{number}"), record.to_string())
                };
                let text = |number: usize| {
                    let mut text = serde_json::to_value(intents::StoredIntent::default()).expect("JSON");
                    text["description"] = "d".repeat(64_000).into();
                    (format!("INT-{number}"), text.to_string())
                };
                self.fill(&intents::keys::intents(&self.repo), (0..1000).map(record))
                    .await;
                self.fill(&intents::keys::intent_texts(&self.repo), (0..64).map(text))
                    .await;
            }
            Case::Owners => {
                let row = |number: usize| {
                    let owner = |name: &str| {
                        let hash = |place: usize| format!("sha256:{place:064}");
                        serde_json::json!({
                            "intent": name, "branch": name, "hash": hash(number), "earlier": (0..16).map(hash).collect::<Vec<_>>(),
                        })
                    };
                    let row = serde_json::json!([owner("INT-1"), owner("INT-2")]);
                    (path(number), row.to_string())
                };
                self.fill(&intents::keys::owners(&self.repo), (0..20_000).map(row))
                    .await;
            }
        }
    }

    async fn read(&self, case: Case) -> String {
        match case {
            Case::Locks => {
                let live = locks::live_locks(&self.repo).run(self.store).await.expect("locks");
                format!("{} locks", live.entries.len())
            }
            Case::Intents => {
                let registry = intents::registry(&self.repo, &self.holder).run(self.store).await;
                let registry = registry.expect("a registry");
                let ids = registry.ids();
                let texts = intents::intent_texts(self.store, &self.repo, &ids[..64]).await;
                format!("{} intents, {} texts", ids.len(), texts.expect("texts").len())
            }
            Case::Owners => {
                let owned = intents::owned_paths(&self.repo).run(self.store).await.expect("paths");
                let owners = owned.owners(self.store, &self.repo).await.expect("owners");
                format!("{} files", owners.len())
            }
        }
    }
}

pub async fn measure(store: &dyn Store, process: u32, case: Case, rounds: usize) -> Measurement {
    let lists = Lists {
        store,
        repo: RepoId::parse(&format!("https://github.com/acme/{case:?}")).expect("a repository"),
        holder: Holder {
            user_id: UserId::parse("ann").expect("a login"),
            user_name: "Ann".to_owned(),
            agent_id: None,
        },
    };
    lists.prepare(case).await;
    let (mut times, mut processor, mut said) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..rounds {
        let (begin, before) = (Instant::now(), processor_time(process));
        said = lists.read(case).await;
        times.push(begin.elapsed());
        processor.extend(before.and_then(|before| processor_time(process)?.checked_sub(before)));
    }
    for key in [
        locks::keys::locks(&lists.repo),
        intents::keys::intents(&lists.repo),
        intents::keys::intent_texts(&lists.repo),
        intents::keys::owners(&lists.repo),
    ] {
        store
            .run(vec![Request::command(["DEL", &key])])
            .await
            .expect("an answer");
    }
    Measurement::of(times, processor, said)
}
