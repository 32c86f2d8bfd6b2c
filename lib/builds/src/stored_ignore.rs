//! `.intentignore` of the head of a branch, in the form in which it is stored with the graph.

use std::sync::{Arc, Mutex, PoisonError};

use coord_scopes::IntentIgnore;
use sha2::{Digest, Sha256};

use coord_domain::RepoId;
use coord_sources::{Blob, BlobSink, EntryKind, Source, SourceError, TreeEntry};

/// The path of the file.
const PATH: &str = ".intentignore";

/// How the digest of a file begins that is there and cannot be read; the reason follows.
const UNREADABLE: &str = "unreadable: ";

/// An `.intentignore` as stored: two fields of the graph's hash. Without the file there is neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIgnore {
    /// The id of the blob that it was read from.
    blob: String,
    /// SHA-256 of the text, or why there is none.
    digest: String,
    text: String,
}

impl StoredIgnore {
    /// Reads the file of `tree`; none where there is no file. `last` is that of an earlier build, which is not read again.
    ///
    /// # Errors
    /// When the source does not respond.
    pub(super) async fn read(
        source: &dyn Source,
        repo: &RepoId,
        tree: &[TreeEntry],
        last: Option<&StoredIgnore>,
    ) -> Result<Option<Self>, SourceError> {
        let found = tree.binary_search_by(|entry| entry.path.as_str().cmp(PATH));
        let Some(entry) = found.ok().and_then(|place| tree.get(place)) else {
            return Ok(None);
        };
        let of = |text: Result<String, String>| {
            let (digest, text) = match text {
                Ok(text) => (format!("{:x}", Sha256::digest(&text)), text),
                Err(why) => (format!("{UNREADABLE}{why}"), String::new()),
            };
            let blob = entry.blob.clone();
            Ok(Some(StoredIgnore { blob, digest, text }))
        };
        if entry.kind != EntryKind::File {
            return of(Err("it is no regular file".to_owned()));
        }
        if let Some(last) = last.filter(|last| last.blob == entry.blob) {
            return Ok(Some(last.clone()));
        }
        let read = Arc::new(Mutex::new(Err("it is missing, or damaged".to_owned())));
        let sink: BlobSink = {
            let read = Arc::clone(&read);
            Arc::new(move |_, blob: Blob<'_>| {
                let text = match blob {
                    // No path of a lock has other bytes, so nothing is lost that a pattern could match.
                    Blob::Content(content) => Ok(String::from_utf8_lossy(content).into_owned()),
                    Blob::TooLarge(bytes) => Err(format!(
                        "it has {bytes} bytes; at most {} are allowed",
                        IntentIgnore::MAX_BYTES
                    )),
                    Blob::Unreadable => return,
                };
                *read.lock().unwrap_or_else(PoisonError::into_inner) = text;
            })
        };
        let blobs = vec![entry.blob.clone()];
        source
            .read_blobs(repo, blobs, IntentIgnore::MAX_BYTES as u64, sink)
            .await?;
        let text = read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        of(text)
    }

    /// The fields of the graph's hash, with their values.
    pub(super) fn fields(&self) -> [(&'static str, String); 2] {
        [("ignore", self.text.clone()), ("ignore_digest", self.digest.clone())]
    }

    /// The rules in such fields; an empty digest stands for no file.
    pub fn rules(digest: &str, text: &str) -> IntentIgnore {
        match digest.strip_prefix(UNREADABLE) {
            Some(why) => IntentIgnore::unreadable(why),
            None if digest.is_empty() => IntentIgnore::none(),
            None => IntentIgnore::parse(text.as_bytes()),
        }
    }
}
