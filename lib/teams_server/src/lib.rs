//! Teams with their tasks and messages, as an extension of the server.
//!
//! - [`Teams`]: the extension in an [`App`](coord_server::app::App); [`ENDPOINTS`]: its rows of the table of routes
//! - [`operations`]: teams, their tasks and their messages; [`refusal`]: refusals by the rules, as errors for agents
//! - `config`: settings

pub mod config;
mod endpoint;
pub mod operations;
pub mod refusal;
mod registered;

pub use endpoint::{ENDPOINTS, TEAMS, TaskQuery, TeamsQuery, documents};
pub use registered::Teams;
