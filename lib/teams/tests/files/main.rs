//! The files of opencode-teams: a folder as the plugin wrote it, its recorded runs, hostile files, and comparisons.

mod comparing;
mod comparing_edges;
mod comparing_inboxes;
mod comparing_members;
mod comparing_work;
mod hostile;
mod model;
mod properties;
mod random;
mod recorded;
mod sample_folder;
mod sync;
mod unfinished;
