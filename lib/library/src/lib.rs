//! Lua files as modules and functions. Each crate with stored state has a [`Part`] of them; a build joins the parts that it links into one
//! library, and makes for each function a script with its modules.
//!
//! - `source`: a file as a module, its requirements, and their order
//! - `part`: the files of a crate; `joined`: all parts together
//! - `build_script`: makes the part of a crate from its files, and checks it

mod build_script;
mod joined;
mod part;
mod source;
#[cfg(test)]
mod tests;

pub use build_script::write_part;
pub use joined::Joined;
pub use part::Part;
pub use source::{Source, in_order};
