//! The server of a clone was killed, and something else has its address: its announcement is still there.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use coord_test_support::waiting::block_until;

use crate::mcp::{action, agent};
use coord_test_worlds::world::World;

/// `coord serve` of the world, at `port`.
fn serve(world: &World, port: &str) -> Child {
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", port]);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server = quiet.spawn().unwrap();
    let id = server.id().to_string();
    block_until("the server listens", || world.server().as_deref() == Some(&id));
    server
}

fn kill(mut server: Child) {
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Returns the announcement of the world's server.
fn announced(world: &World) -> String {
    std::fs::read_to_string(world.clone.path().join(".git/coord/listening")).unwrap()
}

/// The address of the world's server.
fn address(world: &World) -> String {
    let announced = announced(world);
    announced
        .strip_prefix("http://")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned()
}

/// The files that are locked at the world's server.
fn locked(world: &World) -> Vec<String> {
    let status = world.run(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    let locks = status["locks"].as_array().unwrap().iter();
    locks
        .map(|lock| lock["file_path"].as_str().unwrap().to_owned())
        .collect()
}

/// Two clones of one repository, whose servers have a store each: at the other one's server, everything would be free.
// rule: servers#announcement
#[test]
fn no_request_goes_to_the_server_of_another_clone() {
    let files = [("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")];
    let (world, other) = (World::with(&files), World::with(&files));
    let first = serve(&world, "0");
    let mut agent = agent(&world);
    let mut claims = |file: &str| assert_eq!(action(&agent.claim(&[file])), "PROCEED");
    claims("a.txt");
    let taken = address(&world);
    kill(first);
    let second = serve(&other, taken.rsplit(':').next().unwrap());
    assert_eq!((address(&world), address(&other)), (taken.clone(), taken.clone()));
    claims("b.txt");
    assert_ne!(address(&world), taken, "the agent has started a server of this clone");
    assert!(world.run(&["claim", "c.txt", "-m", "Adding a line"]).status.success());
    assert_eq!(locked(&world), ["a.txt", "b.txt", "c.txt"]);
    assert_eq!(locked(&other), [""; 0]);
    kill(second);
}

#[test]
fn a_program_that_is_no_server_of_coord_is_not_taken_for_one() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let first = serve(&world, "0");
    let mut agent = agent(&world);
    assert_eq!(action(&agent.check(&["a.txt"])), "PROCEED");
    let taken = address(&world);
    kill(first);
    let program = TcpListener::bind(&taken).unwrap();
    std::thread::spawn(move || {
        for stream in program.incoming() {
            let mut stream = stream.unwrap();
            // The connection that asks whether anything listens sends nothing.
            if stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        }
    });
    let claimed = world.run(&["claim", "a.txt", "-m", "Adding a line"]);
    assert!(claimed.status.success(), "{claimed:?}");
    assert_ne!(address(&world), taken);
    // The agent is connected to the old address still.
    assert_eq!(action(&agent.claim(&["b.txt"])), "PROCEED");
    assert_eq!(locked(&world), ["a.txt", "b.txt"]);
}
