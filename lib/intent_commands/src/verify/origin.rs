//! The commit from which a file has its content.

use std::fmt;
use std::path::Path;

use anyhow::Context;
use coord_agent::terminal::output::short;
use coord_agent::{contents, git};
use coord_intents::ledger::{ContentHash, Trailers};
use coord_protocol::plain_text::quote_line;
use serde::Serialize;

/// A commit that changed a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    pub commit: String,
    /// The name of its author.
    pub author: String,
    /// The intents in its trailers.
    pub intents: Vec<String>,
}

impl Origin {
    /// Whether the commit names `intent`.
    pub fn names(&self, intent: Option<&String>) -> bool {
        intent.is_some_and(|intent| self.intents.contains(intent))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} by {}", short(&self.commit), quote_line(&self.author))?;
        self.intents.iter().try_for_each(|intent| write!(out, ", {intent}"))
    }
}

/// The last commit of `revision`, or of the checkout, that changed `file`, if `hash` is the content after it. A content
/// that is not committed has no origin.
///
/// # Errors
/// When git fails.
pub(super) async fn find_origin(
    root: &Path,
    revision: Option<&str>,
    file: &str,
    hash: ContentHash,
) -> anyhow::Result<Option<Origin>> {
    let file = file.trim_start_matches("./");
    let revision = revision.unwrap_or("HEAD");
    let arguments = ["--literal-pathspecs", "log", "-1", "--format=%H", revision, "--", file];
    // Before the first commit there is no HEAD.
    let Ok(output) = git::output(root, arguments).await else {
        return Ok(None);
    };
    let commit = String::from_utf8_lossy(&output).trim().to_owned();
    if commit.is_empty() {
        return Ok(None);
    }
    let files = [file.to_owned()];
    let hashes = contents::of_revision(root, &commit, &files)?;
    match hashes.get(file) == Some(&hash) {
        true => read_origin(root, &commit).await.map(Some),
        false => Ok(None),
    }
}

/// Reads the author and the intents of `commit`.
///
/// # Errors
/// When git fails.
pub async fn read_origin(root: &Path, commit: &str) -> anyhow::Result<Origin> {
    let output = git::output(root, ["log", "-1", "--format=%H%n%an%n%B", commit]).await?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let mut lines = output.splitn(3, '\n');
    let mut line = || {
        lines
            .next()
            .map(str::to_owned)
            .context("git does not describe the commit")
    };
    Ok(Origin {
        commit: line()?,
        author: line()?,
        intents: Trailers::read(&line().unwrap_or_default()).intents,
    })
}

#[cfg(test)]
mod tests {
    use coord_test_support::git::Repo;

    use super::*;

    #[tokio::test]
    async fn a_content_is_that_of_the_last_commit_or_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path().join("repo"), &[]);
        let hash = |content: &str| ContentHash::of(content.as_bytes());
        let find = async |revision, content| find_origin(repo.path(), revision, "a[b].txt", content).await.unwrap();
        assert_eq!(find(None, hash("one")).await, None, "there is no commit");
        let first = repo.commit(&[("a[b].txt", "one")]);
        std::fs::write(repo.path().join("a[b].txt"), "two").unwrap();
        repo.git(&[
            "commit",
            "--all",
            "--quiet",
            "--message",
            "Two\n\nCoord-Intent: INT-001",
        ]);
        let origin = find(None, hash("two")).await.unwrap();
        assert_eq!(
            (origin.author.as_str(), origin.intents),
            ("Ada", vec!["INT-001".to_owned()])
        );
        assert_eq!(find(None, hash("one")).await, None, "it is not the last one's");
        assert_eq!(find(Some(&first), hash("one")).await.unwrap().commit, first);
        repo.git(&["rm", "--quiet", "a[b].txt"]);
        repo.git(&["commit", "--quiet", "--message", "Delete"]);
        assert!(
            find(None, ContentHash::Deleted).await.is_some(),
            "a deletion has its commit, too"
        );
    }
}
