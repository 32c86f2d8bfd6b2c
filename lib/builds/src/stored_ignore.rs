//! `.intentignore` of the head of a branch, in the form in which it is stored with the graph.

use std::sync::{Arc, Mutex, PoisonError};

use coord_scopes::IntentIgnore;
use sha2::{Digest, Sha256};

use coord_domain::RepoId;
use coord_sources::{Blob, BlobSink, EntryKind, Source, SourceError, TreeEntry};

const PATH: &str = ".intentignore";

/// The prefix of the digest if the file exists but cannot be read; the reason follows.
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
    /// Reads the file of `tree`; `None` if there is no file. `last` is from an earlier build; if its blob is the same,
    /// the file is not read again.
    ///
    /// # Errors
    /// When the source does not respond.
    pub(super) async fn read(
        source: &dyn Source,
        repo: &RepoId,
        tree: &[TreeEntry],
        last: Option<&StoredIgnore>,
    ) -> Result<Option<Self>, SourceError> {
        let index = tree.binary_search_by(|entry| entry.path.as_str().cmp(PATH));
        let Some(entry) = index.ok().and_then(|index| tree.get(index)) else {
            return Ok(None);
        };
        let stored_ignore = |text: Result<String, String>| {
            let (digest, text) = match text {
                Ok(text) => (format!("{:x}", Sha256::digest(&text)), text),
                Err(why) => (format!("{UNREADABLE}{why}"), String::new()),
            };
            let blob = entry.blob.clone();
            StoredIgnore { blob, digest, text }
        };
        if entry.kind != EntryKind::File {
            return Ok(Some(stored_ignore(Err("it is no regular file".to_owned()))));
        }
        if let Some(last) = last.filter(|last| last.blob == entry.blob) {
            return Ok(Some(last.clone()));
        }
        let text = Arc::new(Mutex::new(Err("it is missing, or damaged".to_owned())));
        let sink: BlobSink = {
            let text = Arc::clone(&text);
            Arc::new(move |_, blob: Blob<'_>| {
                let result = match blob {
                    // The path of a lock is always UTF-8, so a pattern with other bytes cannot match one.
                    Blob::Content(content) => Ok(String::from_utf8_lossy(content).into_owned()),
                    Blob::TooLarge(bytes) => Err(format!(
                        "it has {bytes} bytes; at most {} are allowed",
                        IntentIgnore::MAX_BYTES
                    )),
                    Blob::Unreadable => return,
                };
                *text.lock().unwrap_or_else(PoisonError::into_inner) = result;
            })
        };
        let blobs = vec![entry.blob.clone()];
        source
            .read_blobs(repo, blobs, IntentIgnore::MAX_BYTES as u64, sink)
            .await?;
        let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Some(stored_ignore(text)))
    }

    /// The fields of the graph's hash, with their values.
    pub(super) fn fields(&self) -> [(&'static str, String); 2] {
        [("ignore", self.text.clone()), ("ignore_digest", self.digest.clone())]
    }

    /// The rules in these fields; an empty digest stands for no file.
    pub fn rules(digest: &str, text: &str) -> IntentIgnore {
        match digest.strip_prefix(UNREADABLE) {
            Some(why) => IntentIgnore::unreadable(why),
            None if digest.is_empty() => IntentIgnore::none(),
            None => IntentIgnore::parse(text.as_bytes()),
        }
    }
}
