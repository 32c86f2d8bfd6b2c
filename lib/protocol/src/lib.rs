//! The wire: what is sent to Coord and what it answers. Every type is read and written, so that server, clients and tests share it.
//!
//! - [`bounds`]: the most that a request may have
//! - [`check_status`], [`post_status`], [`locks`]: requests and responses
//! - [`orchestration`]: what an agent is told to do next
//! - [`error`]: stable codes, and the body of an error
//! - [`schema`]: the texts of the wire as JSON Schema
//! - `client` (a feature): a client over HTTP

pub mod bounds;
pub mod check_status;
#[cfg(feature = "client")]
pub mod client;
pub mod error;
pub mod locks;
pub mod orchestration;
pub mod post_status;
pub mod schema;

pub use check_status::{CheckRequest, CheckResponse};
#[cfg(feature = "client")]
pub use client::{Client, ClientError};
pub use error::{AgentError, ErrorBody, ErrorCode};
pub use locks::{HeldLock, LockMode, LockStatus, LocksResponse, OtherLock, OwnLock, Reader};
pub use orchestration::{Action, Metadata, Orchestration, Status};
pub use post_status::{PostRequest, PostResponse};
