//! `.coord.toml` and `.gitattributes` of the head of a branch, in the form in which they are stored with the graph.

use std::collections::HashSet;

use coord_settings::policy::file::{MAX_BYTES, PolicyFile};
use coord_settings::policy::{ATTRIBUTES, Attributes, FileKind, PATH, Policy, PolicyText, STEPS_OF_TREE};
use coord_sources::{EntryKind, Source, SourceError, TreeEntry};
use coord_state::builds::stored_policy;
use coord_store::Store;

use super::error::BuildError;
use super::job::Job;
use super::tree_files::{Content, find_entry, read_contents};

/// Maximum `.gitattributes` files that are read: those nearest to the root.
const MAX_ATTRIBUTES_FILES: usize = 64;

/// The policy of a commit, its tree, and the files without neighbors by that policy.
pub(super) struct LoadedPolicy {
    pub policy: PolicyText,
    pub tree: Vec<TreeEntry>,
    /// The files of the tree that have no neighbors.
    pub without_neighbors: HashSet<String>,
}

/// Reads the policy of a job's commit from the files of `tree`. `last` is the policy of an earlier build in this
/// process; without it, the last policy comes from the store.
///
/// # Errors
/// When the source or the store does not respond.
pub(super) async fn load(
    store: &dyn Store,
    source: &dyn Source,
    job: Job<'_>,
    tree: Vec<TreeEntry>,
    last: Option<&PolicyText>,
) -> Result<LoadedPolicy, BuildError> {
    let files = policy_files(&tree);
    if files.is_empty() {
        let text = PolicyText::default();
        return choose_fast_policy(vec![text], tree).await;
    }
    let last = match last {
        Some(last) => last.clone(),
        None => PolicyText::from_stored(&stored_policy(store, job.repo, job.branch).await?.1),
    };
    let sources: String = files
        .iter()
        .map(|file| format!("{} {}\n", file.path, file.blob))
        .collect();
    if last.sources == sources {
        return choose_fast_policy(vec![last.clone(), without_patterns(last)], tree).await;
    }
    let contents = read_contents(source, job.repo, &files, MAX_BYTES).await?;
    let text = parse_policy(&files, contents, &last.file, sources);
    let last_text = PolicyText {
        file: last.file,
        problem: Some(too_slow()),
        ..text.clone()
    };
    let no_patterns = without_patterns(last_text.clone());
    choose_fast_policy(vec![text, last_text, no_patterns], tree).await
}

/// The fields of the graph's hash with a policy, and their values. Without the files of the policy, there are none.
pub(super) fn fields(policy: &PolicyText) -> impl Iterator<Item = (&'static str, String)> {
    let stored = policy.to_stored().into_iter();
    stored.flat_map(|(text, digest)| [("policy", text), ("policy_digest", digest)])
}

fn too_slow() -> String {
    format!("{PATH}:1:1: its patterns take too long for the files of the repository; write them with fewer wildcards")
}

/// The same policy without its patterns, which are all that can be slow.
fn without_patterns(text: PolicyText) -> PolicyText {
    PolicyText {
        file: PolicyFile {
            shared: None,
            ignore: Vec::new(),
            ..text.file
        },
        union: Vec::new(),
        generated: Vec::new(),
        problem: Some(too_slow()),
        sources: text.sources,
    }
}

/// The files that a policy consists of: `.coord.toml`, then `.gitattributes` files from the root down.
fn policy_files(tree: &[TreeEntry]) -> Vec<TreeEntry> {
    let is_attributes = |path: &str| path.rsplit_once('/').map_or(path, |(_, name)| name) == ATTRIBUTES;
    let mut files: Vec<TreeEntry> = tree
        .iter()
        .filter(|entry| is_attributes(&entry.path) && entry.kind == EntryKind::File)
        .cloned()
        .collect();
    files.sort_by_key(|file| (file.path.matches('/').count(), file.path.clone()));
    files.truncate(MAX_ATTRIBUTES_FILES);
    if let Some(policy) = find_entry(tree, PATH) {
        files.insert(0, policy.clone());
    }
    files
}

/// The policy in the files. `last` is the last valid policy.
fn parse_policy(files: &[TreeEntry], contents: Vec<Content>, last: &PolicyFile, sources: String) -> PolicyText {
    let mut text = PolicyText {
        sources,
        ..PolicyText::default()
    };
    let mut attributes = Attributes::default();
    let mut problems = Vec::new();
    for (file, content) in files.iter().zip(contents) {
        let path = &file.path;
        match content {
            Ok(content) if path == PATH => match PolicyFile::parse(&content) {
                Ok(file) => text.file = file,
                Err(problem) => {
                    text.file = last.clone();
                    problems.push(format!("{PATH}:{problem}"));
                }
            },
            Ok(content) => attributes.add(
                path.strip_suffix(ATTRIBUTES).unwrap_or(path).trim_end_matches('/'),
                &content,
            ),
            Err(why) => {
                if path == PATH {
                    text.file = last.clone();
                }
                problems.push(format!("{path}:1:1: {why}"));
            }
        }
    }
    if attributes.is_cut {
        problems.push(format!(
            "{ATTRIBUTES}:1:1: its lines about merging are too many or too long; the rest is ignored"
        ));
    }
    (text.union, text.generated) = (attributes.union, attributes.generated);
    text.problem = problems.into_iter().next();
    text
}

/// The first of `texts` whose patterns are fast enough for `tree`; the last one has no patterns.
async fn choose_fast_policy(texts: Vec<PolicyText>, tree: Vec<TreeEntry>) -> Result<LoadedPolicy, BuildError> {
    let choose = move || {
        let mut without_neighbors = HashSet::new();
        let mut chosen = PolicyText::default();
        for text in texts {
            chosen = text;
            if let Some(files) = files_without_neighbors(&chosen, &tree) {
                without_neighbors = files;
                break;
            }
        }
        LoadedPolicy {
            policy: chosen,
            tree,
            without_neighbors,
        }
    };
    let chosen = tokio::task::spawn_blocking(choose).await;
    chosen.map_err(|error| SourceError::Unreachable(format!("the policy could not be computed: {error}")).into())
}

/// The files of `tree` that are shared or ignored. `None` if the patterns take too long.
fn files_without_neighbors(text: &PolicyText, tree: &[TreeEntry]) -> Option<HashSet<String>> {
    let policy = Policy::of(text.clone());
    let mut judge = policy.judge_within(STEPS_OF_TREE);
    let mut files = HashSet::new();
    for entry in tree {
        if judge.kind(&entry.path) != FileKind::Plain {
            files.insert(entry.path.clone());
        }
    }
    (!judge.is_exhausted()).then_some(files)
}
