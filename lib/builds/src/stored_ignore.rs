//! `.intentignore` of the head of a branch, in the form in which it is stored with the graph.

use coord_scopes::IntentIgnore;
use sha2::{Digest, Sha256};

use super::tree_files::{Content, find_entry, read_contents};
use coord_domain::RepoId;
use coord_sources::{EntryKind, Source, SourceError, TreeEntry};

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
        let Some(entry) = find_entry(tree, PATH) else {
            return Ok(None);
        };
        let stored_ignore = |content: Content| {
            let (digest, text) = match content {
                Ok(content) => {
                    // The path of a lock is always UTF-8, so a pattern with other bytes cannot match one.
                    let text = String::from_utf8_lossy(&content).into_owned();
                    (format!("{:x}", Sha256::digest(&text)), text)
                }
                Err(why) => (format!("{UNREADABLE}{why}"), String::new()),
            };
            let blob = entry.blob.clone();
            StoredIgnore { blob, digest, text }
        };
        if entry.kind != EntryKind::File {
            return Ok(Some(stored_ignore(Err("it is not a regular file".to_owned()))));
        }
        if let Some(last) = last.filter(|last| last.blob == entry.blob) {
            return Ok(Some(last.clone()));
        }
        let files = std::slice::from_ref(entry);
        let mut contents = read_contents(source, repo, files, IntentIgnore::MAX_BYTES).await?;
        Ok(contents.pop().map(stored_ignore))
    }

    /// The fields of the graph's hash, with their values.
    pub(super) fn fields(&self) -> [(&'static str, String); 2] {
        [("ignore", self.text.clone()), ("ignore_digest", self.digest.clone())]
    }

    /// The rules in these fields; an empty digest means no file.
    pub fn rules(digest: &str, text: &str) -> IntentIgnore {
        match digest.strip_prefix(UNREADABLE) {
            Some(why) => IntentIgnore::unreadable(why),
            None if digest.is_empty() => IntentIgnore::none(),
            None => IntentIgnore::parse(text.as_bytes()),
        }
    }
}
