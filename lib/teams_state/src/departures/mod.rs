//! How members stop, and teams end: the handshake of a shutdown, leaving, deleting.

pub mod scripts;

mod leave;
mod shutdown;

pub use leave::*;
pub use shutdown::*;
