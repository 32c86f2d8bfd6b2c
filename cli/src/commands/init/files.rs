//! Reads files, and writes several of them: all or none.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use coord_files::{EntryInfo, EntryKind, FILE_MODE, FOLDER_MODE, FileError, RootedPath, StagedFile};

use super::agents::TargetFolders;

/// The largest file that is read, in bytes.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// Permissions of a program, before the user's mask.
const PROGRAM_MODE: u32 = 0o777;

/// A file that is created, changed or deleted.
#[derive(Debug)]
pub struct Change {
    /// The path, without symbolic links.
    pub path: PathBuf,
    /// The same path below a folder, from which on no link is followed.
    pub file: RootedPath,
    /// The file's name for the user.
    pub name: String,
    /// The text before the change; `None` if there is no file.
    pub before: Option<String>,
    /// The text after the change; `None` if the file is deleted.
    pub after: Option<String>,
    /// Whether a created file is a program.
    pub is_program: bool,
}

/// The file at `path`. In a repository, anyone who can push may create links. So one link is followed, by its text, to
/// a file of the repository. Links in the user's home are the user's own, and are all followed.
///
/// # Errors
/// When a link of the repository leads out of it or leads to a folder, or a link of the user leads to nothing.
pub fn rooted_path(path: &Path, target_folders: &TargetFolders) -> anyhow::Result<RootedPath> {
    let Some(root) = &target_folders.project else {
        let real = real_path(path)?;
        // Missing folders will be created below the nearest existing one.
        let existing = real.ancestors().skip(1).find(|folder| folder.is_dir());
        let below = existing.and_then(|folder| Some(RootedPath::new(folder, real.strip_prefix(folder).ok()?)));
        return Ok(below.unwrap_or_else(|| RootedPath::beside(&real)));
    };
    let below = |root: &Path, folder: &Path| Some(RootedPath::new(folder, path.strip_prefix(root).ok()?));
    let of_git = target_folders.git_folder.as_ref();
    let of_git = of_git.and_then(|folder| below(folder, folder).or_else(|| below(&root.join(".git"), folder)));
    let of_main = target_folders
        .main_checkout
        .as_ref()
        .filter(|_| target_folders.is_of_main(path));
    let file = of_git
        .or_else(|| below(root, root))
        .or_else(|| of_main.and_then(|main| below(main, main)))
        .unwrap_or_else(|| RootedPath::beside(path));
    let is_file = |target: &RootedPath| {
        matches!(
            target.about(),
            Ok(Some(EntryInfo {
                kind: EntryKind::File,
                ..
            }))
        )
    };
    Ok(file.target()?.filter(is_file).unwrap_or(file))
}

/// `path` without symbolic links. Neither the file nor its folder has to exist.
fn real_path(path: &Path) -> anyhow::Result<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    ensure!(
        !path.is_symlink(),
        "{} is a symbolic link to a file that does not exist",
        path.display()
    );
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(real_path(folder)?.join(name)),
        _ => Ok(path.to_owned()),
    }
}

/// The text of a file; `None` if there is no file.
///
/// # Errors
/// When the file cannot be read, is too large, or is not text.
pub fn read(file: &RootedPath, name: &str) -> anyhow::Result<Option<String>> {
    let bytes = match file.read(MAX_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        // The plan makes a note of a link, and continues.
        Err(error) if error.is_link() => return Err(error.into()),
        Err(error) if error.path == file.full() => bail!("{name} {}", error.clause()),
        Err(error) => bail!("{name}: {error}"),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            bail!("{name}: line {line}: it is not UTF-8")
        }
    }
}

/// Writes and deletes all of the files. If one fails, the others are restored. Returns the folders that were created.
///
/// # Errors
/// When a file cannot be written, or was changed since it was read.
pub fn write(changes: &[&Change], target_folders: &TargetFolders) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    let result = write_all(changes, &mut folders);
    if result.is_err() {
        remove_empty(folders.iter(), target_folders);
    }
    result.map(|()| folders)
}

/// Removes the empty ones of `folders`, and returns them. For a repository, only folders inside it are removed: the
/// record may have come with an archive.
pub fn remove_empty<'a>(
    folders: impl DoubleEndedIterator<Item = &'a PathBuf>,
    target_folders: &TargetFolders,
) -> Vec<PathBuf> {
    let roots = [
        &target_folders.project,
        &target_folders.git_folder,
        &target_folders.main_checkout,
    ];
    let is_inside = |folder: &Path| {
        target_folders.project.is_none()
            || roots
                .iter()
                .any(|root| root.as_ref().is_some_and(|root| folder.starts_with(root)))
    };
    let is_removed = |folder: &&PathBuf| {
        is_inside(folder) && rooted_path(folder, target_folders).is_ok_and(|folder| folder.remove_folder().is_ok())
    };
    let removed = folders.rev().filter(is_removed);
    removed.cloned().collect()
}

/// Stages all files, checks that none was changed meanwhile, and then replaces them.
fn write_all(changes: &[&Change], folders: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let mut staged = Vec::new();
    for change in changes {
        let file = match &change.after {
            Some(text) => {
                Some(stage(change, text, folders).with_context(|| format!("{} cannot be written", change.name))?)
            }
            None => None,
        };
        staged.push((*change, file));
    }
    for change in changes {
        let is_unchanged = read(&change.file, &change.name)? == change.before;
        ensure!(
            is_unchanged,
            "{} was changed meanwhile; nothing was written, run it again",
            change.name
        );
    }
    let mut written: Vec<&Change> = Vec::new();
    for (change, file) in staged {
        let result = match file {
            Some(file) => file.replace(),
            None => change.file.remove().map(drop),
        };
        if let Err(error) = result {
            for change in written {
                restore(change)?;
            }
            return Err(error).with_context(|| format!("{} cannot be written; nothing was", change.name));
        }
        written.push(change);
    }
    Ok(())
}

/// Writes the text to a file beside the one that it will replace.
fn stage(change: &Change, text: &str, folders: &mut Vec<PathBuf>) -> Result<StagedFile, FileError> {
    folders.extend(change.file.create_parents(FOLDER_MODE)?);
    let mode = if change.is_program { PROGRAM_MODE } else { FILE_MODE };
    change.file.stage(text.as_bytes(), mode, None)
}

fn restore(change: &Change) -> anyhow::Result<()> {
    let result = match &change.before {
        Some(text) => stage(change, text, &mut Vec::new()).and_then(StagedFile::replace),
        None => change.file.remove().map(drop),
    };
    result.with_context(|| format!("{} was written and cannot be restored", change.name))
}
