//! The admission before every operation: identity, rate limits, and the head of the branch.

pub mod keys;
pub mod scripts;

mod admit;
mod count_lookups;
mod denial;
mod identity;
mod question;
mod reported_head;
mod terms;
mod uses;

pub use admit::*;
pub use count_lookups::*;
pub use denial::*;
pub use identity::*;
pub use question::*;
pub use reported_head::*;
pub use terms::*;
pub use uses::*;
