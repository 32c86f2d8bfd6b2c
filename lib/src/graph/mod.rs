//! The import graph: which file of a repository imports which.
//!
//! Split by the question asked: [`language`] (what is this file), [`scan`] (text -> specifiers; never resolves),
//! [`resolve`] (specifier -> file; never reads a disk, sees only the paths of the tree and a few manifests).

pub mod language;

pub mod resolve;
pub mod scan;
pub mod stored;
