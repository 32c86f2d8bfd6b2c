//! Texts for everything that reads a repository: tests of the readers, fuzzing, and builds of hostile repositories share them.
//!
//! - [`pieces`]: pieces of code for random tests
//! - [`shapes`]: texts that compress to nothing and name very much; [`products`]: repositories that multiply work
//! - [`check`]: the memory and time that a reader may take for a text

pub mod check;
#[cfg(feature = "random")]
pub mod pieces;
pub mod products;
pub mod shapes;
