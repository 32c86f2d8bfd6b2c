//! Coord, the coordination layer for teams of coding agents.
//!
//! - [`domain`]: what the rules speak of, parsed at the edge, and the orchestration decision
//! - [`store`]: keys, scripts and the connections that run them
//! - [`source`]: where repositories are read
//! - [`builds`]: builds of the import graph (`coord_graph`), stored and kept up to date
//! - [`auth`]: credentials and the callers behind them
//! - [`admission`]: what every request passes: who calls, how often, and the head of the branch
//! - [`operations`]: check, claim, release, list locks, read the graph; without HTTP
//! - [`error`]: every error of a request
//! - [`heads`], [`rate_limits`]: how old a head may be, and how often may be asked
//! - [`http`]: the endpoints, one file each, and the one place that turns errors into answers
//! - [`sweep`]: expired locks, dropped and announced
//! - [`timing`], [`logging`]: what a request costs; what is written about it
//! - [`settings`]: what the environment sets
//! - [`app`]: what every operation works with
//! - [`after_answer`]: work that a function does when it has answered
//! - [`function`]: a deployed function, put together from all of these

pub mod admission;
pub mod after_answer;
pub mod app;
pub mod auth;
pub mod builds;
pub mod domain;
pub mod error;
pub mod function;
pub mod heads;
pub mod http;
pub mod logging;
pub mod operations;
pub mod rate_limits;
pub mod settings;
pub mod source;
pub mod store;
pub mod sweep;
pub mod timing;
