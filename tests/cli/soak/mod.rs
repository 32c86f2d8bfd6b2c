//! Faults under load, for two minutes: a disk that is full, a disk that gives errors, a store that is killed, stopped, full, or
//! whose answers are lost, over Redis' protocol and over REST. The same independent judge as elsewhere holds what clients were
//! answered against the log and the locks that are left.
//!
//! Not part of `cargo test`: `cargo test --test cli soak:: -- --ignored --nocapture`.

mod disk_errors;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use coord_store::Store;
use coord_store::redis::RedisStore;
use parking_lot::Mutex;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tokio::task::JoinSet;

use coord_test_support::embedded;
use coord_test_support::history::judge::{Rules, judge};
use coord_test_support::history::log;
use coord_test_support::history::operation::{Act, Answer, Mode};
use coord_test_support::history::recorder::{Client, Recorder, Request};
use coord_test_support::process::{Coord, REPO, REPO_URL, ServerFolder, TTL};
use coord_test_support::proxy::Proxy;
use coord_test_support::real_redis::RealRedis;
use coord_test_support::upstash;
use coord_test_support::waiting::until;

const CLIENTS: usize = 10;
/// For one round; the log keeps what happens in it.
const ROUND: Duration = Duration::from_secs(10);
const ROUNDS: u64 = 5;
/// Every write that Redis has acknowledged is on the disk.
const KEPT: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// Where the server is now, and what its clients have met.
struct Load {
    address: Mutex<SocketAddr>,
    is_over: AtomicBool,
    is_faulty: AtomicBool,
    answered: AtomicUsize,
    unanswered: AtomicUsize,
    seen_in_faults: AtomicUsize,
}

impl Load {
    async fn ask(self: Arc<Self>, client: Client, head: String, mut random: fastrand::Rng) {
        while !self.is_over.load(Ordering::Relaxed) {
            let address = *self.address.lock();
            let was_faulty = self.is_faulty.load(Ordering::Relaxed);
            match client.ask(address, &request(&mut random, &head)).await {
                Some(answer) => {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    let is_check = matches!(answer, Answer::Seen { .. });
                    if is_check && was_faulty && self.is_faulty.load(Ordering::Relaxed) {
                        self.seen_in_faults.fetch_add(1, Ordering::Relaxed);
                    }
                }
                None => {
                    self.unanswered.fetch_add(1, Ordering::Relaxed);
                }
            }
            // time: an agent pauses.
            tokio::time::sleep(Duration::from_millis(random.u64(10..40))).await;
        }
    }
}

/// A load on a server, and the record of what its clients were answered.
struct Round {
    recorder: Arc<Recorder>,
    load: Arc<Load>,
    clients: JoinSet<()>,
    end: Instant,
}

impl Round {
    fn start(place: &ServerFolder, address: SocketAddr, seed: u64) -> Round {
        let load = Arc::new(Load {
            address: Mutex::new(address),
            is_over: AtomicBool::new(false),
            is_faulty: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            unanswered: AtomicUsize::new(0),
            seen_in_faults: AtomicUsize::new(0),
        });
        let recorder = Recorder::new(REPO_URL);
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let client = recorder.client(&format!("user-{}", number / 2), ["", "two"][number % 2]);
            let random = fastrand::Rng::with_seed(seed * 100 + number as u64);
            clients.spawn(Arc::clone(&load).ask(client, place.head.clone(), random));
        }
        Round {
            recorder,
            load,
            clients,
            end: Instant::now() + ROUND,
        }
    }

    fn is_under_way(&self) -> bool {
        Instant::now() < self.end
    }

    /// The clients ask another server from now on.
    fn moves_to(&self, server: &Coord) {
        *self.load.address.lock() = server.address;
    }

    fn becomes_faulty(&self, is_faulty: bool) {
        self.load.is_faulty.store(is_faulty, Ordering::Relaxed);
    }

    /// Waits until the server can write no more, and until some checks are answered nevertheless.
    async fn reads_without_writing(&self, server: &Coord) {
        wait_for_status(server.address, "read_only").await;
        self.becomes_faulty(true);
        let seen = || self.load.seen_in_faults.load(Ordering::Relaxed);
        let before = seen();
        until("checks are answered while nothing can be written", async || {
            seen() >= before + 5
        })
        .await;
    }

    /// Waits until the server is in order again, and until its clients have ended.
    async fn ends(&mut self, server: &Coord) {
        wait_for_status(server.address, "ok").await;
        self.load.is_over.store(true, Ordering::Relaxed);
        while let Some(ended) = self.clients.join_next().await {
            ended.expect("a client came to its end");
        }
    }

    /// Holds what the clients were answered against what is in `store`.
    async fn has_lost_nothing(&self, name: &str, store: &dyn Store) {
        let stored = log::read(store, REPO).await;
        assert!(stored.events.len() < 10_000, "the log has let go of its beginning");
        let rules = Rules {
            neighbors: BTreeMap::new(),
            shared: BTreeSet::new(),
            ttls: BTreeSet::from([TTL]),
        };
        let tally = judge(&self.recorder.operations(), &stored, &rules);
        let tally = tally.unwrap_or_else(|violation| panic!("{name}: {:?}: {}", violation.rule, violation.text));
        let [answered, unanswered] =
            [&self.load.answered, &self.load.unanswered].map(|count| count.load(Ordering::Relaxed));
        println!("{name}: {answered} answered, {unanswered} not; {tally:?}");
        assert!(tally.grants > 0, "something was granted");
    }

    /// The same in front of a Redis that is in order again.
    async fn has_lost_nothing_in_redis(mut self, name: &str, mut server: Coord, redis: &RealRedis) {
        self.ends(&server).await;
        server.terminate();
        assert!(server.wait().success(), "it can be stopped");
        let store = RedisStore::connect(&redis.url()).expect("an address");
        self.has_lost_nothing(name, &store).await;
    }
}

fn request(random: &mut fastrand::Rng, head: &str) -> Request {
    let mut files: Vec<String> = ('a'..='h').map(|name| format!("{name}.txt")).collect();
    random.shuffle(&mut files);
    files.truncate(1 + random.usize(..3));
    let act = match random.u32(..10) {
        0..4 => Act::Claim(Mode::Writing),
        4..6 => Act::Claim(Mode::Reading),
        6..8 => Act::Release,
        _ => Act::Check,
    };
    Request {
        branch: "main".to_owned(),
        files,
        act,
        agent_head: head.to_owned(),
        base_head: None,
        new_head: None,
        abandon: true,
    }
}

async fn health(address: SocketAddr) -> serde_json::Value {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    match client.get(format!("http://{address}/api/health")).send().await {
        Ok(answer) => serde_json::from_slice(&answer.bytes().await.unwrap_or_default()).unwrap_or_default(),
        Err(_) => serde_json::Value::Null,
    }
}

/// Waits until health says that the store is `status`, which it finds out every two seconds.
async fn wait_for_status(address: SocketAddr, status: &str) {
    until(&format!("health says {status}"), async || {
        health(address).await["store"]["status"] == status
    })
    .await;
}

/// Waits for a part of a load or of a fault.
async fn pause(milliseconds: u64) {
    // time: a random moment of the load, or the time that a fault lasts.
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

/// Lets the process write files of so many bytes at most: what is beyond fails, as on a full disk.
fn limit_files(coord: &Coord, bytes: Option<u64>) {
    let pid = i32::try_from(coord.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process");
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(Some(pid), Resource::Fsize, limit).expect("the limit is set");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute: cargo test --test cli soak:: -- --ignored"]
async fn a_disk_that_is_full_again_and_again_and_a_server_that_is_killed_lose_nothing() {
    for number in 0..ROUNDS {
        let mut random = fastrand::Rng::with_seed(number);
        let place = ServerFolder::new(crate::COORD);
        let file = place.data().join("store.redb");
        // By default, the signal of a file limit would end the process.
        let serve = || place.serve_after("trap '' XFSZ");
        let mut server = serve();
        let mut round = Round::start(&place, server.address, number);
        let mut is_first = true;
        while round.is_under_way() {
            pause(random.u64(100..600)).await;
            if random.u8(..8) == 0 {
                // Also while its disk is full.
                limit_files(&server, random.bool().then_some(0));
                tokio::task::spawn_blocking(move || server.kill())
                    .await
                    .expect("killed");
                server = serve();
                round.moves_to(&server);
                continue;
            }
            let length = std::fs::metadata(&file).expect("the store").len();
            let most = random.choice([0, 0, length / 2, length]);
            limit_files(&server, Some(most.expect("one of them")));
            round.becomes_faulty(true);
            if is_first {
                round.reads_without_writing(&server).await;
                is_first = false;
            } else {
                pause(random.u64(50..500)).await;
            }
            round.becomes_faulty(false);
            limit_files(&server, None);
        }
        round.ends(&server).await;
        limit_files(&server, random.bool().then_some(0));
        server.terminate();
        assert!(server.wait().success(), "it can be stopped, whatever its disk does");
        let store = embedded::open(&file);
        let name = format!("full disk, round {number}");
        round.has_lost_nothing(&name, &store).await;
    }
}

/// The memory of Redis is full for a while.
async fn fills_memory(redis: &RealRedis, server: &Coord, milliseconds: u64) {
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]);
    wait_for_status(server.address, "read_only").await;
    pause(milliseconds).await;
    redis.command(&["CONFIG", "SET", "maxmemory", "0"]);
}

/// Answers are lost for a while.
async fn loses_answers(proxy: &Proxy, milliseconds: u64) {
    proxy.loses_answers(true);
    pause(milliseconds).await;
    proxy.loses_answers(false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute: cargo test --test cli soak:: -- --ignored"]
async fn a_redis_that_is_killed_paused_and_full_and_answers_that_are_lost_lose_nothing() {
    for number in 0..ROUNDS {
        let mut random = fastrand::Rng::with_seed(number);
        let place = ServerFolder::new(crate::COORD);
        let mut redis = RealRedis::start(&KEPT).expect("redis-server is installed");
        let proxy = Proxy::start(redis.port()).await;
        let url = format!("redis://127.0.0.1:{}", proxy.port);
        let server = place.serve_on(&["--redis", &url], "");
        let round = Round::start(&place, server.address, number);
        let mut fault = number;
        while round.is_under_way() {
            pause(random.u64(100..500)).await;
            let length = random.u64(50..700);
            match fault % 6 {
                0 => {
                    redis.kill();
                    pause(length).await;
                    assert!(redis.run(), "redis-server starts again");
                }
                1 => fills_memory(&redis, &server, length).await,
                2 => redis.command(&["CLIENT", "PAUSE", &length.to_string(), "WRITE"]),
                3 => {
                    redis.signal("STOP");
                    pause(length).await;
                    redis.signal("CONT");
                }
                4 => loses_answers(&proxy, length).await,
                _ => {
                    redis.command(&["REPLICAOF", "127.0.0.1", "1"]);
                    wait_for_status(server.address, "read_only").await;
                    pause(length).await;
                    redis.command(&["REPLICAOF", "NO", "ONE"]);
                }
            }
            fault += 1;
        }
        let name = format!("redis, round {number}");
        round.has_lost_nothing_in_redis(&name, server, &redis).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute: cargo test --test cli soak:: -- --ignored"]
async fn answers_that_are_lost_over_rest_and_a_full_redis_behind_it_lose_nothing() {
    for number in 0..ROUNDS - 2 {
        let mut random = fastrand::Rng::with_seed(number);
        let place = ServerFolder::new(crate::COORD);
        let redis = RealRedis::start(&KEPT).expect("redis-server is installed");
        let behind = RedisStore::connect(&redis.url()).expect("a URL");
        let url = upstash::serve(Arc::new(behind)).await;
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok());
        let proxy = Proxy::start(port.expect("a port")).await;
        let server = place.serve_on(
            &["--upstash", &format!("http://127.0.0.1:{}", proxy.port)],
            &format!("export UPSTASH_REDIS_REST_TOKEN={}", upstash::TOKEN),
        );
        let round = Round::start(&place, server.address, number);
        let mut fault = number;
        while round.is_under_way() {
            pause(random.u64(100..500)).await;
            let length = random.u64(50..700);
            if fault.is_multiple_of(2) {
                loses_answers(&proxy, length).await;
            } else {
                fills_memory(&redis, &server, length).await;
            }
            fault += 1;
        }
        let name = format!("rest, round {number}");
        round.has_lost_nothing_in_redis(&name, server, &redis).await;
    }
}
