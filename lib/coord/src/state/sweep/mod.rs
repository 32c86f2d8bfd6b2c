//! What has expired in one repository, dropped and announced.

pub mod scripts;

mod expired;

pub use expired::{Swept, sweep};
