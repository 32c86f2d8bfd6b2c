//! What every request passes before its operation: who calls, how often, and the head of the branch.

pub mod keys;
pub mod scripts;

mod identity;
mod terms;

pub use identity::{RememberedMember, forget, recall, remember};
pub use terms::{
    AdmissionTerms, Admitted, Denial, Full, HeadTerms, Limited, Rate, Rates, SeenHead, TooMuch, admit,
    admit_without_head,
};
pub(in crate::state) use terms::{Kind, admitted};
