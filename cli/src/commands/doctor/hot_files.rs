//! Files that many agents change: hubs of the graph, and files that many commits change.

use coord_agent::hot_files::{HotFiles, describe_hot_files, describe_hubs, hubs};
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use coord_settings::policy::PATH;
use coord_settings::policy::file::{MAX_BYTES, PolicyFile};

use super::finding::Finding;

/// Lists the hubs, and the hot files where the policy has no list of shared files.
pub(super) async fn check(working_copy: &WorkingCopy) -> Vec<Finding> {
    let hubs = hubs(working_copy).await.unwrap_or_default();
    let hubs = describe_hubs(&hubs).map(|sentence| Finding::ok("hubs", sentence));
    let hot = match has_shared_list(working_copy) {
        true => None,
        false => HotFiles::of(working_copy).ok().as_ref().and_then(describe_hot_files),
    };
    let hot = hot.map(|sentence| {
        let sentence = format!("{sentence}: let several agents write them at once");
        Finding::warn("hot files", sentence, "coord policy suggest --write")
    });
    hubs.into_iter().chain(hot).collect()
}

/// Whether the policy file of the repository lists the shared files.
fn has_shared_list(working_copy: &WorkingCopy) -> bool {
    let content = RootedPath::new(working_copy.root(), PATH).read(MAX_BYTES as u64);
    let content = content.ok().flatten();
    let file = content.and_then(|content| PolicyFile::parse(&content).ok());
    file.is_some_and(|file| file.shared.is_some())
}
