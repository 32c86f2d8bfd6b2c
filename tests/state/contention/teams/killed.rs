//! The same contest over servers in another process, which is killed by SIGKILL again and again: with the embedded
//! store in it, beside a redis-server, or together with one. That process looks on as [`look_on`] does, and reports its
//! findings. The store is checked after each kill, before there are servers again.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use coord_store::Store;
use coord_store::redis::RedisStore;
use coord_test_support::embedded;
use coord_test_support::real_redis::RealRedis;

use super::super::arena;
use super::person::FOUNDER;
use super::stored::Stored;
use super::{Contest, Tally, assert_eventful, look_on};

/// Names the store for the process that is to be killed: a file, or a URL.
const STORE: &str = "COORD_CONTEST_STORE";
const KILLS: usize = 6;
/// Every write that Redis has acknowledged is on the disk.
const KEPT: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

fn open(store: &str) -> Arc<dyn Store> {
    coord_extensions::register_state();
    match store.starts_with("redis://") {
        true => Arc::new(RedisStore::connect(store).expect("a URL")),
        false => Arc::new(embedded::open(Path::new(store))),
    }
}

/// Not a separate test: the process that [`Killed`] starts and kills.
#[test]
fn the_servers_that_are_killed() {
    let Ok(place) = std::env::var(STORE) else { return };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = open(&place);
        let other = if place.starts_with("redis://") {
            open(&place)
        } else {
            Arc::clone(&store)
        };
        let arena = arena::open(&[(Arc::clone(&store), 1), (other, 1)], &[]).await;
        let addresses: Vec<String> = arena.addresses.iter().map(SocketAddr::to_string).collect();
        println!("listening {}", addresses.join(" "));
        let error = tokio::spawn(look_on(store, u64::from(std::process::id()))).await;
        println!("violated {error:?}");
        std::process::exit(1);
    });
}

struct Servers {
    process: Child,
    lines: std::thread::JoinHandle<Vec<String>>,
}

impl Servers {
    /// Starts them; returns their addresses, too.
    fn start(store: &str) -> (Servers, Vec<SocketAddr>) {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "contention::teams::killed::the_servers_that_are_killed",
                "--exact",
                "--nocapture",
            ])
            .env(STORE, store)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the process starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let addresses = loop {
            let line = lines.next().expect("it listens").expect("a line");
            if let Some((_, addresses)) = line.split_once("listening ") {
                let parse = |text: &str| text.parse().expect("an address");
                break addresses.split(' ').map(parse).collect();
            }
        };
        let lines = std::thread::spawn(move || lines.map_while(Result::ok).collect());
        (Servers { process, lines }, addresses)
    }

    /// By SIGKILL, with the redis-server if there is one, which starts again; they must not have found anything.
    fn kill(mut self, redis: Option<&mut RealRedis>) {
        self.process.kill().expect("the process is killed");
        // At once: it is still at work for them.
        if let Some(redis) = redis {
            redis.kill();
            assert!(redis.run(), "redis-server starts again");
        }
        self.process.wait().expect("the process is gone");
        let lines = self.lines.join().expect("its output was read");
        let found = lines.iter().find(|line| line.contains("violated"));
        assert!(found.is_none(), "{found:?}");
    }
}

/// `killed`: the redis-server that is killed with the servers.
async fn contest(store: &str, mut killed: Option<&mut RealRedis>, seed: u64) -> Tally {
    let (mut servers, addresses) = Servers::start(store);
    let contest = Contest::new(addresses);
    contest.begin().await;
    let clients = tokio::spawn({
        let contest = Arc::clone(&contest);
        async move { contest.run(seed, 110).await }
    });
    // The creation of the team was answered.
    let mut before = Stored {
        leader: FOUNDER.to_owned(),
        ..Stored::default()
    };
    let mut kills = 0;
    while !clients.is_finished() && kills < KILLS {
        // time: a random moment of the load.
        tokio::time::sleep(Duration::from_millis(fastrand::u64(200..700))).await;
        servers.kill(killed.as_deref_mut());
        kills += 1;
        let now = Stored::read(&*open(store)).await;
        if let Err(violation) = now.check().and_then(|()| now.follows(&before)) {
            panic!("seed {seed}, kill {kills}: {violation}");
        }
        before = now;
        let (started, addresses) = Servers::start(store);
        *contest.addresses.lock() = addresses;
        servers = started;
    }
    let inboxes = clients.await.expect("the clients came to their ends");
    servers.kill(killed);
    assert!(kills > 2, "killed {kills} times");
    contest.judge(&inboxes, &*open(store), seed).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_team_is_whole_after_each_kill_of_the_embedded_store_and_its_servers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("store.redb");
    assert_eventful(&[contest(file.to_str().expect("a path"), None, 11).await]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_team_is_whole_after_each_kill_of_the_servers_beside_redis() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    assert_eventful(&[contest(&redis.url(), None, 12).await]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_team_is_whole_after_each_kill_of_redis_and_its_servers() {
    let Some(mut redis) = RealRedis::start(&KEPT) else {
        return;
    };
    assert_eventful(&[contest(&redis.url(), Some(&mut redis), 13).await]);
}
