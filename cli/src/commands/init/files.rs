//! Reads files, and writes several of them: all or none.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use tempfile::{Builder, NamedTempFile};

use super::change::Change;

/// Largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 1024 * 1024;

/// Where `path` is without symbolic links. It need not exist, and neither need its folder.
///
/// # Errors
/// When it is a link to nothing.
pub fn real_path(path: &Path) -> anyhow::Result<PathBuf> {
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
pub fn read(path: &Path, name: &str) -> anyhow::Result<Option<String>> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        about => about.with_context(|| format!("{name} cannot be read"))?,
    };
    ensure!(about.is_file(), "{name} is no file");
    ensure!(about.len() <= MOST_BYTES, "{name} is larger than 1 MiB");
    let bytes = fs::read(path).with_context(|| format!("{name} cannot be read"))?;
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
pub fn write(changes: &[&Change]) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    let written = write_in(changes, &mut folders);
    if written.is_err() {
        remove_empty(folders.iter());
    }
    written.map(|()| folders)
}

/// Removes those of `folders` that are empty, and returns them.
pub fn remove_empty<'a>(folders: impl DoubleEndedIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let removed = folders.rev().filter(|folder| fs::remove_dir(folder).is_ok());
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
        let is_same = read(&change.path, &change.name)? == change.before;
        ensure!(
            is_same,
            "{} was changed meanwhile; nothing was written, run it again",
            change.name
        );
    }
    let mut done: Vec<&Change> = Vec::new();
    for (change, file) in prepared {
        let result = match file {
            Some(file) => file.persist(&change.path).map(|_| ()).map_err(|failed| failed.error),
            None => fs::remove_file(&change.path),
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
fn prepare(change: &Change, text: &str, folders: &mut Vec<PathBuf>) -> anyhow::Result<NamedTempFile> {
    let folder = change.path.parent().context("it has no folder")?;
    make_folder(folder, folders)?;
    let mut builder = Builder::new();
    builder.prefix(".coord-init-");
    match fs::metadata(&change.path) {
        Ok(about) => builder.permissions(about.permissions()),
        Err(_) => builder.permissions(of_new_file(change.is_program)?),
    };
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(about) = fs::metadata(&change.path) {
        // What the umask has taken away.
        file.as_file().set_permissions(about.permissions())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

fn make_folder(folder: &Path, made: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folder(parent, made)?;
    }
    fs::create_dir(folder)?;
    made.push(folder.to_owned());
    Ok(())
}

fn put_back(change: &Change) -> anyhow::Result<()> {
    let result = match &change.before {
        Some(text) => {
            let mut folders = Vec::new();
            let file = prepare(change, text, &mut folders)?;
            file.persist(&change.path).map(|_| ()).map_err(|failed| failed.error)
        }
        None => fs::remove_file(&change.path),
    };
    result.with_context(|| format!("{} was written and cannot be put back", change.name))
}

/// Those that the umask leaves of all.
#[cfg(unix)]
fn of_new_file(is_program: bool) -> std::io::Result<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::Permissions::from_mode(if is_program { 0o777 } else { 0o666 }))
}

#[cfg(not(unix))]
fn of_new_file(_: bool) -> std::io::Result<fs::Permissions> {
    Ok(fs::metadata(std::env::temp_dir())?.permissions())
}
