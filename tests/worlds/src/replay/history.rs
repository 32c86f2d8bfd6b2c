//! The tasks: real commits of a repository, in the order of its first parents.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use coord_domain::FilePath;

use super::git::git;

/// Most files of a task. Larger commits are not one agent's task: moves of folders, formatters, imports of vendored code.
pub const MAX_FILES: usize = 60;

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    pub blob: String,
    /// Whether it is a symbolic link.
    pub is_link: bool,
}

/// The versions of a file before and after a change; none where there is no file.
pub type Change = (Option<Version>, Option<Version>);

/// A commit that an agent makes again.
#[derive(Clone, Debug)]
pub struct Task {
    pub commit: String,
    pub parent: String,
    /// Each changed file. A renamed file is two.
    pub files: BTreeMap<String, Change>,
}

impl Task {
    /// How long an agent works on it: a minute, and more the more files there are.
    pub fn length(&self) -> Duration {
        Duration::from_secs_f64(60.0 * (1.0 + (self.files.len() as f64).sqrt()))
    }
}

/// Some tasks, oldest first.
pub struct History {
    pub tasks: Vec<Task>,
    /// Commits between them that are none: without a change of a file, with more files than a task has, or with paths that cannot be claimed.
    pub left_out: usize,
}

impl History {
    /// The last `count` tasks of what `revision` names in the repository at `path`.
    pub fn read(path: &Path, revision: &str, count: usize) -> Result<History> {
        // Some are left out, so that more are read.
        let most = count.saturating_mul(2).saturating_add(100);
        let printed = git(path)
            .args(["log", "--first-parent", "--diff-merges=first-parent", "--raw", "-z"])
            .args(["--no-renames", "--no-abbrev", "--format=%x01%H %P%x00"])
            .args([format!("--max-count={most}"), revision.to_owned(), "--".to_owned()])
            .output()
            .context("git cannot be run")?;
        if !printed.status.success() {
            bail!(
                "git log {revision}: {}",
                String::from_utf8_lossy(&printed.stderr).trim()
            );
        }
        let mut history = History {
            tasks: Vec::new(),
            left_out: 0,
        };
        for commit in printed.stdout.split(|byte| *byte == 1).skip(1) {
            if history.tasks.len() == count {
                break;
            }
            match task_of(commit).context("git log printed something else than was asked for")? {
                Some(task) => history.tasks.push(task),
                None => history.left_out += 1,
            }
        }
        history.tasks.reverse();
        Ok(history)
    }

    /// The length of a task on average.
    pub fn mean_length(&self) -> Duration {
        let all: Duration = self.tasks.iter().map(Task::length).sum();
        all / u32::try_from(self.tasks.len().max(1)).unwrap_or(u32::MAX)
    }
}

/// A commit as printed: `COMMIT PARENT...`, and for each file `:MODE MODE BLOB BLOB LETTER` and the path.
fn task_of(printed: &[u8]) -> Option<Option<Task>> {
    let mut words = printed.split(|byte| *byte == 0).map(<[u8]>::trim_ascii_start);
    let mut ids = std::str::from_utf8(words.next()?).ok()?.split(' ');
    let (commit, parent) = (ids.next()?, ids.next().unwrap_or_default());
    let (mut files, mut is_playable) = (BTreeMap::new(), !parent.is_empty());
    while let Some(word) = words.next() {
        if word.is_empty() {
            continue;
        }
        let mut fields = std::str::from_utf8(word).ok()?.strip_prefix(':')?.split(' ');
        let modes = (fields.next()?, fields.next()?);
        let blobs = (fields.next()?, fields.next()?);
        let path = std::str::from_utf8(words.next()?).ok();
        let Some(path) = path.filter(|path| FilePath::parse(path).is_ok_and(|parsed| parsed.as_str() == *path)) else {
            is_playable = false;
            continue;
        };
        let change = (version(modes.0, blobs.0), version(modes.1, blobs.1));
        // The commit of another repository is not a file.
        if change != (None, None) {
            files.insert(path.to_owned(), change);
        }
    }
    let is_task = is_playable && (1..=MAX_FILES).contains(&files.len());
    Some(is_task.then(|| Task {
        commit: commit.to_owned(),
        parent: parent.to_owned(),
        files,
    }))
}

fn version(mode: &str, blob: &str) -> Option<Version> {
    matches!(mode, "100644" | "100755" | "120000").then(|| Version {
        blob: blob.to_owned(),
        is_link: mode == "120000",
    })
}
