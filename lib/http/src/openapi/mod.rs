//! Pieces of the OpenAPI document: what no attribute of a handler can say.
//!
//! - `responses`, `errors`: pieces of what an operation answers; each handler puts its own together
//! - `fields`, and [`coord_protocol::schema`]: fields and headers
//! - `examples`: requests and answers that a test plays through

pub(crate) mod errors;
pub mod examples;
pub(crate) mod fields;
pub(crate) mod responses;
