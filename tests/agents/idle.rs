//! A server that a command of an agent has started ends when nobody needs it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;

use coord_test_worlds::world::World;

// rule: servers#port
#[test]
fn a_server_exits_after_its_idle_limit_without_requests() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", "0", "--exit-when-idle", "1"]);
    let mut server = command.stdout(Stdio::null()).spawn().unwrap();
    let listening = world.clone.path().join(".git/coord/listening");
    block_until("the server listens", || listening.exists());
    let announced = std::fs::read_to_string(&listening).unwrap();
    let socket = announced
        .split(' ')
        .next()
        .unwrap()
        .trim_start_matches("http://")
        .to_owned();
    // Requests keep it running for longer than that.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1_500) {
        let mut stream = std::net::TcpStream::connect(&socket).unwrap();
        let request = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut response = String::new();
        std::io::Read::read_to_string(&mut stream, &mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        // time: requests keep a server running beyond its idle limit.
        std::thread::sleep(Duration::from_millis(100));
    }
    block_until("the server ends", || server.try_wait().unwrap().is_some());
    assert!(server.wait().unwrap().success());
    assert!(!listening.exists(), "it is announced no more");
}

#[test]
fn a_server_ends_when_its_repository_is_deleted() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", "0", "--exit-when-idle", "3600", "--repo"]);
    let mut server = command.arg(world.clone.path()).stdout(Stdio::null()).spawn().unwrap();
    let listening = world.clone.path().join(".git/coord/listening");
    block_until("the server listens", || listening.exists());
    std::fs::remove_dir_all(world.clone.path()).unwrap();
    block_until("the server ends", || server.try_wait().unwrap().is_some());
    assert!(server.wait().unwrap().success());
}

#[test]
fn the_log_of_started_servers_does_not_grow_without_a_bound() {
    let world = World::with(&[("a.txt", "a")]);
    let log = world.clone.path().join(".git/coord/serve.log");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, vec![b'x'; 2 << 20]).unwrap();
    let checked = world.run(&["check", "a.txt"]);
    assert!(checked.status.success(), "{checked:?}");
    let length = std::fs::metadata(&log).unwrap().len();
    assert!(length < 1 << 20, "{length} bytes");
}

#[cfg(unix)]
#[test]
fn files_that_a_command_creates_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.clone.path().join(".git/coord");
    let mode = || std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
    let checked = world.run(&["check", "a.txt"]);
    assert!(checked.status.success(), "{checked:?}");
    assert_eq!(mode(), 0o700);
    // As an earlier version has made it.
    let server = world.server().expect("a command has started one");
    assert!(Command::new("kill").arg(server).status().unwrap().success());
    block_until("the server ends", || world.server().is_none());
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let checked = world.run(&["check", "a.txt"]);
    assert!(checked.status.success(), "{checked:?}");
    assert_eq!(mode(), 0o700);
}
