//! Refuses repositories with named pipes and other special files in place of git's own files, because opening one waits
//! for a writer. Git never creates such files, but an archive can contain them.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::open_error::OpenError;

/// The files that gix or this crate opens, by their paths in git's folder.
const FILES: [&str; 12] = [
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "index",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "packed-refs",
    "shallow",
];

/// Maximum size of a file that names another file, as in git.
const MAX_BYTES: u64 = 4096;

/// Maximum length of a chain of references.
const MAX_REFERENCES: usize = 5;

/// Fails if the repository that contains `folder` has a special file. If `may_be_bare`, also fails if `folder` itself
/// is a bare repository with one.
pub(super) fn check(folder: &Path, may_be_bare: bool) -> Result<(), OpenError> {
    match find(folder, may_be_bare) {
        None => Ok(()),
        Some(path) => Err(OpenError::Unreadable {
            path,
            why: "it is a named pipe or another special file, in place of a file of git's own; remove it".to_owned(),
        }),
    }
}

/// The first special file, if there is one.
fn find(folder: &Path, may_be_bare: bool) -> Option<PathBuf> {
    if may_be_bare
        && folder.join("objects").is_dir()
        && let Some(file) = find_in_git_folder(folder)
    {
        return Some(file);
    }
    for ancestor in folder.ancestors() {
        let dot_git = ancestor.join(".git");
        let Ok(metadata) = dot_git.metadata() else { continue };
        if is_special(&metadata) {
            return Some(dot_git);
        }
        let git_folder = if metadata.is_dir() {
            dot_git
        } else {
            match read_after(&dot_git, "gitdir:") {
                Some(path) => ancestor.join(path),
                None => continue,
            }
        };
        if let Some(file) = find_in_git_folder(&git_folder) {
            return Some(file);
        }
        // Without HEAD, git continues with the folders above.
        if git_folder.join("HEAD").exists() {
            return None;
        }
    }
    None
}

fn find_in_git_folder(git_folder: &Path) -> Option<PathBuf> {
    let common_dir = match read_after(&git_folder.join("commondir"), "") {
        Some(path) => git_folder.join(path),
        None => git_folder.to_owned(),
    };
    let folders = [git_folder, common_dir.as_path()];
    let mut files = folders
        .iter()
        .flat_map(|folder| FILES.iter().map(move |name| folder.join(name)));
    files
        .find(|path| is_special_at(path))
        .or_else(|| find_in_references(git_folder, &common_dir))
        .or_else(|| find_in_packs(&common_dir.join("objects/pack")))
}

/// The first special file in the chain of references that starts at `HEAD`.
fn find_in_references(git_folder: &Path, common_dir: &Path) -> Option<PathBuf> {
    let mut file = git_folder.join("HEAD");
    for _ in 0..=MAX_REFERENCES {
        file = common_dir.join(read_after(&file, "ref:")?);
        if is_special_at(&file) {
            return Some(file);
        }
    }
    None
}

fn find_in_packs(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut special = entries.filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| !kind.is_dir() && !kind.is_file()) && is_special_at(&entry.path())
    });
    special.next().map(|entry| entry.path())
}

/// The text of a small file after `prefix`, without white space around it.
fn read_after(file: &Path, prefix: &str) -> Option<String> {
    let text = coord_files::regular(file, MAX_BYTES).ok()??;
    let text = String::from_utf8(text).ok()?;
    Some(text.strip_prefix(prefix)?.trim().to_owned())
}

fn is_special_at(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| is_special(&metadata))
}

fn is_special(metadata: &Metadata) -> bool {
    !metadata.is_dir() && !metadata.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_place_of_a_file_of_git_is_found_wherever_the_repository_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let make = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        make("clone/.git/HEAD", "ref: refs/heads/main\n");
        make("clone/.git/refs/heads/main", "1\n");
        make("clone/.git/objects/pack/x.pack", "");
        make("clone/.git/worktrees/one/HEAD", "ref: refs/heads/one\n");
        make("clone/.git/worktrees/one/commondir", "../..\n");
        make(
            "one/.git",
            &format!("gitdir: {}\n", root.join("clone/.git/worktrees/one").display()),
        );
        make("clone/src/a", "");
        let make_pipe = |path: &Path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        };
        // Not git's, whatever its name.
        make_pipe(&root.join("clone/src/index"));
        for (at, pipe) in [
            ("clone/src", "clone/.git/index"),
            ("clone", "clone/.git/HEAD"),
            ("clone", "clone/.git/refs/heads/main"),
            ("clone/.git", "clone/.git/objects/pack/x.pack"),
            ("one", "clone/.git/worktrees/one/config.worktree"),
            ("one", "clone/.git/refs/heads/one"),
            ("one", "clone/.git/packed-refs"),
            ("clone/src", "clone/src/.git"),
        ] {
            assert_eq!(find(&root.join(at), at.ends_with(".git")), None, "{at}");
            let path = root.join(pipe);
            let before = fs::read(&path).ok();
            let _ = fs::remove_file(&path);
            make_pipe(&path);
            let found = find(&root.join(at), at.ends_with(".git")).map(|found| found.canonicalize().unwrap());
            assert_eq!(found, Some(path.clone()), "{at}");
            fs::remove_file(&path).unwrap();
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
        }
    }
}
