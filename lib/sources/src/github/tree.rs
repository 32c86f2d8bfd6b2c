//! All files of a commit. GitHub returns a tree in full up to 100,000 entries or 7 MB. A larger one is `truncated`, and
//! is read folder by folder.

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde::Deserialize;

use super::address::Slug;
use super::client::{Client, FetchOutcome, RepositoryRequest};
use super::error::GithubError;
use super::transport::within;
use crate::{EntryKind, TreeEntry};
use coord_domain::{CommitSha, FilePath};

/// Maximum number of concurrent requests for folders. GitHub recommends few.
const MAX_CONCURRENT: usize = 4;

/// A file as GitHub lists it.
#[derive(Debug)]
pub(super) struct ListedFile {
    pub(super) entry: TreeEntry,
    /// Bytes; 0 for a submodule.
    pub(super) size: u64,
}

#[derive(Debug, Deserialize)]
struct TreeResponse {
    tree: Vec<Entry>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Debug, Deserialize)]
struct Entry {
    path: String,
    mode: String,
    sha: String,
    size: Option<u64>,
}

/// A folder that is to be read.
struct Folder {
    /// Its path with a slash, or empty for the root.
    prefix: String,
    id: String,
    is_recursive: bool,
}

/// All files of `commit`, sorted by the bytes of their paths. Leaves out the same entries as the local source, and logs
/// their number.
pub(super) async fn tree(client: &Client, slug: &Slug, commit: &CommitSha) -> Result<Vec<ListedFile>, GithubError> {
    within(client.transport.limits.large, "tree", walk(client, slug, commit)).await
}

async fn walk(client: &Client, slug: &Slug, commit: &CommitSha) -> Result<Vec<ListedFile>, GithubError> {
    let limits = &client.transport.limits;
    let mut folders = vec![Folder {
        prefix: String::new(),
        id: commit.as_str().to_owned(),
        is_recursive: true,
    }];
    let mut running = FuturesUnordered::new();
    let mut requests = 0;
    let mut files = Files::default();
    loop {
        while running.len() < MAX_CONCURRENT
            && let Some(folder) = folders.pop()
        {
            requests += 1;
            if requests > limits.tree_requests {
                return Err(GithubError::TooLarge {
                    subject: "a tree, in requests,",
                    limit: limits.tree_requests as u64,
                });
            }
            running.push(fetch(client, slug, folder));
        }
        let Some(result) = running.next().await else { break };
        let (folder, response) = result?;
        if response.truncated && folder.is_recursive {
            folders.push(Folder {
                is_recursive: false,
                ..folder
            });
            continue;
        }
        if response.truncated {
            return Err(GithubError::TooLarge {
                subject: "a folder, in entries,",
                limit: response.tree.len() as u64,
            });
        }
        for entry in response.tree {
            files.entry_count += 1;
            if files.entry_count > limits.tree_entries {
                return Err(GithubError::TooLarge {
                    subject: "a tree, in entries,",
                    limit: limits.tree_entries as u64,
                });
            }
            if files.path_bytes > limits.tree_path_bytes {
                return Err(GithubError::TooLarge {
                    subject: "a tree, in bytes of paths,",
                    limit: limits.tree_path_bytes as u64,
                });
            }
            match (entry.mode.as_str(), folder.is_recursive) {
                ("040000" | "40000", true) => {}
                ("040000" | "40000", false) => {
                    if let Some(path) = files.checked_path(&folder.prefix, &entry.path) {
                        folders.push(Folder {
                            prefix: path + "/",
                            id: entry.sha,
                            is_recursive: true,
                        });
                    }
                }
                _ => files.add(&folder.prefix, entry),
            }
        }
    }
    if files.left_out > 0 {
        tracing::warn!(%slug, %commit, left_out = files.left_out, "some files have names that cannot be served");
    }
    let mut listed = files.listed;
    listed.sort_by(|left, right| left.entry.path.cmp(&right.entry.path));
    listed.dedup_by(|later, earlier| later.entry.path == earlier.entry.path);
    Ok(listed)
}

async fn fetch(client: &Client, slug: &Slug, folder: Folder) -> Result<(Folder, TreeResponse), GithubError> {
    // An id comes from GitHub; as one path segment it cannot lead elsewhere.
    let path = ["git", "trees", folder.id.as_str()];
    let recursive = [("recursive", "1")];
    let request = RepositoryRequest {
        query: if folder.is_recursive { &recursive } else { &[] },
        time_limit: client.transport.limits.large,
        ..client.small_request(&path, &[])
    };
    let FetchOutcome::Body(body, _) = client.fetch(slug, &request).await? else {
        return Err(GithubError::Unexpected(304));
    };
    // The JSON may have megabytes.
    let decoding = tokio::task::spawn_blocking(move || decode(&body));
    let response = decoding
        .await
        .map_err(|error| GithubError::Malformed(format!("a tree could not be decoded: {error}")))??;
    Ok((folder, response))
}

fn decode(body: &[u8]) -> Result<TreeResponse, GithubError> {
    serde_json::from_slice(body).map_err(|error| GithubError::Malformed(format!("a tree: {error}")))
}

#[derive(Default)]
struct Files {
    listed: Vec<ListedFile>,
    entry_count: usize,
    /// Bytes of the paths of files, and of folders that are to be read.
    path_bytes: usize,
    left_out: usize,
}

impl Files {
    fn add(&mut self, prefix: &str, entry: Entry) {
        let kind = match entry.mode.as_str() {
            "100644" | "100755" | "100664" => EntryKind::File,
            "120000" => EntryKind::Symlink,
            "160000" => EntryKind::Submodule,
            _ => {
                self.left_out += 1;
                return;
            }
        };
        if let Some(path) = self.checked_path(prefix, &entry.path) {
            self.listed.push(ListedFile {
                entry: TreeEntry {
                    path,
                    blob: entry.sha,
                    kind,
                },
                size: entry.size.unwrap_or(0),
            });
        }
    }

    /// The full path, unless no file can have it. JSON has U+FFFD for bytes that are not UTF-8.
    fn checked_path(&mut self, prefix: &str, name: &str) -> Option<String> {
        let is_component = |component: &str| !matches!(component, "" | "." | "..");
        let is_valid = prefix.len() + name.len() <= FilePath::MAX_BYTES
            && !name.contains(['\0', char::REPLACEMENT_CHARACTER])
            && name.split('/').all(is_component);
        if !is_valid {
            self.left_out += 1;
            return None;
        }
        self.path_bytes += prefix.len() + name.len();
        Some(format!("{prefix}{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(json: &str) -> (Vec<(String, EntryKind)>, usize) {
        let mut files = Files::default();
        for entry in decode(json.as_bytes()).unwrap().tree {
            files.add("", entry);
        }
        let listed = files.listed.into_iter();
        (
            listed.map(|file| (file.entry.path, file.entry.kind)).collect(),
            files.left_out,
        )
    }

    #[test]
    fn modes_are_kinds_and_names_that_no_file_can_have_are_left_out() {
        let entry = |mode: &str, path: &str| format!(r#"{{"path":{path:?},"mode":"{mode}","type":"x","sha":"0"}}"#);
        let entries = [
            entry("100644", "a"),
            entry("100755", "b/c"),
            entry("120000", "d"),
            entry("160000", "e"),
            entry("100644", "../f"),
            entry("100644", "/f"),
            entry("100644", "f/"),
            entry("100644", "f/./g"),
            entry("100644", ""),
            entry("100644", "f\u{fffd}"),
            entry("123456", "g"),
            entry("100644", &"h".repeat(FilePath::MAX_BYTES + 1)),
        ];
        let (listed, left_out) = files(&format!(r#"{{"tree":[{}]}}"#, entries.join(",")));
        let expected = [
            ("a", EntryKind::File),
            ("b/c", EntryKind::File),
            ("d", EntryKind::Symlink),
            ("e", EntryKind::Submodule),
        ];
        assert_eq!(listed, expected.map(|(path, kind)| (path.to_owned(), kind)));
        assert_eq!(left_out, 8);
    }
}
