//! Answers that are lost: each script that is declared repeatable is run twice at each step of what calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use coord_domain::LockMode;
use coord_domain::work::Verdict;
use coord_settings::Rates;
use coord_state as state;
use coord_state::admission::{Admitted, Lookup, count_lookups, recall};
use coord_state::builds::{BuildLease, PublishOutcome, discard_graph, return_lease, touch_graph};
use coord_state::heads::{PushedHead, push_head, record_head_failure};
use coord_state::locks::{PendingAct, settle_pending};
use coord_store::{Request, Store, StoreError, Value};
use coord_teams_state::messages::MessageFilter;
use coord_teams_state::tasks::TaskFilter;
use coord_teams_state::teams::memberships;
use futures::stream::BoxStream;
use parking_lot::Mutex;

use super::builds::{fields_after, text_at};
use crate::stores::admission::entry_of;
use crate::stores::due::{mark, unmark};
use crate::world::team::titled;
use crate::world::{HEAD, NEXT, World, sha};

/// Loses each first answer that may be asked for again, and asks again. Fails when the second time has changed anything.
struct Forgetful {
    store: Arc<dyn Store>,
    /// Each script that was run twice, with what it answered, first and second.
    outcomes: Mutex<BTreeMap<&'static str, BTreeSet<(String, String)>>>,
}

impl Forgetful {
    async fn ask(&self, words: &[&str]) -> Value {
        let words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let replies = self.store.run(vec![Request::Command(words)]).await;
        replies.unwrap().remove(0)
    }

    /// All that is stored, with instants left out.
    async fn state(&self) -> BTreeMap<String, String> {
        let names = self.ask(&["KEYS", "*"]).await;
        let mut state = BTreeMap::new();
        for name in names.as_array().unwrap().iter().filter_map(Value::as_str) {
            let kind = self.ask(&["TYPE", name]).await;
            let content = match kind.as_str().unwrap() {
                "string" => self.ask(&["GET", name]).await,
                "hash" => self.ask(&["HGETALL", name]).await,
                "zset" => self.ask(&["ZRANGE", name, "0", "-1", "WITHSCORES"]).await,
                "stream" => self.ask(&["XRANGE", name, "-", "+"]).await,
                other => panic!("{name} is a {other}"),
            };
            let mut texts = Vec::new();
            collect_texts(&content, &mut texts);
            if kind.as_str() == Some("hash") {
                texts = texts.chunks(2).map(|pair| pair.join("=")).collect();
                texts.sort();
            }
            state.insert(name.to_owned(), without_instants(&texts.join(" ")));
        }
        state
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Bulk(bytes) => texts.push(String::from_utf8_lossy(bytes).into_owned()),
        other => texts.push(format!("{other:?}")),
    }
}

/// `text` with each number of ten digits and more, which is an instant, replaced. Those of limits differ by more than the time
/// that has passed: a request whose answer is lost counts twice there, which costs its caller less than an error would.
fn without_instants(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        kept.push_str(&rest[..at]);
        kept.push_str(if digits >= 10 {
            "INSTANT"
        } else {
            &rest[at..at + digits]
        });
        rest = &rest[at + digits..];
    }
    kept + rest
}

fn outcome(value: &Value) -> String {
    let first = value.as_array().and_then(|values| values.first()?.as_str());
    first.unwrap_or_else(|| panic!("no outcome: {value:?}")).to_owned()
}

#[async_trait]
impl Store for Forgetful {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        let name = |request: &Request| match request {
            Request::Script { script, .. } => Some(script.name),
            Request::Command(_) => None,
        };
        let names: Vec<&'static str> = batch.iter().filter_map(name).collect();
        let first = self.store.run(batch.clone()).await?;
        if names.is_empty() || !batch.iter().all(Request::is_repeatable) {
            return Ok(first);
        }
        let once = self.state().await;
        let second = self.store.run(batch).await?;
        assert_eq!(once, self.state().await, "{names:?} twice is not {names:?} once");
        for (name, (first, second)) in names.into_iter().zip(first.iter().zip(&second)) {
            let pair = (outcome(first), outcome(second));
            self.outcomes.lock().entry(name).or_default().insert(pair);
        }
        Ok(second)
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        self.store.subscribe(channel).await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

async fn every_repeatable_script_twice_leaves_what_it_leaves_once(mut world: World) {
    let store = Arc::new(Forgetful {
        store: Arc::clone(&world.store),
        outcomes: Mutex::default(),
    });
    world.store = Arc::clone(&store) as Arc<dyn Store>;
    state::health::probe(&*world.store).await.unwrap();
    locks(&world).await;
    heads(&world).await;
    graphs(&world).await;
    ledger(&world).await;
    teams(&world).await;

    let declared: BTreeSet<&str> = state::scripts()
        .filter(|script| script.is_repeatable)
        .map(|script| script.name)
        .collect();
    let outcomes = store.outcomes.lock();
    assert_eq!(outcomes.keys().copied().collect::<BTreeSet<_>>(), declared);
    // The caller continues with the second answer.
    let differing: Vec<String> = outcomes
        .iter()
        .flat_map(|(name, pairs)| pairs.iter().map(move |(first, second)| (name, first, second)))
        .filter(|(_, first, second)| first != second)
        .map(|(name, first, second)| format!("{name}: {first}, {second}"))
        .collect();
    let expected = [
        "admit: REFRESH_HEAD, AWAIT_HEAD",
        "discard_graph: DISCARDED, OTHER",
        "fail_build: FAILED, LOST",
        "push_head: MOVED, UNCHANGED",
        "record_head: MOVED, UNCHANGED",
        "return_lease: RETURNED, LOST",
        // After this answer, the caller reads the seal again, and finds it where it was to be.
        "seal_ledger: SEALED, MOVED",
    ];
    assert_eq!(differing, expected);
}

async fn locks(world: &World) {
    world.records_head(HEAD, &[HEAD]).await;
    let repo = world.repo.as_str();
    for due in [mark(repo, 300, "a claim"), unmark(repo, "a claim")] {
        world.store.run(vec![due]).await.unwrap();
    }
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    let terms = entry_of(world, &ann.holder, Rates::default());
    let counted = count_lookups(&*world.store, &terms, Lookup::Commits, (1, 0))
        .await
        .unwrap();
    assert_eq!(counted, Admitted::Outcome(()));
    let credentials = [(world.repo.clone(), "made-up".to_owned())];
    let day = std::time::Duration::from_secs(86_400);
    let verdicts = recall(&*world.store, &credentials, day).await.unwrap();
    assert_eq!(verdicts, [None]);
    ann.writes(&["a.ts", "b.ts"]).await;
    bob.checks(LockMode::Writing, &["a.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    // The first call that meets expired locks drops and announces them, and no other call does.
    bob.checks(LockMode::Writing, &["a.ts", "b.ts"]).await;
    assert_eq!(world.events_of_type("lock_expired").await.len(), 1);
    let eve = world.agent("eve").working_on("pool");
    eve.writes(&["p.ts", "q.ts"]).await;
    eve.try_release(Some(NEXT), Some(Verdict::Waiting), false, &["p.ts", "q.ts"])
        .await;
    let paths = ["p.ts".to_owned()];
    for act in [
        PendingAct::PullRequest(12),
        PendingAct::End {
            commit: NEXT,
            paths: &paths,
        },
        PendingAct::EndAll { at: i64::MAX },
        PendingAct::Forget,
    ] {
        settle_pending(&*world.store, &world.repo, Some(&world.branch), "pool", act)
            .await
            .unwrap();
    }
}

async fn heads(world: &World) {
    let (store, repo, branch) = (&*world.store, &world.repo, &world.branch);
    let push = PushedHead {
        before: Some(&sha(HEAD)),
        after: Some(&sha(NEXT)),
        commits: &[sha(NEXT)],
        is_reset: false,
        pushed_at: world.now().await + 1,
    };
    push_head(store, repo, branch, &push).await.unwrap();
    record_head_failure(store, repo, branch, 30).await.unwrap();
    world.records_head(HEAD, &[]).await;
    // A caller whose turn it is to ask for a head, and who lost that answer, waits for it as everybody else does.
    world.command(["DEL", &world.head_key()]).await;
    assert!(!world.head_is_due().await);
}

async fn graphs(world: &World) {
    let (store, repo, branch) = (&*world.store, &world.repo, &world.branch);
    world.lease("cut off", HEAD).await;
    return_lease(store, repo, branch, "cut off").await.unwrap();
    assert_eq!(world.lease("one", HEAD).await, BuildLease::Granted);
    world.report("one", 0).await;
    world.fail("one", HEAD, "a blob is missing").await;
    world.lease("one", NEXT).await;
    let texts = [
        text_at(0, "the first part, "),
        text_at(16, "the second, "),
        text_at(28, "the end"),
    ];
    world.stages("one", &world.json_key(), texts).await;
    let fields = [fields_after(0, ["a.ts", "0\n"]), fields_after(1, ["b.ts", "0\n"])];
    world.stages("one", &world.adjacency_key(), fields).await;
    assert_eq!(world.publish("one", NEXT, 2, 35).await, PublishOutcome::Done);
    assert_eq!(
        world.command(["GET", &world.json_key()]).await,
        Value::bulk("the first part, the second, the end")
    );
    touch_graph(store, repo, branch).await.unwrap();
    discard_graph(store, repo, branch, NEXT).await.unwrap();
    let lease = world.lease("one", NEXT).await;
    assert_eq!(lease, BuildLease::Granted, "a graph that cannot be read is built again");
}

async fn ledger(world: &World) {
    world.appends(1, 300).await;
    assert_eq!(world.seals(256).await.sealed.point.seq, 300);
    world.appends(301, 600).await;
    let seal = world.seals(256).await;
    assert_eq!((seal.base.point.seq, seal.sealed.point.seq), (768, 900));
}

async fn teams(world: &World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("a task")]).await.unwrap();
    assert_eq!(lead.shows("t1").await.unwrap().task.record.title, "a task");
    assert_eq!(lead.lists(0, 10, &TaskFilter::default()).await.unwrap().tasks.len(), 1);
    lead.sends_text(&[], "a message").await.unwrap();
    let team = lead.shows_team().await.unwrap();
    let own = memberships(&world.repo, &lead.holder).run(&*world.store).await.unwrap();
    assert_eq!(own.len(), 1);
    assert_eq!((team.open_tasks, team.members.len()), (1, 1));
    let page = lead.history(10, &MessageFilter::default()).await.unwrap();
    assert_eq!((page.messages.len(), page.earlier), (1, None));
}

on_every_store!(every_repeatable_script_twice_leaves_what_it_leaves_once);
