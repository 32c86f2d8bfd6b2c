//! Files of a tree, found by their paths, and read.

use std::sync::{Arc, Mutex};

use coord_domain::RepoId;
use coord_runtime::mutex::lock;
use coord_sources::{Blob, BlobSink, EntryKind, Source, SourceError, TreeEntry};

/// The content of a file, or why it cannot be read.
pub(super) type Content = Result<Vec<u8>, String>;

/// The entry of `path` in `tree`, which is sorted by path.
pub(super) fn find_entry<'t>(tree: &'t [TreeEntry], path: &str) -> Option<&'t TreeEntry> {
    let index = tree.binary_search_by(|entry| entry.path.as_str().cmp(path));
    index.ok().and_then(|index| tree.get(index))
}

/// The contents of `files`, in their order. A file of more than `max_bytes` is not read.
pub(super) async fn read_contents(
    source: &dyn Source,
    repo: &RepoId,
    files: &[TreeEntry],
    max_bytes: usize,
) -> Result<Vec<Content>, SourceError> {
    let mut contents: Vec<Content> = vec![Err("it is missing or damaged".to_owned()); files.len()];
    let mut regular_files = Vec::new();
    for (index, file) in files.iter().enumerate() {
        match file.kind {
            EntryKind::File => regular_files.push(index),
            _ => contents[index] = Err("it is not a regular file".to_owned()),
        }
    }
    let blobs = regular_files.iter().map(|index| files[*index].blob.clone()).collect();
    let contents = Arc::new(Mutex::new(contents));
    let sink: BlobSink = {
        let contents = Arc::clone(&contents);
        Arc::new(move |number, blob: Blob<'_>| {
            let content = match blob {
                Blob::Content(content) => Ok(content.to_vec()),
                Blob::TooLarge(bytes) => Err(format!("it has {bytes} bytes; at most {max_bytes} are allowed")),
                Blob::Unreadable => return,
            };
            let mut contents = lock(&contents);
            let index = regular_files.get(number);
            if let Some(slot) = index.and_then(|index| contents.get_mut(*index)) {
                *slot = content;
            }
        })
    };
    source.read_blobs(repo, blobs, max_bytes as u64, sink).await?;
    let contents = lock(&contents);
    Ok(contents.clone())
}
