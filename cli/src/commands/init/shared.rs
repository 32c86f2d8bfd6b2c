//! The written files that others get: those that git ignores stay on this machine, and other worktrees do not have them.

use coord_git::WorkingCopy;

use super::agents::TargetFolders;
use super::plan::Plan;

/// Most files that a sentence names.
const MOST: usize = 12;

/// The files of the repository that others get by a commit, and those that git ignores, from the root of the working copy.
pub struct CommittedFiles {
    pub committed: Vec<String>,
    /// Those that git ignores.
    pub ignored: Vec<String>,
}

/// Which of the files that the plan has looked at are shared.
pub fn shared(plan: &Plan, places: &TargetFolders, working_copy: &WorkingCopy) -> CommittedFiles {
    let in_git = |path: &std::path::Path| {
        places
            .git_folder
            .as_ref()
            .is_some_and(|folder| path.starts_with(folder))
    };
    let files = plan.paths().filter(|path| !in_git(path));
    let files = files.filter_map(|path| working_copy.repo_path(working_copy.root(), path).ok());
    let (ignored, committed): (Vec<_>, Vec<_>) = files.partition(|path| working_copy.is_ignored(path));
    let names = |paths: Vec<coord_domain::FilePath>| {
        let mut names: Vec<String> = paths.iter().map(|path| path.as_str().to_owned()).collect();
        names.sort();
        names
    };
    CommittedFiles {
        committed: names(committed),
        ignored: names(ignored),
    }
}

impl CommittedFiles {
    /// The consequence of files that git ignores.
    pub fn note(&self) -> Option<String> {
        (!self.ignored.is_empty()).then(|| {
            format!(
                "git ignores {}: other worktrees and your teammates do not get {}. Share them with `git add -f {}`, or write your own files \
                 for all repositories with `coord init --user`",
                list_names(&self.ignored),
                if self.ignored.len() == 1 { "it" } else { "them" },
                self.ignored.join(" ")
            )
        })
    }
}

/// The first names, and how many more there are.
pub fn list_names(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST);
    let first = names[..names.len() - more].join(", ");
    match more {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
