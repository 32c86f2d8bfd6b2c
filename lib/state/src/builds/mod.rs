//! Stored graphs: the lease of a builder, the publication, and how long they are kept.

pub mod keys;
pub mod scripts;

mod lease;
mod publish;
mod stored;

pub use lease::*;
pub use publish::*;
pub use stored::*;
