//! The admission before every operation: identity, rate limits, and the head of the branch.

pub mod keys;
pub mod scripts;

mod admit;
mod count_lookups;
mod denial;
mod identity;
mod policy_question;
mod rates;
mod scope_question;
mod seen_head;
mod terms;

pub(in crate::state) use admit::admitted;
pub use admit::*;
pub use count_lookups::*;
pub use denial::*;
pub use identity::*;
pub use policy_question::*;
pub use rates::*;
pub use scope_question::*;
pub use seen_head::*;
pub use terms::*;
pub(in crate::state) use terms::{Kind, PATHS_OF_A_REQUEST, is_false};
