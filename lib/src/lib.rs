//! Coord, the coordination layer for teams of coding agents.
//!
//! - [`domain`]: what the rules speak of, parsed at the edge, and the orchestration decision
//! - [`store`]: keys, scripts and the connections that run them
//! - [`source`]: where repositories are read
//! - [`graph`]: the import graph

pub mod auth;
pub mod config;
pub mod domain;
pub mod function;
pub mod graph;
pub mod http;
pub mod source;
pub mod store;
pub mod sweep;
