//! The hooks: `coord hook`, which agents run, and `coord guard`, which git runs.

pub mod guard;
pub mod hook;
