//! Operations without HTTP: from an authenticated caller and typed input to a response of the protocol. HTTP handlers
//! and MCP tools call them.
//!
//! - [`check_as_sent()`], [`claim()`], [`release()`]: operations on the files of a branch ([`WorkRequest`])
//! - [`post()`]: a claim or a release, depending on `status`
//! - `force_release`: a release of others' locks
//! - [`list_locks()`]: the locks of a repository; [`list_activity()`]: its events
//! - [`watch_events()`]: the events as they happen
//! - [`read_graph`]: the graph of a branch with its locks
//! - `claim_rules`: the rules for the files of a check and a claim; parses the tool call, for the gate
//! - `interfaces`: checks whether writers kept the interfaces that they promised to keep
//! - `policy_request`: the effect of `.coord.toml` on a check, a claim and a release
//! - `wait`: a request that waits for events
//! - `fields`, `sentences`, `lock_views`, `blocking`: shared by several operations

mod blocking;
mod check;
pub mod claim;
pub mod claim_rules;
pub mod fields;
mod force_release;
mod interfaces;
mod list_activity;
pub mod list_locks;
mod lock_views;
mod policy_request;
mod post;
pub mod read_graph;
mod refusal;
pub mod release;
pub mod sentences;
pub mod wait;
mod watch_events;
mod work_request;

pub use check::{CheckError, check_as_sent};
use claim::claim;
pub use claim_rules::parse_tool_use;
pub use list_activity::{ActivityRequest, EventRange, list_activity};
pub use list_locks::{LocksRequest, list_locks};
pub use lock_views::memberships;
pub use post::post;
pub use refusal::Refusal;
use release::release;
pub use sentences::unknown_fields;
pub use watch_events::{Message, Stream, Verify, WatchRequest, admit_again, watch_events};
pub use work_request::WorkRequest;
