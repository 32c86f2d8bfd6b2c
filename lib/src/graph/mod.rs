//! The import graph.
