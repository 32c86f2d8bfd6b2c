//! Groups files by their working copies. The folder of the file decides, not that of the agent: an agent can edit in
//! several worktrees.

use std::path::{Path, PathBuf};

use coord_domain::FilePath;
use coord_git::{WorkingCopy, without_symbolic_links};
use coord_protocol::bounds;

pub(super) struct WorkingCopyFiles {
    pub(super) working_copy: WorkingCopy,
    /// The files that others can see, by their paths in the repository. Empty if nobody else can see the written files.
    pub(super) files: Vec<String>,
    /// Files whose names cannot be locked: they are written without a lock.
    pub(super) unlockable: Vec<PathBuf>,
}

impl WorkingCopyFiles {
    pub(super) fn new(working_copy: WorkingCopy, files: Vec<String>) -> WorkingCopyFiles {
        WorkingCopyFiles {
            working_copy,
            files,
            unlockable: Vec::new(),
        }
    }

    /// The path on disk of `file`, a path of the repository.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.working_copy.root().join(file)
    }
}

/// Groups `paths`, which are absolute, by their working copies. Files outside of working copies, files in git's own
/// folder and ignored files are left out. A folder stands for the tracked files in it.
///
/// # Errors
/// A sentence, when git does not trust a repository, or a folder has too many files.
pub(super) fn group(paths: &[PathBuf]) -> Result<Vec<WorkingCopyFiles>, String> {
    let mut copies: Vec<WorkingCopyFiles> = Vec::new();
    for path in paths {
        let path = without_symbolic_links(path);
        if path.iter().any(|name| name.eq_ignore_ascii_case(".git")) {
            continue;
        }
        let position = copies
            .iter()
            .position(|copy| is_inside(&path, copy.working_copy.root()));
        let index = match position {
            Some(index) => index,
            None => match WorkingCopy::find(&path).map_err(|error| error.to_string())? {
                None => continue,
                Some(working_copy) => {
                    copies.push(WorkingCopyFiles::new(working_copy, Vec::new()));
                    copies.len() - 1
                }
            },
        };
        let copy = &mut copies[index];
        let Some(files) = files_at(&copy.working_copy, &path)? else {
            copy.unlockable.push(path);
            continue;
        };
        for file in files {
            if !copy.files.contains(&file) {
                copy.files.push(file);
            }
        }
    }
    Ok(copies)
}

/// Whether `path` is in the working copy at `root`, and in no repository within it.
fn is_inside(path: &Path, root: &Path) -> bool {
    let mut folders_between = path.ancestors().skip(1).take_while(|folder| *folder != root);
    path.starts_with(root) && !folders_between.any(|folder| folder.join(".git").exists())
}

/// The files that `path` stands for. `None` if its name cannot be locked.
fn files_at(working_copy: &WorkingCopy, path: &Path) -> Result<Option<Vec<String>>, String> {
    let root = working_copy.root();
    if !path.starts_with(root) {
        return Ok(Some(Vec::new()));
    }
    if let Some(folder) = working_copy.folder_path(root, path) {
        let (files, has_more) = working_copy.tracked_below(&folder, bounds::FILES);
        return match has_more {
            true => Err(format!(
                "{} has more than {} tracked files; change it in parts",
                path.display(),
                bounds::FILES
            )),
            false => Ok(Some(files.iter().map(|file| file.as_str().to_owned()).collect())),
        };
    }
    let Ok(file): Result<FilePath, String> = working_copy.repo_path(root, path) else {
        return Ok(None);
    };
    if !path.exists()
        && let Some(spelling) = working_copy.spelling_in_index(file.as_str())
    {
        return Ok(Some(vec![spelling]));
    }
    match working_copy.is_ignored(&file) {
        true => Ok(Some(Vec::new())),
        false => Ok(Some(vec![file.as_str().to_owned()])),
    }
}
