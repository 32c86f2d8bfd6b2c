//! The local git source on real repositories.

mod ancestry;
mod bounds;
mod fetching;
mod files;
mod heads;
mod opening;
mod running;
mod upstreams;

use std::path::Path;

use coord_domain::RepoId;
use coord_git::GitSource;
use coord_sources::Source;

use crate::{branch, sha};

/// A source with the one repository at `path`, and its id.
fn serve(path: &Path) -> (GitSource, RepoId) {
    let source = GitSource::open(&[path.to_owned()]).unwrap();
    let repo = source.repositories().remove(0);
    (source, repo)
}
