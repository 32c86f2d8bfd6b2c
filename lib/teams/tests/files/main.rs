//! The files of opencode-teams: a folder as the plugin wrote it, hostile files, and comparisons.

mod comparing;
mod comparing_edges;
mod comparing_inboxes;
mod comparing_members;
mod comparing_work;
mod hostile;
mod properties;
mod random;
mod sample_folder;
mod sync;
mod unfinished;
