//! Admission comes before the operation of every request. The caller is verified in the repository (`identity`). Then
//! the store checks rate limits and the head of the branch, in one round trip with the operation itself. If the script
//! lacks a fact, it asks a question, and runs again with the answer ([`Admission::run`]).
//!
//! - `identity`: the caller's identity and rights; `caller_address`: where the request comes from
//! - `lookups`: verdicts of other processes on credentials, read from the store
//! - `user_lookups`: limits one person's lookups at the source in all repositories
//! - `long_reads`: limits one person's long reads
//! - `request`: the admission of one request; `run`: the loop of calls and questions
//! - `answers`: the source's answers to a script's questions; `denial`: the errors of final denials
//! - `repository`: admission of requests that need no head
//! - `pushed_work`: the source's verdicts on released work
//! - `unchanged`: the source's verdicts on files whose push the store has proved

mod answers;
pub mod caller_address;
mod denial;
mod identity;
mod long_reads;
mod lookups;
mod pushed_work;
mod repository;
mod request;
mod run;
mod unchanged;
mod user_lookups;

pub use identity::renew_verdict;
pub use long_reads::LongReads;
pub use lookups::Lookups;
pub use repository::{admit_as_holder, admit_to_repository};
pub use request::{Admission, Right};
pub use run::AdmittedCall;
pub use user_lookups::UserLookups;
