//! Textual conflicts: whether git could have merged two commits, had both been made at the same time.
//!
//! Of two commits the later one was made on top of the earlier one. So the earlier one is taken out of the parent of the later one, as `git
//! revert` does, and the later one is put on top of that, as `git cherry-pick` does, both by `git merge-tree`. A file conflicts in the second
//! step if both commits changed the same lines, or if one of them created or deleted it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::git::git;
use super::history::Task;

/// Finds conflicts of the commits of one repository. Each pair is merged once; git writes to a separate folder.
pub struct Conflicts {
    repository: PathBuf,
    objects: PathBuf,
    written: TempDir,
    known: HashMap<(String, String), BTreeSet<String>>,
}

/// A merge: the tree, and the files in conflict.
type Merged = (String, BTreeSet<String>);

impl Conflicts {
    pub fn of(repository: &Path) -> Result<Self> {
        let printed = git(repository)
            .args(["rev-parse", "--path-format=absolute", "--git-path", "objects"])
            .output()
            .context("git cannot be run")?;
        if !printed.status.success() {
            bail!("{}", String::from_utf8_lossy(&printed.stderr).trim());
        }
        Ok(Conflicts {
            repository: repository.to_owned(),
            objects: PathBuf::from(String::from_utf8(printed.stdout)?.trim_end()),
            written: tempfile::tempdir()?,
            known: HashMap::new(),
        })
    }

    /// The files of both in which `earlier` and `later` conflict.
    pub fn between(&mut self, earlier: &Task, later: &Task) -> Result<&BTreeSet<String>> {
        let pair = (earlier.commit.clone(), later.commit.clone());
        if !self.known.contains_key(&pair) {
            let found = self.merge(earlier, later)?;
            self.known.insert(pair.clone(), found);
        }
        self.known.get(&pair).context("the pair was merged")
    }

    fn merge(&self, earlier: &Task, later: &Task) -> Result<BTreeSet<String>> {
        let common: BTreeSet<&String> = earlier
            .files
            .keys()
            .filter(|path| later.files.contains_key(*path))
            .collect();
        if common.is_empty() {
            return Ok(BTreeSet::new());
        }
        let (without, kept) = self.merge_tree(&earlier.commit, &later.parent, &earlier.parent)?;
        let (_, mut conflicts) = self.merge_tree(&later.parent, &without, &later.commit)?;
        // A file that the earlier one made or deleted and others changed since cannot be taken out; the later one needs it.
        conflicts.extend(kept.into_iter().filter(|path| {
            let change = earlier.files.get(path);
            change.is_some_and(|(before, after)| before.is_none() || after.is_none())
        }));
        conflicts.retain(|path| common.contains(path));
        Ok(conflicts)
    }

    fn merge_tree(&self, base: &str, ours: &str, theirs: &str) -> Result<Merged> {
        let printed = git(&self.repository)
            .env("GIT_OBJECT_DIRECTORY", self.written.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.objects)
            // A file does not conflict because the folder beside it was renamed.
            .args(["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree"])
            .args(["--name-only", "--no-messages", "-z"])
            .args([&format!("--merge-base={base}"), ours, theirs])
            .output()
            .context("git cannot be run")?;
        if !matches!(printed.status.code(), Some(0 | 1)) {
            let errors = String::from_utf8_lossy(&printed.stderr);
            bail!("git merge-tree (it takes git 2.45 or later): {}", errors.trim());
        }
        let mut words = printed.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let tree = words.next().context("git merge-tree printed nothing")?.into_owned();
        Ok((
            tree,
            words
                .map(|word| word.into_owned())
                .filter(|word| !word.is_empty())
                .collect(),
        ))
    }
}
