//! Shared by the tests of several crates: programs that they talk to, and fakes of them.
//!
//! - [`git`]: real repositories; [`memory`]: a source in memory; [`github`]: a fake GitHub over a real repository
//! - [`redis`]: one redis-server for all tests of a binary; [`real_redis`]: one for each test; [`proxy`]: a proxy in front of
//!   it
//! - [`embedded`]: embedded stores; [`upstash`]: a double of Upstash over any store; [`script`]: scripts that a test writes
//! - [`process`]: `coord serve`, which can be killed
//! - [`log`]: the log of a test; [`history`]: clients whose requests are noted, and the judge of their answers
//! - [`opencode_runs`]: recorded programs of the plugin opencode-teams
//! - [`signer`]: keys and tokens of every kind
//! - [`skipping`]: tests that lack a requirement
//! - [`waiting`]: for a condition, or for time to pass

pub mod embedded;
pub mod git;
pub mod github;
pub mod history;
pub mod log;
pub mod memory;
pub mod opencode_runs;
pub mod process;
pub mod proxy;
pub mod real_redis;
pub mod redis;
pub mod script;
pub mod signer;
pub mod skipping;
pub mod upstash;
pub mod waiting;
