//! By which commit a file came to its content.

use std::fmt;
use std::path::Path;

use anyhow::Context;
use coord_agent::terminal::output::short;
use coord_agent::{contents, git};
use coord_intents::ledger::{ContentHash, Trailers};
use coord_protocol::plain_text::quoted_line;
use serde::Serialize;

/// The commit that brought a content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    pub commit: String,
    /// The name of its author.
    pub author: String,
    /// The intents that it names.
    pub intents: Vec<String>,
}

impl Origin {
    /// Whether it names `intent`.
    pub fn has(&self, intent: Option<&String>) -> bool {
        intent.is_some_and(|intent| self.intents.contains(intent))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} by {}", short(&self.commit), quoted_line(&self.author))?;
        self.intents.iter().try_for_each(|intent| write!(out, ", {intent}"))
    }
}

/// The last commit of `revision`, or of the checkout, that changed `file`, if `hash` is its result. A content that is not
/// committed yet has no origin.
///
/// # Errors
/// When git fails.
pub(super) async fn origin(
    root: &Path,
    revision: Option<&str>,
    file: &str,
    hash: ContentHash,
) -> anyhow::Result<Option<Origin>> {
    let file = file.trim_start_matches("./");
    let revision = revision.unwrap_or("HEAD");
    let arguments = ["--literal-pathspecs", "log", "-1", "--format=%H", revision, "--", file];
    // Before the first commit there is no HEAD.
    let Ok(listed) = git::output(root, arguments).await else {
        return Ok(None);
    };
    let commit = String::from_utf8_lossy(&listed).trim().to_owned();
    if commit.is_empty() {
        return Ok(None);
    }
    let files = [file.to_owned()];
    let committed = contents::of_revision(root, &commit, &files)?;
    match committed.get(file) == Some(&hash) {
        true => of_commit(root, &commit).await.map(Some),
        false => Ok(None),
    }
}

/// The intents that `commit` names.
///
/// # Errors
/// When git fails.
pub async fn of_commit(root: &Path, commit: &str) -> anyhow::Result<Origin> {
    let shown = git::output(root, ["log", "-1", "--format=%H%n%an%n%B", commit]).await?;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let mut lines = shown.splitn(3, '\n');
    let mut line = || {
        lines
            .next()
            .map(str::to_owned)
            .context("git says nothing of the commit")
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
        let of = async |revision, content| origin(repo.path(), revision, "a[b].txt", content).await.unwrap();
        assert_eq!(of(None, hash("one")).await, None, "there is no commit");
        let first = repo.commit(&[("a[b].txt", "one")]);
        std::fs::write(repo.path().join("a[b].txt"), "two").unwrap();
        repo.git(&[
            "commit",
            "--all",
            "--quiet",
            "--message",
            "Two\n\nCoord-Intent: INT-001",
        ]);
        let found = of(None, hash("two")).await.unwrap();
        assert_eq!(
            (found.author.as_str(), found.intents),
            ("Ada", vec!["INT-001".to_owned()])
        );
        assert_eq!(of(None, hash("one")).await, None, "it is not the last one's");
        assert_eq!(of(Some(&first), hash("one")).await.unwrap().commit, first);
        repo.git(&["rm", "--quiet", "a[b].txt"]);
        repo.git(&["commit", "--quiet", "--message", "Delete"]);
        assert!(
            of(None, ContentHash::Deleted).await.is_some(),
            "a deletion has its commit, too"
        );
    }
}
