//! Intents under contention: many holders and people make, select, use, block, complete and abandon them, let them overlap and
//! take files over, all at once and killed now and then. [`judge`] says whether it can be true.

mod judge;
mod violations;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coord_store::{Request, Store, Value};
use serde_json::{Value as Json, json};

use self::judge::{IntentRequest, Made, Outcome, Stored, judge};
use super::arena::{self, HEAD, REPO, REPO_URL};
use super::harness::{Connections, all_at_once, assert_all_happened, once_quiet, until_killed};

/// Name, pattern, what that is, branch, turns.
type Kind = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    Option<&'static str>,
    u64,
);

/// Each is written anew, with a number, when its last one has ended.
const KINDS: [Kind; 6] = [
    ("pool", &["src/[ab].ts"], &["src/a.ts", "src/b.ts"], Some("main"), 8),
    (
        "query",
        &["src/b.ts", "src/c.*"],
        &["src/b.ts", "src/c.ts"],
        Some("main"),
        40,
    ),
    ("types", &["src/{c,d}.ts"], &["src/c.ts", "src/d.ts"], Some("dev"), 6),
    ("lib", &["lib/**"], &["lib/f.py", "lib/g.py"], None, 30),
    ("glue", &["lib/g.py", "src/a.ts"], &["lib/g.py", "src/a.ts"], None, 10),
    ("docs", &["docs/?.md"], &["docs/x.md"], Some("main"), 5),
];
const FILES: [&str; 8] = [
    "src/a.ts",
    "src/b.ts",
    "src/c.ts",
    "src/d.ts",
    "lib/f.py",
    "lib/g.py",
    "docs/x.md",
    "README.md",
];

const CLIENTS: usize = 16;
const OPERATIONS: usize = 100;

/// State that all clients share.
struct Contest {
    addresses: Vec<SocketAddr>,
    http: reqwest::Client,
    /// The newest intent of each kind.
    newest: [AtomicUsize; KINDS.len()],
    messages: AtomicUsize,
    acts: Mutex<Vec<(IntentRequest, Outcome)>>,
}

/// Lets them loose, and judges what came of it.
pub async fn contest([one, other]: Connections, seed: u64) {
    let arena = arena::open(&[(one, 1), (other, 2)], &[]).await;
    let contest = Arc::new(Contest {
        addresses: arena.addresses.clone(),
        http: reqwest::Client::builder().no_proxy().build().expect("a client"),
        newest: Default::default(),
        messages: AtomicUsize::new(0),
        acts: Mutex::default(),
    });
    for kind in 0..KINDS.len() {
        contest.write(kind, 0).await;
    }
    all_at_once(CLIENTS, seed, |number, random| {
        wander(Arc::clone(&contest), number, random)
    })
    .await;
    let is_same = |one: &Stored, other: &Stored| one.events.len() == other.events.len() && one.turns == other.turns;
    let stored = once_quiet(async || read(&*arena.store).await, is_same).await;
    let made = made(&contest);
    let acts = contest.acts.lock().expect("nobody panicked");
    let tally = judge(&made, &acts, &stored).unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
    let counts = [
        ("intents that began", tally.begun),
        ("intents that ended", tally.ended),
        ("intents that were blocked", tally.blocked),
        ("overlaps that were allowed", tally.allowed),
        ("grants", tally.grants),
        ("refusals", tally.refused),
        ("killed clients", tally.unanswered),
        ("files that were taken over", tally.taken_over),
        ("files that were given up", tally.given_up),
    ];
    assert_all_happened(&tally, &counts);
}

/// All intents that there can be, by their ids.
fn made(contest: &Contest) -> BTreeMap<String, Made> {
    let mut made = BTreeMap::new();
    for (place, (name, _, files, branch, max_turns)) in KINDS.iter().enumerate() {
        for number in 0..=contest.newest[place].load(Ordering::Relaxed) {
            let intent = Made {
                files: files.iter().copied().collect::<BTreeSet<_>>(),
                branch: *branch,
                max_turns: *max_turns,
            };
            made.insert(format!("{name}-{number}"), intent);
        }
    }
    made
}

impl Contest {
    fn id(&self, kind: usize) -> String {
        format!("{}-{}", KINDS[kind].0, self.newest[kind].load(Ordering::Relaxed))
    }

    async fn send(&self, address: SocketAddr, user: &str, path: &str, body: &Json) -> Option<(u16, Json)> {
        let request = self.http.post(format!("http://{address}{path}"));
        let request = request
            .header("x-coord-user", user)
            .header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.ok()?;
        let status = response.status().as_u16();
        let body = serde_json::from_slice(&response.bytes().await.ok()?).expect("an answer is JSON");
        // So many changes at once that the server gave up: nobody knows the outcome, as with a killed client.
        if status == 503 {
            return None;
        }
        assert!(status < 500, "{path}: {status} {body}");
        Some((status, body))
    }

    async fn write(&self, kind: usize, number: usize) {
        let (name, scope, _, branch, max_turns) = KINDS[kind];
        let body = json!({
            "repo_url": REPO_URL, "id": format!("{name}-{number}"), "name": name, "owned_scope": scope, "branch": branch,
            "budget": { "max_turns": max_turns },
        });
        let written = self.send(self.addresses[0], "boss", "/api/intents", &body).await;
        assert_eq!(written.expect("an answer").0, 200);
    }

    fn note(&self, act: IntentRequest, reply: Outcome) {
        self.acts.lock().expect("nobody panicked").push((act, reply));
    }
}

/// One client's life: an agent of a person; now and then it is the person.
async fn wander(contest: Arc<Contest>, number: usize, mut random: fastrand::Rng) {
    let (user, agent) = (format!("user-{}", number / 2), format!("agent-{}", number % 2));
    let mut kind = number % KINDS.len();
    for _ in 0..OPERATIONS {
        let address = contest.addresses[random.usize(..contest.addresses.len())];
        if random.u32(..12) == 0 {
            kind = random.usize(..KINDS.len());
        }
        let id = contest.id(kind);
        let (path, mut body, act) = choose(&contest, &mut random, kind, &id);
        body["repo_url"] = json!(REPO_URL);
        if body.get("person").is_none() {
            body["agent_id"] = json!(agent);
        }
        body.as_object_mut().expect("an object").remove("person");
        let asking = contest.send(address, &user, &path, &body);
        let answer = match random.u32(..10) {
            // Killed while it waits.
            0 => until_killed(&mut random, 6000, asking).await,
            _ => asking.await,
        };
        if let Some(act) = act {
            let reply = match &answer {
                None => Outcome::Unanswered,
                Some((200, _)) => Outcome::Granted,
                Some((409, _)) => Outcome::Refused,
                Some((status, body)) => panic!("{path} {status} {body}"),
            };
            contest.note(act, reply);
        }
        // The client that ends an intent creates the next of its kind.
        let has_ended = path.ends_with("/complete") || path.ends_with("/abandon");
        if has_ended && answer.is_some_and(|(status, _)| status == 200) {
            let next = id
                .rsplit('-')
                .next()
                .and_then(|number| number.parse::<usize>().ok())
                .expect("a number")
                + 1;
            contest.write(kind, next).await;
            contest.newest[kind].store(next, Ordering::Relaxed);
        }
        if random.u32(..3) == 0 {
            // time: an agent pauses.
            tokio::time::sleep(Duration::from_millis(random.u64(..100))).await;
        }
    }
}

/// A path, a body, and what the judge has to know of it.
fn choose(
    contest: &Contest,
    random: &mut fastrand::Rng,
    kind: usize,
    id: &str,
) -> (String, Json, Option<IntentRequest>) {
    let act = |name: &str| format!("/api/intents/{id}/{name}");
    let branch = KINDS[kind].3.unwrap_or(["main", "dev"][random.usize(..2)]);
    let branch = if random.u32(..10) == 0 { "dev" } else { branch };
    let files: Vec<&str> = match random.u32(..8) {
        0 => vec![FILES[random.usize(..FILES.len())]],
        _ => {
            let all = KINDS[kind].2;
            let first = random.usize(..all.len());
            all[first..].to_vec()
        }
    };
    let other = contest.id(random.usize(..KINDS.len()));
    // The fourth identical call in a row trips the breaker.
    let call = json!({ "name": "Edit", "digest": format!("{:064x}", random.u32(..1000)) });
    match random.u32(..65) {
        0..12 => (act("select"), json!({ "branch": branch }), None),
        12..36 => {
            let message = format!("Claim {} of all", contest.messages.fetch_add(1, Ordering::Relaxed));
            let intent = (random.u32(..4) > 0).then(|| id.to_owned());
            let body = json!({
                "branch": branch, "file_paths": files, "agent_head": HEAD, "status": "WRITING", "message": message,
                "intent_id": intent, "tool_call": call,
            });
            (
                "/api/post_status".to_owned(),
                body,
                Some(IntentRequest::Claim { message, intent }),
            )
        }
        36..46 => {
            let body = json!({
                "branch": branch, "file_paths": files, "agent_head": HEAD, "status": "OPEN", "message": "Given up for now",
                "abandon": true,
            });
            ("/api/post_status".to_owned(), body, None)
        }
        46..54 => (
            act("usage"),
            json!({ "tool_call": call }),
            Some(IntentRequest::Call { intent: id.to_owned() }),
        ),
        54..57 => (act("block"), json!({ "reason": "To be looked at" }), None),
        57..61 => (act("unblock"), json!({ "person": true }), None),
        61 => (
            act("abandon"),
            json!({ "reason": "Not needed", "person": random.bool().then_some(true) }),
            None,
        ),
        62 => (act("complete"), json!({}), None),
        63 => (act("allow"), json!({ "person": true, "other": other }), None),
        _ => (act("take_over"), json!({ "person": true, "file_paths": files }), None),
    }
}

async fn read(store: &dyn Store) -> Stored {
    let key = |name: &str| format!("coord:{name}:{{{REPO}}}");
    let replies = store.run(vec![
        Request::command(["XRANGE", &key("status_log"), "-", "+"]),
        Request::command(["HGETALL", &key("intents")]),
        Request::command(["HGETALL", &key("intent_use")]),
        Request::command(["HGETALL", &key("owners")]),
    ]);
    let replies = replies.await.expect("the store answers");
    let items = |value: &Value| value.as_array().expect("a list").to_vec();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let json = |value: &Value| serde_json::from_str::<Json>(value.as_str().expect("text")).expect("JSON");
    let pairs = |value: &Value| {
        let items = items(value);
        let pairs = items.as_chunks::<2>().0.iter();
        pairs
            .map(|[name, value]| (text(name), value.clone()))
            .collect::<Vec<_>>()
    };
    let events = items(&replies[0]);
    Stored {
        events: events.iter().map(|entry| json(&items(&items(entry)[1])[1])).collect(),
        statuses: pairs(&replies[1])
            .into_iter()
            .map(|(id, record)| (id, json(&record)["status"].as_str().expect("a status").to_owned()))
            .collect(),
        turns: pairs(&replies[2])
            .into_iter()
            .map(|(id, used)| {
                // Turns, tokens, turns of logins that it does not belong to where there are any, time.
                let used = text(&used);
                let numbers: Vec<&str> = used.split(' ').collect();
                let turns = |place: usize| numbers[place].parse::<u64>().expect("a number");
                (id, turns(0) + if numbers.len() == 4 { turns(2) } else { 0 })
            })
            .collect(),
        owners: pairs(&replies[3])
            .into_iter()
            .map(|(file, rows)| (file, json(&rows).as_array().expect("a list").clone()))
            .collect(),
    }
}
