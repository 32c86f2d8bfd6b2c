//! Parts of the OpenAPI document that no attribute of a handler can express.
//!
//! - `responses`, `errors`: parts of an operation's responses, which each handler combines
//! - `fields`, and [`coord_protocol::schema`]: fields and headers
//! - `examples`: requests and responses, which a test compares with a server's

pub mod errors;
pub mod examples;
pub mod fields;
pub mod responses;
