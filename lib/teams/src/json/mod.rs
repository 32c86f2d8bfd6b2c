//! JSON whose members keep their order, and whose numbers keep their spelling.

mod parse;
mod value;
mod write;

pub use parse::parse;
pub use value::{Json, Object};
pub use write::{member_of, render, render_in_line, set_member};
