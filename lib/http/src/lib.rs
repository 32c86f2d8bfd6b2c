//! The endpoints of the core, one file each, as one [`axum::Router`] for the functions and `coord serve`.

pub mod body;
pub mod conditional;
mod connection;
pub mod cors;
mod document;
pub mod edge;
pub mod endpoint;
pub mod error;
pub mod function;
pub mod headers;
pub mod json;
pub mod openapi;
mod own_origin;
mod peer_address;
mod request_id;
mod route;
mod router;

pub use connection::{Connection, OpenConnection};
pub use coord_server::error::ApiError;
pub use coord_settings::edge::Edge;
pub use coord_sources::github::webhook::Webhook;
pub use document::document;
pub use edge::wrap_router;
pub use endpoint::{ActivityQuery, Endpoint, GraphQuery, LocksQuery, Protocol, Session, read_graph_view};
pub use own_origin::refuse_pages_of_other_sites;
pub use peer_address::PeerAddress;
pub use route::{Audience, Route};
pub use router::{router, routes};
