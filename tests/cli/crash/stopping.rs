//! How `coord serve` is stopped, and what it survives.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use coord_test_support::git::Repo;
use coord_test_support::process::{Coord, REPO, ServerFolder};
use coord_test_support::real_redis::RealRedis;
use coord_test_support::skipping::skip;
use coord_test_support::waiting::block_until;

/// Returns the answer to a health request; nothing if the connection breaks.
fn health(coord: &Coord) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(coord.address) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
        let _ = stream.write_all(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let _ = stream.read_to_string(&mut answer);
    }
    answer
}

/// Waits until it is ready: it listens before that, and what comes waits.
fn ready(coord: Coord) -> Coord {
    assert!(health(&coord).starts_with("HTTP/1.1 200 "));
    coord
}

/// A request whose body does not come: it is in flight.
fn in_flight(coord: &Coord) -> TcpStream {
    let mut stream = TcpStream::connect(coord.address).expect("connected");
    let head = "POST /api/check_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\
                expect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("sent");
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).expect("it goes on");
    stream
}

#[test]
fn a_terminal_that_is_closed_stops_it_as_sigterm_does() {
    let place = ServerFolder::new(crate::COORD);
    for signal in ["HUP", "INT", "TERM"] {
        let mut coord = ready(place.serve());
        coord.signal(signal);
        assert!(coord.wait().success(), "{signal}");
    }
    // Unless whoever started it wants it to outlive the terminal.
    let mut coord = ready(place.serve_after("trap '' HUP"));
    coord.signal("HUP");
    assert!(health(&coord).starts_with("HTTP/1.1 200 "));
    coord.signal("TERM");
    assert!(coord.wait().success());
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let place = ServerFolder::new(crate::COORD);
    let mut coord = ready(place.serve());
    let _waits = in_flight(&coord);
    coord.signal("INT");
    block_until("it listens no more", || !coord.listens());
    coord.signal("INT");
    assert_eq!(coord.wait().code(), Some(130), "what is in flight was not waited for");
}

#[test]
fn a_signal_ends_it_while_its_store_opens() {
    if Command::new("strace").arg("-V").output().is_err() {
        return skip("there is no strace");
    }
    let place = ServerFolder::new(crate::COORD);
    let coord = ready(place.serve());
    coord.kill();
    let trace = place.folder.path().join("trace");
    for signal in ["INT", "TERM", "HUP"] {
        // Each read of the store takes two seconds.
        let mut coord = place.serve_after(&format!(
            "exec strace -D -f -qq --seccomp-bpf -o '{}' -P '{}' -e trace=pread64 \
             -e inject=pread64:delay_enter=2000000 \"$0\" \"$@\"",
            trace.display(),
            place.data().join("store.redb").display(),
        ));
        block_until("the store is read", || {
            trace.metadata().is_ok_and(|trace| trace.len() > 0)
        });
        coord.signal(signal);
        let sent = Instant::now();
        assert!(coord.wait().success(), "{signal}");
        assert!(
            sent.elapsed() < Duration::from_secs(4),
            "{signal}: {:?}",
            sent.elapsed()
        );
        std::fs::remove_file(&trace).expect("the next one has its own");
    }
}

#[test]
fn a_signal_ends_it_while_a_file_of_the_repository_cannot_be_read() {
    if Command::new("strace").arg("-V").output().is_err() {
        return skip("there is no strace");
    }
    let place = ServerFolder::new(crate::COORD);
    let repository = place.folder.path().join("repository");
    Repo::at(repository.clone()).commit(&[("a.ts", "import './b'")]);
    let trace = place.folder.path().join("trace");
    // As on a file system behind a network that is gone.
    let coord = place.serve_after(&format!(
        "exec strace -D -f -qq --seccomp-bpf -o '{}' -P '{}' -e trace=openat,read \
         -e inject=openat,read:delay_enter=15000000 \"$0\" \"$@\"",
        trace.display(),
        repository.join("a.ts").display(),
    ));
    block_until("the file is read", || {
        trace.metadata().is_ok_and(|trace| trace.len() > 0)
    });
    coord.signal("TERM");
    let sent = Instant::now();
    // strace holds the thread that reads, and so its process, as a zombie.
    let status = format!("/proc/{}/status", coord.id());
    block_until("the server ends", || {
        std::fs::read_to_string(&status).is_ok_and(|status| status.contains("State:\tZ"))
    });
    assert!(sent.elapsed() < Duration::from_secs(10), "{:?}", sent.elapsed());
}

#[test]
fn a_build_that_sigterm_interrupts_releases_its_lease() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let place = ServerFolder::new(crate::COORD);
    let repo = Repo::at(place.folder.path().join("repository"));
    let files: Vec<(String, String)> = (0..20_000)
        .map(|number| {
            (
                format!("src/{}/{number}.ts", number % 100),
                format!("import './{}'", number + 100),
            )
        })
        .collect();
    let named: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    repo.commit(&named);
    let mut coord = place.serve_on(&["--redis", &redis.url()], "");
    let graph = format!("coord:graph:{{{REPO}}}:main");
    let has = |field| redis.answer(&["HEXISTS", &graph, field]).starts_with(":1");
    block_until("a build is under way", || has("builder"));
    coord.terminate();
    assert!(coord.wait().success());
    assert!(!has("version"), "it was cut off");
    assert!(!has("builder"), "the next one need not wait");
}

#[test]
fn broken_promises_of_redis_are_reported_at_the_start() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let place = ServerFolder::new(crate::COORD);
    let stderr = place.folder.path().join("stderr");
    let mut coord = place.serve_on(&["--redis", &redis.url()], &format!("exec 2>'{}'", stderr.display()));
    let printed = || std::fs::read_to_string(&stderr).expect("what was said");
    block_until("it is said", || printed().contains("set appendonly yes"));
    coord.terminate();
    assert!(coord.wait().success());
    assert!(printed().contains("does not persist its data"), "{}", printed());
}

#[test]
fn a_reader_that_is_gone_takes_nothing_along() {
    // `coord serve | tee log`, where Ctrl-C ends both and `tee` is the first.
    let place = ServerFolder::new(crate::COORD);
    let mut coord = place.serve_after("exec 2>&1");
    drop(coord.terminal());
    assert!(health(&coord).starts_with("HTTP/1.1 200 "));
    coord.signal("INT");
    assert!(coord.wait().success(), "it ends as if somebody had read");
}

#[test]
fn silent_connections_up_to_the_limit_of_files_end_nothing() {
    let place = ServerFolder::new(crate::COORD);
    let coord = ready(place.serve_after("ulimit -n 80"));
    let silent: Vec<_> = (0..120)
        .filter_map(|_| TcpStream::connect(coord.address).ok())
        .collect();
    assert!(silent.len() >= 80, "{}", silent.len());
    // Work that needs files goes on beside them: the oldest make room for those that come later.
    let mut newest = &silent[silent.len() - 1];
    newest
        .write_all(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .expect("sent");
    let mut answer = [0; 512];
    let count = newest.read(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(silent);
    let answer = health(&coord);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer:?}");
}

#[test]
fn the_state_is_its_owner_s_alone() {
    let place = ServerFolder::new(crate::COORD);
    let coord = ready(place.serve_after("umask 000"));
    let mode = |path: &std::path::Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&place.data()), 0o700);
    assert_eq!(mode(&place.data().join("store.redb")), 0o600);
    coord.kill();
}

#[test]
fn a_large_store_is_checked_on_demand() {
    let place = ServerFolder::new(crate::COORD);
    let mut coord = ready(place.serve());
    coord.terminate();
    assert!(coord.wait().success());
    let data = place.data().display().to_string();
    let store = std::fs::File::options()
        .write(true)
        .open(place.data().join("store.redb"));
    let stderr = place.folder.path().join("stderr");
    for (options, is_warned) in [(&[][..], true), (&["--check"], false)] {
        // Larger than what is checked without being asked for, and empty beyond its end.
        store
            .as_ref()
            .expect("the store")
            .set_len(300 << 20)
            .expect("it is larger");
        let options = [&["--data-dir", &data][..], options].concat();
        let mut coord = ready(place.serve_on(&options, &format!("exec 2>'{}'", stderr.display())));
        coord.terminate();
        assert!(coord.wait().success());
        let printed = std::fs::read_to_string(&stderr).expect("what was said");
        assert_eq!(
            printed.contains("not checked for damage"),
            is_warned,
            "{options:?}: {printed}"
        );
    }
}

#[test]
fn an_empty_or_new_store_is_reported_at_the_start() {
    let place = ServerFolder::new(crate::COORD);
    let mut coord = place.serve();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut terminal = coord.terminal();
    let mut text = String::new();
    while !text.contains("curl") {
        let mut piece = [0; 4096];
        let count = terminal.read(&mut piece).expect("a piece");
        text.push_str(&String::from_utf8_lossy(&piece[..count]));
        assert!(count > 0 && Instant::now() < deadline, "{text}");
    }
    assert!(text.contains("store.redb (new: nothing is locked)"), "{text}");
    coord.terminate();
    assert!(coord.wait().success());
    let store = place.data().join("store.redb");
    std::fs::write(&store, "").expect("emptied");
    let stderr = place.data().join("stderr");
    let mut coord = ready(place.serve_after(&format!("exec 2>'{}'", stderr.display())));
    coord.terminate();
    coord.wait();
    let printed = std::fs::read_to_string(stderr).expect("what was said");
    assert!(
        printed.contains("the file of the embedded store was empty"),
        "{printed}"
    );
}
