//! Teams and their members.

pub mod keys;
pub mod scripts;

mod membership;
mod only_teams;
mod question;
mod records;
mod refusal;
mod team_keys;
mod terms;

pub use coord_state::seams::{EVERYBODY, Membership, PendingShutdown, Waiting};
pub use membership::*;
pub use only_teams::OnlyTeams;
pub use question::TeamQuestion;
pub use records::*;
pub use refusal::*;
pub(crate) use team_keys::{team_and_lock_keys, team_keys};
pub use terms::{RequestKey, TeamCallResponse, TeamOutcome, TeamTerms};
pub(crate) use terms::{RequestKeyArgs, answer_of, outcome, run, run_with_cost};
