//! The operations on teams, their tasks and their messages.

pub mod teams;
