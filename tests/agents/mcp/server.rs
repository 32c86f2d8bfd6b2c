//! A `coord serve` that a test starts, kills and starts again at the same address.

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use coord_test_support::process::free_address;
use coord_test_support::waiting::block_until;

use super::client::Agent;
use super::mcp;
use coord_test_worlds::world::World;

/// A server of the clone of a world.
pub struct Server<'a> {
    world: &'a World,
    address: SocketAddr,
    ttl: u32,
    process: Option<Child>,
}

impl<'a> Server<'a> {
    /// Starts one that holds locks for `ttl` seconds.
    pub fn start(world: &'a World, ttl: u32) -> Server<'a> {
        let mut server = Server {
            world,
            address: free_address(),
            ttl,
            process: None,
        };
        server.start_again();
        server
    }

    /// Starts it again after [`Self::kill`].
    pub fn start_again(&mut self) {
        let mut command = self.world.coord(self.world.clone.path());
        command
            .args(["serve", "--listen", &self.address.to_string(), "--data-dir"])
            .arg(self.world.folder("store"))
            .args(["--lock-ttl", &self.ttl.to_string()])
            // Tests ask until something has happened.
            .env("COORD_LIMIT_HOLDER_PER_MINUTE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.process = Some(command.spawn().unwrap());
        let address = self.address;
        block_until("the server listens", || TcpStream::connect(address).is_ok());
    }

    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `coord mcp` in front of it.
    pub fn command(&self) -> Command {
        mcp(self.world, &["--url", &self.url()])
    }

    /// An agent in front of it.
    pub fn agent(&self) -> Agent {
        self.agent_with(&[])
    }

    /// An agent in front of it, by `coord mcp` with these options.
    pub fn agent_with(&self, options: &[&str]) -> Agent {
        let mut command = self.command();
        command.args(options);
        Agent::start(command)
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.kill();
        // Killed, it has left the announcement behind, by which the world would stop it.
        let _ = std::fs::remove_file(self.world.clone.path().join(".git/coord/listening"));
    }
}
