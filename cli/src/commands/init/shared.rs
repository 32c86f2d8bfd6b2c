//! The written files of the repository that others get. Files that git ignores stay in this working copy.

use coord_domain::FilePath;
use coord_git::WorkingCopy;
use coord_protocol::sentence::list_first;

use super::agents::TargetFolders;
use super::plan::Plan;

/// The most files that a sentence names.
const MAX_NAMES: usize = 12;

/// The written files of the repository, by their paths from the root of the working copy.
pub struct SharedFiles {
    /// Others get these by a commit.
    pub committed: Vec<String>,
    /// Git ignores these.
    pub ignored: Vec<String>,
}

impl SharedFiles {
    /// The files that the plan has read, except those in git's own folder.
    pub fn of(plan: &Plan, target_folders: &TargetFolders, working_copy: &WorkingCopy) -> SharedFiles {
        let git_folder = target_folders.git_folder.as_ref();
        let files = plan
            .paths()
            .filter(|path| !git_folder.is_some_and(|folder| path.starts_with(folder)))
            .filter_map(|path| working_copy.repo_path(working_copy.root(), path).ok());
        let (ignored, committed): (Vec<_>, Vec<_>) = files.partition(|path| working_copy.is_ignored(path));
        let names = |paths: Vec<FilePath>| {
            let mut names: Vec<String> = paths.iter().map(|path| path.as_str().to_owned()).collect();
            names.sort();
            names
        };
        SharedFiles {
            committed: names(committed),
            ignored: names(ignored),
        }
    }

    /// A note about files that git ignores.
    pub fn note(&self) -> Option<String> {
        (!self.ignored.is_empty()).then(|| {
            format!(
                "git ignores {}: other worktrees and your teammates do not get {}. Share them with `git add -f {}`, or write your own files \
                 for all repositories with `coord init --user`",
                list_first(&self.ignored, MAX_NAMES),
                if self.ignored.len() == 1 { "it" } else { "them" },
                self.ignored.join(" ")
            )
        })
    }
}
