//! `coord mcp`, over standard input and output.

mod client;
mod exit;
mod filled_in;
mod listing;
mod offline;
mod opencode;
mod protocol;
mod renewal;
mod server;
mod worktrees;

pub use client::{Agent, action, warnings};
pub use opencode::without_times;

use std::path::Path;
use std::process::Command;

use coord_test_worlds::world::World;

/// `coord mcp OPTIONS` in the clone.
fn mcp(world: &World, options: &[&str]) -> Command {
    let mut command = world.coord(world.clone.path());
    command.arg("mcp").args(options);
    command
}

/// An agent in the clone.
pub fn agent(world: &World) -> Agent {
    Agent::start(mcp(world, &[]))
}

/// An agent that is configured in `folder`.
fn agent_in(world: &World, folder: &Path) -> Agent {
    let mut command = world.coord(folder);
    command.arg("mcp");
    Agent::start(command)
}
