//! A team under contention: many agents add, change, claim, complete, release and delete tasks, send and read messages,
//! ask each other to stop, leave, lead and continue as others, all at once. Clients are killed, claims expire, and in
//! [`killed`] the server dies. [`Stored::check`] checks every instant, and [`judge`] all of them together.

mod acts;
mod files;
mod instant;
mod judge;
mod killed;
mod members;
mod model;
mod person;
mod stored;
mod violations;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coord_domain::{Branch, CommitSha, RepoId};
use coord_state::heads::{FetchedHead, record_head};
use coord_store::Store;
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value as Json, json};

use self::acts::{Ask, Inboxes, Reply};
pub use self::judge::Tally;
use self::judge::judge;
use self::person::Person;
use self::stored::{Stored, expire_some};
use super::arena::{self, HEAD, OLD, REPO_URL};
use super::harness::{Connections, all_at_once, assert_all_happened};

const TEAM: &str = "alpha";
const CLIENTS: usize = 12;
/// Commits of the branch that the store knows.
const MAX_COMMITS: usize = 50;
/// Longest time without a server.
const PATIENCE: Duration = Duration::from_secs(30);

/// State that all clients share.
struct Contest {
    /// Of the servers, which may be others after a while.
    addresses: Mutex<Vec<std::net::SocketAddr>>,
    http: reqwest::Client,
    /// Ids and first titles of the tasks that a client knows.
    tasks: Mutex<Vec<(String, String)>>,
    marks: AtomicUsize,
    asks: Mutex<Vec<Ask>>,
}

/// Lets the clients loose, and looks on.
pub async fn contest([one, other]: Connections, seed: u64) -> Tally {
    let arena = arena::open(&[(Arc::clone(&one), 1), (other, 1)], &[]).await;
    let contest = Contest::new(arena.addresses.clone());
    contest.begin().await;
    let looking = tokio::spawn(look_on(one, seed));
    let inboxes = contest.run(seed, 130).await;
    assert!(!looking.is_finished(), "{:?}", looking.await);
    looking.abort();
    contest.judge(&inboxes, &*arena.store, seed).await
}

/// Looks at the store again and again, expires claims, and moves the branch. Panics at an impossible state.
async fn look_on(store: Arc<dyn Store>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (repo, branch) = (RepoId::parse(REPO_URL).unwrap(), Branch::parse("main").unwrap());
    let mut commits = [HEAD, OLD].map(|commit| CommitSha::parse(commit).unwrap()).to_vec();
    let mut before = Stored::read(&*store).await;
    loop {
        let now = Stored::read(&*store).await;
        let verdict = now.check().and_then(|()| now.follows(&before));
        if let Err(violation) = verdict {
            panic!("seed {seed}: {violation}");
        }
        before = now;
        if random.u32(..3) == 0 {
            expire_some(&*store, &mut random).await;
        }
        if random.u32(..4) == 0 {
            let commit = CommitSha::parse(&format!("{:040x}", random.u128(..))).unwrap();
            commits.insert(0, commit);
            commits.truncate(MAX_COMMITS);
            let head = FetchedHead::of(&commits[0], &commits);
            record_head(&*store, &repo, &branch, &head).await.expect("recorded");
        }
        // time: between two looks at the store.
        tokio::time::sleep(Duration::from_millis(random.u64(1..40))).await;
    }
}

impl Contest {
    fn new(addresses: Vec<std::net::SocketAddr>) -> Arc<Contest> {
        Arc::new(Contest {
            addresses: Mutex::new(addresses),
            // A server that is killed may leave a request without an end.
            http: reqwest::Client::builder()
                .no_proxy()
                .timeout(PATIENCE)
                .build()
                .expect("a client"),
            tasks: Mutex::default(),
            marks: AtomicUsize::new(1),
            asks: Mutex::default(),
        })
    }

    /// Makes the team, of which all clients are members.
    async fn begin(self: &Arc<Self>) {
        for number in 0..CLIENTS {
            let mut person = Person::new(Arc::clone(self), number, fastrand::Rng::with_seed(number as u64));
            match number {
                0 => {
                    person
                        .must("/api/teams", json!({ "name": TEAM, "handle": person.handle }))
                        .await;
                }
                _ => person.joins().await,
            }
        }
    }

    /// Runs all clients to their ends; then each reads what is left for it.
    async fn run(self: &Arc<Self>, seed: u64, operations: usize) -> Inboxes {
        let people = all_at_once(CLIENTS, seed, |number, random| {
            let mut person = Person::new(Arc::clone(self), number, random);
            async move {
                for _ in 0..operations {
                    person.acts().await;
                }
                person
            }
        });
        let people = people.await;
        // A request whose client was killed may still be on its way through the server.
        // time: requests of killed clients end.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut inboxes = Inboxes::new();
        for mut person in people {
            person.reads_the_rest().await;
            inboxes.insert(person.handle.clone(), person.got);
        }
        inboxes
    }

    async fn judge(&self, inboxes: &Inboxes, store: &dyn Store, seed: u64) -> Tally {
        let stored = Stored::read_with_events(store).await;
        match judge(&self.asks.lock(), inboxes, &stored) {
            Ok(tally) => tally,
            Err(violation) => panic!("seed {seed}: {violation}"),
        }
    }

    fn mark(&self) -> usize {
        self.marks.fetch_add(1, Ordering::Relaxed)
    }

    /// Status and body. None if the connection broke; without a server it waits for one.
    async fn send(&self, server: usize, user: &str, method: &Method, path: &str, body: &Json) -> Option<(u16, Json)> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let address = {
                let addresses = self.addresses.lock();
                addresses[server % addresses.len()]
            };
            let request = self.http.request(method.clone(), format!("http://{address}{path}"));
            let request = request.header("x-coord-user", user);
            let request = match *method {
                Method::GET | Method::DELETE => request,
                _ => request
                    .header("content-type", "application/json")
                    .body(body.to_string()),
            };
            match request.send().await {
                Err(error) if error.is_connect() => {
                    assert!(tokio::time::Instant::now() < deadline, "no server: {error}");
                    // time: between two attempts to reach a server.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                response => {
                    let response = response.ok()?;
                    let status = response.status().as_u16();
                    let body = serde_json::from_slice(&response.bytes().await.ok()?).expect("an answer is JSON");
                    assert!(
                        [200, 403, 404, 409].contains(&status),
                        "{method} {path}: {status} {body}"
                    );
                    return Some((status, body));
                }
            }
        }
    }

    fn note(&self, ask: Ask) {
        self.asks.lock().push(ask);
    }

    fn learn(&self, id: &str, title: &str) {
        let title = title.split(' ').next().unwrap_or_default();
        let mut tasks = self.tasks.lock();
        if !tasks.iter().any(|(known, _)| known == id) {
            tasks.push((id.to_owned(), title.to_owned()));
        }
    }
}

fn reply_of(answer: Option<&(u16, Json)>) -> Reply {
    match answer {
        None => Reply::Unanswered,
        Some((200, body)) => Reply::Done(body.clone()),
        Some((_, body)) => Reply::Refused(body["error"].as_str().unwrap_or_default().to_owned()),
    }
}

/// Asserts that the contests were eventful. Rare events, such as a stop of one member alone, and events that depend on
/// moments, such as a completion of a claim that has just expired, are only counted.
pub fn assert_eventful(tallies: &[Tally]) {
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    let counts = [
        ("tasks", sum(|tally| tally.created)),
        ("changes", sum(|tally| tally.updated)),
        ("claims", sum(|tally| tally.claimed)),
        ("claims that lapsed", sum(|tally| tally.lapsed)),
        ("claims that were released", sum(|tally| tally.released)),
        ("completions", sum(|tally| tally.completed)),
        ("tasks that became ready", sum(|tally| tally.unblocked)),
        ("deleted tasks", sum(|tally| tally.deleted)),
        ("messages", sum(|tally| tally.messages)),
        ("messages that were received", sum(|tally| tally.received)),
        ("idle messages", sum(|tally| tally.idle)),
        ("tasks that their answers name", sum(|tally| tally.named_ready)),
        ("rings that were refused", sum(|tally| tally.rings_refused)),
        ("claims that were answered", sum(|tally| tally.taken)),
        ("claims with files", sum(|tally| tally.taken_with_files)),
        ("members that left", sum(|tally| tally.left)),
        ("messages that these had not read", sum(|tally| tally.lost)),
        ("handles that were taken over", sum(|tally| tally.handles_taken_over)),
        ("killed requests", sum(|tally| tally.unanswered)),
        // In one run alone there may be none.
        (
            "members that stopped, alone or with all, or by force",
            sum(|tally| tally.stopped + tally.stopped_all + tally.forced),
        ),
        ("claims that files did not let be", sum(|tally| tally.files_in_the_way)),
        ("other leaders", sum(|tally| tally.handed_over)),
    ];
    let rare = if tallies.len() == 1 { 3 } else { 0 };
    assert_all_happened(&tallies, &counts[..counts.len() - rare]);
}
