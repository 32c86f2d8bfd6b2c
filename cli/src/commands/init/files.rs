//! Reads files, and writes several of them: all or none.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use coord_files::{EntryInfo, FILE_MODE, FOLDER_MODE, FileError, Kind, RootedPath, StagedFile};

use super::agents::TargetFolders;
use super::change::Change;

/// Largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 1024 * 1024;

/// Permissions of a program, before the user's mask.
const PROGRAM_MODE: u32 = 0o777;

/// The file that `path` stands for. In a repository, anyone who can push may create links: one is followed by its text, once, to a
/// file of the repository. In the user's home they are the user's own, and lead where they lead.
///
/// # Errors
/// When a link of the repository leads out of it or is a folder's, or a link of the user's leads to nothing.
pub fn rooted_path(path: &Path, places: &TargetFolders) -> anyhow::Result<RootedPath> {
    let Some(root) = &places.project else {
        let real = real_path(path)?;
        // Folders that are missing are made below the nearest one that is there.
        let there = real.ancestors().skip(1).find(|folder| folder.is_dir());
        let below = there.and_then(|folder| Some(RootedPath::new(folder, real.strip_prefix(folder).ok()?)));
        return Ok(below.unwrap_or_else(|| RootedPath::beside(&real)));
    };
    let below = |root: &Path, folder: &Path| Some(RootedPath::new(folder, path.strip_prefix(root).ok()?));
    let of_git = places.git_folder.as_ref();
    let of_git = of_git.and_then(|folder| below(folder, folder).or_else(|| below(&root.join(".git"), folder)));
    let of_main = places.main_checkout.as_ref().filter(|_| places.is_of_main(path));
    let file = of_git
        .or_else(|| below(root, root))
        .or_else(|| of_main.and_then(|main| below(main, main)))
        .unwrap_or_else(|| RootedPath::beside(path));
    let is_file = |target: &RootedPath| matches!(target.about(), Ok(Some(EntryInfo { kind: Kind::File, .. })));
    Ok(file.target()?.filter(is_file).unwrap_or(file))
}

/// Where `path` is without symbolic links. It need not exist, and neither need its folder.
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

/// The text of a file; `None` where there is none.
///
/// # Errors
/// When it cannot be read, is too large, or is no text.
pub fn read(file: &RootedPath, name: &str) -> anyhow::Result<Option<String>> {
    let bytes = match file.read(MOST_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        // The plan names a link by itself, and goes on.
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

/// Writes and deletes all of the files; when one cannot be, the others are as they were. Returns the folders that were made.
///
/// # Errors
/// When a file cannot be written, or was changed since it was read.
pub fn write(changes: &[&Change], places: &TargetFolders) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    let written = write_in(changes, &mut folders);
    if written.is_err() {
        remove_empty(folders.iter(), places);
    }
    written.map(|()| folders)
}

/// Removes those of `folders` that are empty, and returns them. Of a repository's record only those of the repository are: the record may
/// have come with an archive.
pub fn remove_empty<'a>(folders: impl DoubleEndedIterator<Item = &'a PathBuf>, places: &TargetFolders) -> Vec<PathBuf> {
    let roots = [&places.project, &places.git_folder, &places.main_checkout];
    let is_inside = |folder: &Path| {
        places.project.is_none()
            || roots
                .iter()
                .any(|root| root.as_ref().is_some_and(|root| folder.starts_with(root)))
    };
    let is_removed = |folder: &&PathBuf| {
        is_inside(folder) && rooted_path(folder, places).is_ok_and(|folder| folder.remove_folder().is_ok())
    };
    let removed = folders.rev().filter(is_removed);
    removed.cloned().collect()
}

fn write_in(changes: &[&Change], folders: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let mut prepared = Vec::new();
    for change in changes {
        let file = match &change.after {
            Some(text) => {
                Some(prepare(change, text, folders).with_context(|| format!("{} cannot be written", change.name))?)
            }
            None => None,
        };
        prepared.push((*change, file));
    }
    for change in changes {
        let is_same = read(&change.file, &change.name)? == change.before;
        ensure!(
            is_same,
            "{} was changed meanwhile; nothing was written, run it again",
            change.name
        );
    }
    let mut done: Vec<&Change> = Vec::new();
    for (change, file) in prepared {
        let result = match file {
            Some(file) => file.replace(),
            None => change.file.remove().map(drop),
        };
        if let Err(error) = result {
            for change in done {
                put_back(change)?;
            }
            return Err(error).with_context(|| format!("{} cannot be written; nothing was", change.name));
        }
        done.push(change);
    }
    Ok(())
}

/// The text in a file beside the one that it will replace.
fn prepare(change: &Change, text: &str, folders: &mut Vec<PathBuf>) -> Result<StagedFile, FileError> {
    folders.extend(change.file.make_parents(FOLDER_MODE)?);
    let mode = if change.is_program { PROGRAM_MODE } else { FILE_MODE };
    change.file.stage(text.as_bytes(), mode, None)
}

fn put_back(change: &Change) -> anyhow::Result<()> {
    let result = match &change.before {
        Some(text) => prepare(change, text, &mut Vec::new()).and_then(StagedFile::replace),
        None => change.file.remove().map(drop),
    };
    result.with_context(|| format!("{} was written and cannot be put back", change.name))
}
