//! The endpoints, one file each, as one [`axum::Router`] for the functions and `coord serve`.

pub mod body;
mod conditional;
mod connection;
pub mod cors;
mod document;
pub mod edge;
mod endpoint;
pub mod error;
mod headers;
mod json;
pub mod openapi;
mod own_origin;
mod peer_address;
#[cfg(test)]
mod platform;
mod request_id;
mod route;
mod router;

pub use crate::error::ApiError;
pub use crate::settings::edge::Edge;
pub use crate::source::github::webhook::Webhook;
pub use connection::{Connection, OpenConnection};
pub use document::document;
pub use edge::around;
pub(crate) use endpoint::{
    ActivityQuery, GraphQuery, IntentsQuery, LedgerQuery, LocksQuery, TaskQuery, TeamsQuery, read_graph_view,
};
pub use endpoint::{Endpoint, Protocol, ROUTES};
pub use own_origin::refuse_pages_of_other_sites;
pub use peer_address::PeerAddress;
pub use route::{Audience, Route};
pub use router::{router, routes};
