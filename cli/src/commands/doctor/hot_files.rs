//! Files where agents meet: hubs of the graph, and files that many commits change.

use coord_agent::hot_files::{HotFiles, hot_in_words, hubs, in_words};
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use coord_settings::policy::PATH;
use coord_settings::policy::file::{MAX_BYTES, PolicyFile};

use super::finding::Finding;

/// The hubs, and the hot files that nothing shares.
pub(super) async fn all(working_copy: &WorkingCopy) -> Vec<Finding> {
    let hubs = hubs(working_copy).await.unwrap_or_default();
    let hubs = in_words(&hubs).map(|found| Finding::ok("hubs", found));
    let file = RootedPath::new(working_copy.root(), PATH).read(MAX_BYTES as u64);
    let hot = match has_own_list(&file) {
        true => None,
        false => HotFiles::of(working_copy).ok().as_ref().and_then(hot_in_words),
    };
    let hot = hot.map(|found| {
        let found = format!("{found}: let several agents write them at once");
        Finding::warn("hot files", found, "coord policy suggest --write")
    });
    hubs.into_iter().chain(hot).collect()
}

/// Whether the repository says itself what is shared.
fn has_own_list<E>(content: &Result<Option<Vec<u8>>, E>) -> bool {
    let content = content.as_ref().ok().and_then(Option::as_ref);
    let file = content.and_then(|content| PolicyFile::parse(content).ok());
    file.is_some_and(|file| file.shared.is_some())
}
