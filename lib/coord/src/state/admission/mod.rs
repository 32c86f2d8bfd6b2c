//! The admission before every operation: identity, rate limits, and the head of the branch.

pub mod keys;
pub mod scripts;

mod admit;
mod denial;
mod identity;
mod rates;
mod seen_head;
mod terms;

pub(in crate::state) use admit::admitted;
pub use admit::{Admitted, admit, admit_without_head};
pub use denial::{Denial, Full, Limited, TooMuch};
pub use identity::{RememberedMember, forget, recall, remember};
pub use rates::{Rate, Rates};
pub use seen_head::SeenHead;
pub(in crate::state) use terms::Kind;
pub use terms::{AdmissionTerms, HeadTerms};
