//! The working copies that files are in. A file counts where it is, not where the agent is: an agent edits in several worktrees.

use std::path::{Path, PathBuf};

use coord_domain::FilePath;
use coord_git::{WorkingCopy, without_symbolic_links};
use coord_protocol::bounds;

/// Files of one working copy.
pub(super) struct CopyFiles {
    pub(super) working_copy: WorkingCopy,
    /// Its files that others can see, by their paths in the repository. Empty if no one else can see the written files.
    pub(super) files: Vec<String>,
    /// Names that no lock can have: they are written without one.
    pub(super) unlockable: Vec<PathBuf>,
}

impl CopyFiles {
    pub(super) fn new(working_copy: WorkingCopy, files: Vec<String>) -> CopyFiles {
        CopyFiles {
            working_copy,
            files,
            unlockable: Vec::new(),
        }
    }

    /// `file`, a path of the repository, on disk.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.working_copy.root().join(file)
    }
}

/// `paths`, which are absolute, by the working copies that they are in. Files in none, in git's own folder, and those that git
/// ignores are left out; a folder stands for the tracked files in it.
///
/// # Errors
/// A sentence, when git does not trust a repository, or a folder has too many files.
pub(super) fn of(paths: &[PathBuf]) -> Result<Vec<CopyFiles>, String> {
    let mut places: Vec<CopyFiles> = Vec::new();
    for path in paths {
        let path = without_symbolic_links(path);
        if is_of_git(&path) {
            continue;
        }
        let known = places
            .iter()
            .position(|place| is_inside(&path, place.working_copy.root()));
        let place = match known {
            Some(place) => &mut places[place],
            None => match WorkingCopy::find(&path).map_err(|error| error.to_string())? {
                None => continue,
                Some(working_copy) => {
                    places.push(CopyFiles::new(working_copy, Vec::new()));
                    places.last_mut().ok_or("there is no place")?
                }
            },
        };
        let Some(files) = files(&place.working_copy, &path)? else {
            place.unlockable.push(path);
            continue;
        };
        for file in files {
            if !place.files.contains(&file) {
                place.files.push(file);
            }
        }
    }
    Ok(places)
}

/// Whether `path` is in the working copy at `root`, and in no repository within it.
fn is_inside(path: &Path, root: &Path) -> bool {
    let between = path.ancestors().skip(1).take_while(|folder| *folder != root);
    path.starts_with(root) && !between.into_iter().any(|folder| folder.join(".git").exists())
}

fn is_of_git(path: &Path) -> bool {
    path.iter().any(|name| name.eq_ignore_ascii_case(".git"))
}

/// The files that `path` stands for. `None` where it has a name that Coord does not take.
fn files(working_copy: &WorkingCopy, path: &Path) -> Result<Option<Vec<String>>, String> {
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
        && let Some(known) = working_copy.spelled(file.as_str())
    {
        return Ok(Some(vec![known]));
    }
    match working_copy.is_ignored(&file) {
        true => Ok(Some(Vec::new())),
        false => Ok(Some(vec![file.as_str().to_owned()])),
    }
}
