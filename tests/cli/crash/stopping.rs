//! How `coord serve` is stopped, and what it survives.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use coord_test_support::git::Repo;
use coord_test_support::process::{Coord, REPO, ServerFolder};
use coord_test_support::real_redis::RealRedis;
use coord_test_support::skipping::skip;
use coord_test_support::waiting::block_until;

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nhost: localhost\r\n";

/// Returns the answer to a health request; nothing if the connection breaks.
fn health(coord: &Coord) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(coord.address) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
        let _ = stream.write_all(format!("{HEALTH}connection: close\r\n\r\n").as_bytes());
        let _ = stream.read_to_string(&mut answer);
    }
    answer
}

/// Waits until it is ready: it listens before that, and what comes waits.
fn ready(coord: Coord) -> Coord {
    assert_healthy(&coord);
    coord
}

fn assert_healthy(coord: &Coord) {
    let answer = health(coord);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer:?}");
}

/// Sends a signal, after which it must end well.
fn stop_by(signal: &str, mut coord: Coord) {
    coord.signal(signal);
    assert!(coord.wait().success(), "{signal}");
}

/// A server whose errors are written to a file.
fn serve_with_errors(place: &ServerFolder, options: &[&str]) -> (Coord, PathBuf) {
    let stderr = place.folder.path().join("stderr");
    let coord = place.serve_on(options, &format!("exec 2>'{}'", stderr.display()));
    (coord, stderr)
}

/// A server whose system calls on `file` are delayed by `strace`; the file shows that there was one.
fn serve_delayed(place: &ServerFolder, file: &Path, calls: &str, seconds: u64) -> (Coord, PathBuf) {
    let trace = place.folder.path().join("trace");
    let coord = place.serve_after(&format!(
        "exec strace -D -f -qq --seccomp-bpf -o '{}' -P '{}' -e trace={calls} \
         -e inject={calls}:delay_enter={seconds}000000 \"$0\" \"$@\"",
        trace.display(),
        file.display(),
    ));
    block_until("the file is read", || {
        trace.metadata().is_ok_and(|trace| trace.len() > 0)
    });
    (coord, trace)
}

fn has_strace() -> bool {
    Command::new("strace").arg("-V").output().is_ok()
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
        stop_by(signal, ready(place.serve()));
    }
    // Unless whoever started it wants it to outlive the terminal.
    let coord = ready(place.serve_after("trap '' HUP"));
    coord.signal("HUP");
    assert_healthy(&coord);
    stop_by("TERM", coord);
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
    if !has_strace() {
        return skip("there is no strace");
    }
    let place = ServerFolder::new(crate::COORD);
    ready(place.serve()).kill();
    let store = place.data().join("store.redb");
    for signal in ["INT", "TERM", "HUP"] {
        // Each read of the store takes two seconds.
        let (coord, trace) = serve_delayed(&place, &store, "pread64", 2);
        let sent = Instant::now();
        stop_by(signal, coord);
        let lasted = sent.elapsed();
        assert!(lasted < Duration::from_secs(4), "{signal}: {lasted:?}");
        std::fs::remove_file(&trace).expect("the next one has its own");
    }
}

#[test]
fn a_signal_ends_it_while_a_file_of_the_repository_cannot_be_read() {
    if !has_strace() {
        return skip("there is no strace");
    }
    let place = ServerFolder::new(crate::COORD);
    let repository = place.folder.path().join("repository");
    Repo::at(repository.clone()).commit(&[("a.ts", "import './b'")]);
    // As on a file system behind a network that is gone.
    let (coord, _) = serve_delayed(&place, &repository.join("a.ts"), "openat,read", 15);
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
    let file = |number| {
        let path = format!("src/{}/{number}.ts", number % 100);
        (path, format!("import './{}'", number + 100))
    };
    let files: Vec<(String, String)> = (0..20_000).map(file).collect();
    let named: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    repo.commit(&named);
    let coord = place.serve_on(&["--redis", &redis.url()], "");
    let graph = format!("coord:graph:{{{REPO}}}:main");
    let has = |field| redis.answer(&["HEXISTS", &graph, field]).starts_with(":1");
    block_until("a build is under way", || has("builder"));
    stop_by("TERM", coord);
    assert!(!has("version"), "it was cut off");
    assert!(!has("builder"), "the next one need not wait");
}

#[test]
fn broken_promises_of_redis_are_reported_at_the_start() {
    let Some(redis) = RealRedis::start(&[]) else { return };
    let place = ServerFolder::new(crate::COORD);
    let (coord, stderr) = serve_with_errors(&place, &["--redis", &redis.url()]);
    let printed = || std::fs::read_to_string(&stderr).expect("what was said");
    block_until("it is said", || printed().contains("set appendonly yes"));
    stop_by("TERM", coord);
    assert!(printed().contains("does not persist its data"), "{}", printed());
}

#[test]
fn a_reader_that_is_gone_takes_nothing_along() {
    // `coord serve | tee log`, where Ctrl-C ends both and `tee` is the first.
    let place = ServerFolder::new(crate::COORD);
    let mut coord = place.serve_after("exec 2>&1");
    drop(coord.terminal());
    assert_healthy(&coord);
    // It ends as if all had been read.
    stop_by("INT", coord);
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
    newest.write_all(format!("{HEALTH}\r\n").as_bytes()).expect("sent");
    let mut answer = [0; 512];
    let count = newest.read(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(silent);
    assert_healthy(&coord);
}

#[test]
fn the_state_is_its_owner_s_alone() {
    let place = ServerFolder::new(crate::COORD);
    let coord = ready(place.serve_after("umask 000"));
    let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&place.data()), 0o700);
    assert_eq!(mode(&place.data().join("store.redb")), 0o600);
    coord.kill();
}

#[test]
fn a_large_store_is_checked_on_demand() {
    let place = ServerFolder::new(crate::COORD);
    stop_by("TERM", ready(place.serve()));
    let data = place.data().display().to_string();
    let store = std::fs::File::options()
        .write(true)
        .open(place.data().join("store.redb"))
        .expect("the store");
    for (options, is_warned) in [(&[][..], true), (&["--check"], false)] {
        // Larger than what is checked without being asked for, and empty beyond its end.
        store.set_len(300 << 20).expect("it is larger");
        let options = [&["--data-dir", &data][..], options].concat();
        let (coord, stderr) = serve_with_errors(&place, &options);
        stop_by("TERM", ready(coord));
        let printed = std::fs::read_to_string(stderr).expect("what was said");
        let warns = printed.contains("not checked for damage");
        assert_eq!(warns, is_warned, "{options:?}: {printed}");
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
    stop_by("TERM", coord);
    std::fs::write(place.data().join("store.redb"), "").expect("emptied");
    let data = place.data().display().to_string();
    let (coord, stderr) = serve_with_errors(&place, &["--data-dir", &data]);
    stop_by("TERM", ready(coord));
    let printed = std::fs::read_to_string(stderr).expect("what was said");
    assert!(
        printed.contains("the file of the embedded store was empty"),
        "{printed}"
    );
}
