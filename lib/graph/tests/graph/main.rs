//! The graph as its callers see it.

mod adjacency;
mod changes;
mod go;
mod hostile;
mod import;
mod incremental;
mod interfaces;
mod javascript;
mod javascript_bundlers;
mod javascript_configs;
mod javascript_globs;
mod javascript_packages;
mod javascript_unbuilt;
mod javascript_workspaces;
mod python;
mod python_layouts;
mod queries;
mod repository;
mod rust;
