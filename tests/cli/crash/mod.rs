//! `coord serve` with its embedded store, killed under load and asked to stop.

mod stopping;
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use coord_test_support::embedded;
use coord_test_support::history::judge::{Rules, judge};
use coord_test_support::history::log::{self, Stored};
use coord_test_support::history::operation::{Act, Mode};
use coord_test_support::history::recorder::{Client, Recorder, Request};
use coord_test_support::process::{REPO, REPO_URL, ServerFolder, TTL};
use coord_test_support::waiting::{block_until, until};

const CLIENTS: usize = 12;
const KILLS: usize = 5;
/// Requests before a kill.
const LOAD: std::ops::Range<usize> = 100..800;

/// Returns the content of the store, read by this process while no server has it.
async fn stored(place: &ServerFolder) -> Stored {
    let store = embedded::open(&place.data().join("store.redb"));
    log::read(&store, REPO).await
}

fn request(random: &mut fastrand::Rng, head: &str) -> Request {
    let mut files = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
        .map(str::to_owned)
        .to_vec();
    random.shuffle(&mut files);
    files.truncate(1 + random.usize(..3));
    let act = match random.u32(..10) {
        0..4 => Act::Claim(Mode::Writing),
        4..6 => Act::Claim(Mode::Reading),
        6..9 => Act::Release,
        _ => Act::Check,
    };
    let head = head.to_owned();
    Request {
        branch: "main".to_owned(),
        files,
        act,
        agent_head: head,
        base_head: None,
        new_head: None,
        abandon: true,
    }
}

/// Asks one thing after the other until the server is gone.
async fn load(client: Client, address: SocketAddr, head: String, seed: u64) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut answers = 0;
    while client.ask(address, &request(&mut random, &head)).await.is_some() {
        answers += 1;
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_was_answered_is_lost_and_nothing_is_half_done_when_the_server_is_killed_under_load() {
    let place = ServerFolder::new(crate::COORD);
    let recorder = Recorder::new(REPO_URL);
    let rules = Rules {
        neighbors: BTreeMap::new(),
        shared: BTreeSet::new(),
        ttls: BTreeSet::from([TTL]),
    };
    let mut random = fastrand::Rng::with_seed(7);
    let mut answers = 0;
    for kill in 0..KILLS {
        let server = place.serve();
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..CLIENTS {
            let client = recorder.client(&format!("user-{}", number / 2), ["", "two"][number % 2]);
            clients.spawn(load(client, server.address, place.head.clone(), random.u64(..)));
        }
        // At any moment of a load that is under way.
        let (before, load) = (recorder.count(), random.usize(LOAD));
        until("there is a load", async || recorder.count() >= before + load).await;
        // time: a random moment of the load.
        tokio::time::sleep(Duration::from_millis(random.u64(..50))).await;
        tokio::task::spawn_blocking(move || server.kill())
            .await
            .expect("killed");
        while let Some(ended) = clients.join_next().await {
            answers += ended.expect("a client came to its end");
        }
        match judge(&recorder.operations(), &stored(&place).await, &rules) {
            Ok(tally) => eprintln!("kill {kill}: {tally:?}"),
            Err(violation) => panic!("kill {kill}: {:?}: {}", violation.rule, violation.text),
        }
    }
    assert!(answers > KILLS * CLIENTS, "there was a load");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_in_flight_is_finished_after_sigterm() {
    let place = ServerFolder::new(crate::COORD);
    let mut server = place.serve();
    let recorder = Recorder::new(REPO_URL);
    let request = Request {
        act: Act::Claim(Mode::Writing),
        ..request(&mut fastrand::Rng::with_seed(1), &place.head)
    };
    let bytes = recorder.client("ann", "").bytes(&request);
    let files: BTreeSet<String> = request.files.iter().cloned().collect();
    let answer = tokio::task::spawn_blocking(move || {
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let mut stream = TcpStream::connect(server.address).expect("connected");
        write!(stream, "{head}\r\nexpect: 100-continue\r\n\r\n").expect("sent");
        // The handler is reading the body: the request is in flight.
        let go_on = b"HTTP/1.1 100 Continue\r\n\r\n";
        let mut read = vec![0; go_on.len()];
        stream.read_exact(&mut read).expect("it goes on");
        assert_eq!(read, go_on);
        server.terminate();
        block_until("it listens no more", || !server.listens());
        stream.write_all(body.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(server.wait().success(), "it ends well");
        answer
    });
    let answer = answer.await.expect("it ran");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let held: BTreeSet<String> = stored(&place).await.locks.into_keys().map(|(_, file)| file).collect();
    assert_eq!(held, files, "what was answered is kept");
}
