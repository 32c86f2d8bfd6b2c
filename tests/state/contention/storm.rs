//! Many clients that do anything at any time, on two servers over one store, while locks expire and sweeps run.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coord_domain::{Branch, CommitSha, RepoId};
use coord_state::heads::{FetchedHead, record_head};
use coord_store::Store;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::contention::arena::{self, Arena, BRANCHES, CRON_SECRET, HEAD, OLD, REPO, REPO_URL};
use crate::contention::harness::{Connections, all_at_once, assert_all_happened, once_quiet, until_killed};
use coord_test_support::history::judge::{Rules, Tally, judge};
use coord_test_support::history::log;
use coord_test_support::history::operation::{Act, Mode};
use coord_test_support::history::recorder::{Client, Recorder, Request};

/// A file that several may write at once.
const SHARED: &str = "lib/go.sum";

const FILES: [&str; 9] = [
    SHARED,
    "src/a.ts",
    "src/b.ts",
    "src/c.ts",
    "src/d.ts",
    "src/e.ts",
    "lib/f.py",
    "lib/g.py",
    "docs/an odd 'name' [1].md",
];

/// Each importer and the file that it imports.
const EDGES: [(&str, &str); 3] = [
    ("src/a.ts", "src/b.ts"),
    ("src/c.ts", "src/b.ts"),
    ("lib/f.py", "lib/g.py"),
];

const CLIENTS: usize = 24;
const OPERATIONS: usize = 90;

/// Lets the storm loose, and judges what came of it.
pub async fn storm([one, other]: Connections, seed: u64) {
    let arena = arena::open(&[(one, 1), (other, 2)], &EDGES).await;
    let recorder = Recorder::new(REPO_URL);
    let pushes = Arc::default();
    let pusher = tokio::spawn(push_for_ever(Arc::clone(&arena.store), Arc::clone(&pushes)));
    let sweeps = arena
        .addresses
        .iter()
        .map(|address| tokio::spawn(sweep_for_ever(*address)))
        .collect::<Vec<_>>();
    let clients = all_at_once(CLIENTS, seed, |number, random| {
        // Three agents of each person, one of them without a name.
        let agent = ["", "one", "two"][number % 3];
        let client = recorder.client(&format!("user-{}", number / 3), agent);
        wander(client, arena.addresses.clone(), Arc::clone(&pushes), random)
    });
    clients.await;
    for sweep in sweeps {
        sweep.abort();
    }
    pusher.abort();
    let tally = verdict(&arena, &recorder, BTreeSet::from([1, 2])).await;
    let counts = [
        ("grants", tally.grants),
        ("renewals", tally.renewals),
        ("releases", tally.releases),
        ("expiries", tally.expiries),
        ("conflicts", tally.conflicts),
        ("locks that were lost", tally.lost),
        ("releases without a push", tally.not_pushed),
        ("checks", tally.checks),
        ("killed clients", tally.unanswered),
        (
            "killed clients whose request was carried out",
            tally.unanswered_but_done,
        ),
    ];
    assert_all_happened(&tally, &counts);
}

/// Judges what `recorder` has seen.
pub async fn verdict(arena: &Arena, recorder: &Recorder, ttls: BTreeSet<i64>) -> Tally {
    let is_same = |one: &log::Stored, other: &log::Stored| one.events.len() == other.events.len();
    let stored = once_quiet(async || log::read(&*arena.store, REPO).await, is_same).await;
    let rules = Rules {
        neighbors: arena.neighbors.clone(),
        shared: BTreeSet::from([SHARED.to_owned()]),
        ttls,
    };
    match judge(&recorder.operations(), &stored, &rules) {
        Ok(tally) => tally,
        Err(violation) => panic!("{:?}: {}", violation.rule, violation.text),
    }
}

/// One client's life.
async fn wander(client: Client, addresses: Vec<SocketAddr>, pushes: Arc<AtomicUsize>, mut random: fastrand::Rng) {
    let mut last: Option<Request> = None;
    for _ in 0..OPERATIONS {
        let address = addresses[random.usize(..addresses.len())];
        let request = choose(&mut random, last.take(), &pushes);
        match random.u32(..20) {
            // Killed while it waits.
            0 => {
                until_killed(&mut random, 4000, client.ask(address, &request)).await;
            }
            // Killed while it speaks.
            1 => {
                let bytes = client.bytes(&request);
                let sent = random.usize(..bytes.len());
                let mut stream = TcpStream::connect(address).await.expect("connected");
                stream.write_all(&bytes[..sent]).await.expect("sent");
            }
            // Killed when it has spoken.
            2 => {
                let bytes = client.bytes(&request);
                let mut stream = TcpStream::connect(address).await.expect("connected");
                stream.write_all(&bytes).await.expect("sent");
            }
            _ => {
                client.ask(address, &request).await;
            }
        }
        last = Some(request);
        if random.u32(..3) == 0 {
            // time: an agent pauses.
            tokio::time::sleep(Duration::from_millis(random.u64(..150))).await;
        }
    }
}

fn choose(random: &mut fastrand::Rng, last: Option<Request>, pushes: &AtomicUsize) -> Request {
    // Half the time, the client uses its previous files again: renewals, upgrades and releases of held files. If it
    // chooses other files, it mostly releases its claims first, and its place in the queue.
    let (branch, files, next) = match last {
        Some(last) if random.bool() => (last.branch, last.files, random.bool().then_some(last.act)),
        Some(last) if matches!(last.act, Act::Claim(_)) && random.u32(..4) > 0 => {
            (last.branch, last.files, Some(Act::Release))
        }
        _ => {
            let branch = BRANCHES[usize::from(random.u32(..4) == 0)].to_owned();
            let mut files: Vec<String> = FILES.iter().map(|file| (*file).to_owned()).collect();
            random.shuffle(&mut files);
            files.truncate(1 + random.usize(..3));
            (branch, files, None)
        }
    };
    let act = next.unwrap_or_else(|| match random.u32(..10) {
        0..3 => Act::Claim(Mode::Writing),
        3..5 => Act::Claim(Mode::Reading),
        5..8 => Act::Release,
        _ => Act::Check,
    });
    // An agent that has pulled just now; now and then one that is behind. The commit that it reports as pushed is
    // mostly the head, which comes after the claim if the branch has moved since.
    let newest = commit(pushes.load(Ordering::Relaxed));
    let agent_head = if random.u32(..12) > 0 {
        newest.clone()
    } else {
        HEAD.to_owned()
    };
    let new_head = match random.u32(..6) {
        0 => None,
        1 => Some(OLD.to_owned()),
        2 => Some("d333333333333333333333333333333333333333".to_owned()),
        _ => Some(newest),
    };
    Request {
        branch,
        files,
        act,
        agent_head,
        base_head: None,
        new_head,
        abandon: random.u32(..4) == 0,
    }
}

/// The commit of the push of that number; the one before the first is the head of the beginning.
fn commit(push: usize) -> String {
    match push {
        0 => HEAD.to_owned(),
        _ => format!("e{push:039x}"),
    }
}

/// Moves the branches on, both to the same commits.
async fn push_for_ever(store: Arc<dyn Store>, pushes: Arc<AtomicUsize>) {
    let repo = RepoId::parse(REPO_URL).expect("a repository");
    let sha = |text: &str| CommitSha::parse(text).expect("a commit");
    let mut recent = vec![sha(HEAD), sha(OLD)];
    for push in 1.. {
        // time: between two pushes.
        tokio::time::sleep(Duration::from_millis(120)).await;
        let head = sha(&commit(push));
        recent.insert(0, head.clone());
        for name in BRANCHES {
            let branch = Branch::parse(name).expect("a branch");
            record_head(&*store, &repo, &branch, &FetchedHead::of(&head, &recent))
                .await
                .expect("recorded");
        }
        pushes.store(push, Ordering::Relaxed);
    }
}

async fn sweep_for_ever(address: SocketAddr) {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    loop {
        let sweep = http
            .get(format!("http://{address}/api/cron_cleanup"))
            .bearer_auth(CRON_SECRET)
            .send()
            .await;
        assert_eq!(sweep.expect("an answer").status(), 200, "the sweep runs");
        // time: between two sweeps.
        tokio::time::sleep(Duration::from_millis(170)).await;
    }
}
