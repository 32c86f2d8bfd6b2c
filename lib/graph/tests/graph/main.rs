//! The graph as its callers see it.

mod forms;
mod go;
mod hostile;
mod incremental;
mod javascript;
mod python;
mod questions;
mod repository;
mod rust;
