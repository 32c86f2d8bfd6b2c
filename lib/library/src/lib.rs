//! Lua files as modules and functions. Each crate with stored state has a [`Part`]. A build joins the parts that it
//! links into one library, and makes a script for each function, with the modules that it needs.
//!
//! - `source`: one file, its requires, and the order of modules
//! - `part`: the files of a crate; `joined`: all parts together
//! - `build_script`: makes the part of a crate from its files, and checks it

mod build_script;
mod joined;
mod part;
mod source;
#[cfg(test)]
mod tests;

pub use build_script::write_part;
pub use joined::JoinedParts;
pub use part::Part;
pub use source::Source;
