//! Attacks on every surface, by kind: each test plays one, and holds what SECURITY.md promises against it.
#![cfg(unix)]

mod connections;
mod contexts;
mod links;
mod repositories;
mod shares;
#[expect(dead_code, reason = "the tests of agents need more of it")]
#[path = "../agents/world.rs"]
mod world;
