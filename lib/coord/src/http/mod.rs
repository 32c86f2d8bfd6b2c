//! The endpoints, one file each, as one [`axum::Router`] that the functions and `coord serve` share.

pub mod body;
pub mod check_status;
pub mod cors;
pub mod cron_cleanup;
mod document;
pub mod edge;
mod endpoint;
pub mod error;
pub mod github_webhook;
pub mod graph;
mod headers;
pub mod health;
mod locks;
pub mod openapi;
mod peer_address;
pub mod post_status;
mod refusal;
mod request_id;
mod router;

pub use crate::error::ApiError;
pub use crate::settings::edge::Edge;
pub use crate::source::github::webhook::Webhook;
pub use document::document;
pub use edge::around;
pub use endpoint::{Audience, Endpoint, ROUTES, Route};
pub use peer_address::PeerAddress;
pub use router::{router, routes};
