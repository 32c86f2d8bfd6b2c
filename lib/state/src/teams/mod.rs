//! Teams and their members.

pub mod keys;
pub mod scripts;

mod membership;
mod only_teams;
mod records;
mod refusal;
mod terms;
mod waiting;

pub use membership::*;
pub use only_teams::OnlyTeams;
pub use records::*;
pub use refusal::*;
pub use terms::{RequestKey, TeamOutcome, TeamTerms};
pub(crate) use terms::{RequestKeyArgs, outcome, run, run_as_many, unknown};
pub use waiting::{EVERYBODY, Membership, PendingShutdown, Waiting};
