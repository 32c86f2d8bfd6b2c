//! A server that a command of an agent has started ends when nobody needs it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;

use crate::commands::printed;
use crate::processes::end_server;
use coord_test_worlds::world::World;

/// `coord serve ARGS` of the clone, which listens.
fn serve(world: &World, args: &[&str]) -> Child {
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", "0"]).args(args);
    let server = command.stdout(Stdio::null()).spawn().unwrap();
    let listening = world.clone.path().join(".git/coord/listening");
    block_until("the server listens", || listening.exists());
    server
}

#[track_caller]
fn assert_ends(mut server: Child) {
    block_until("the server ends", || server.try_wait().unwrap().is_some());
    assert!(server.wait().unwrap().success());
}

// rule: servers#port
#[test]
fn a_server_exits_after_its_idle_limit_without_requests() {
    let world = World::with(&[("a.txt", "a")]);
    let server = serve(&world, &["--exit-when-idle", "1"]);
    let listening = world.clone.path().join(".git/coord/listening");
    let announced = std::fs::read_to_string(&listening).unwrap();
    let address = announced.split(' ').next().unwrap();
    let socket = address.trim_start_matches("http://");
    // Requests keep it running for longer than that.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1_500) {
        let mut stream = TcpStream::connect(socket).unwrap();
        let request = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        // time: requests keep a server running beyond its idle limit.
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_ends(server);
    assert!(!listening.exists(), "it is announced no more");
}

#[test]
fn a_server_ends_when_its_repository_is_deleted() {
    let world = World::with(&[("a.txt", "a")]);
    let clone = world.clone.path();
    let server = serve(&world, &["--exit-when-idle", "3600", "--repo", clone.to_str().unwrap()]);
    std::fs::remove_dir_all(clone).unwrap();
    assert_ends(server);
}

#[test]
fn the_log_of_started_servers_does_not_grow_without_a_bound() {
    let world = World::with(&[("a.txt", "a")]);
    let log = world.clone.path().join(".git/coord/serve.log");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, vec![b'x'; 2 << 20]).unwrap();
    printed(&world, &["check", "a.txt"], 0);
    let length = std::fs::metadata(&log).unwrap().len();
    assert!(length < 1 << 20, "{length} bytes");
}

#[test]
fn files_that_a_command_creates_are_private_to_their_owner() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.clone.path().join(".git/coord");
    let mode_after_check = || {
        printed(&world, &["check", "a.txt"], 0);
        std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode_after_check(), 0o700);
    // As an earlier version has made it.
    end_server(&world);
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(mode_after_check(), 0o700);
}
