//! Intents: their registry, the files that they own, and the handshake of holders.

pub mod keys;
pub mod scripts;

mod allow;
mod owned;
mod question;
mod read;
mod record;
mod select;
mod status;
mod take_over;
mod usage;
mod write;

pub use allow::*;
pub use owned::*;
pub use question::ScopeQuestion;
pub use read::*;
pub use record::*;
pub use select::*;
pub use status::*;
pub use take_over::*;
pub use usage::*;
pub use write::*;
