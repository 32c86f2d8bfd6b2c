//! Attacks on every surface, by kind: each test plays one, and holds what SECURITY.md promises against it.
#![cfg(unix)]

mod connections;
mod contexts;
mod links;
mod repositories;
mod shares;
