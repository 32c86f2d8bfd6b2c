//! Admission comes before the operation of every request. The caller is verified in the repository (`identity`). Then the
//! store checks rate limits and the head of the branch, in one round trip with the operation itself. If the script lacks something,
//! it asks, and runs again with the answer ([`Admission::run`]).
//!
//! - `identity`: the caller's identity and rights; `caller_address`: where the request comes from
//! - `lookups`: verdicts of other processes on credentials, read from the store
//! - `person_lookups`: the lookups at the source of one person in all repositories
//! - `long_reads`: the turns of reads that may take long
//! - `request`: the admission of one request; `run`: the loop of calls and questions
//! - `answers`: the source's answers to a script's questions; `denial`: the errors of final denials
//! - `repository`: admission of requests that need no head
//! - `pushed_work`: verdicts of the source on released work; `unchanged`: its verdicts on files whose push the store has proved

mod answers;
pub mod caller_address;
mod denial;
mod identity;
mod long_reads;
mod lookups;
mod person_lookups;
mod pushed_work;
mod repository;
mod request;
mod run;
mod unchanged;

pub use identity::renew_verdict;
pub use long_reads::LongReads;
pub use lookups::Lookups;
pub use person_lookups::UserLookups;
pub use repository::{admit_as_holder, admit_to_repository};
pub use request::{Admission, Right};
pub use run::AdmittedCall;
