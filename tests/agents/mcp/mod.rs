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

use std::path::Path;

use coord_test_worlds::world::World;

/// An agent in the clone.
pub fn agent(world: &World) -> Agent {
    agent_in(world, world.clone.path())
}

/// An agent that is configured in `folder`.
fn agent_in(world: &World, folder: &Path) -> Agent {
    let mut command = world.coord(folder);
    command.arg("mcp");
    Agent::start(command)
}
