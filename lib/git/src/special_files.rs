//! Named pipes and the like in place of git's own files: opening one waits for a writer. Git makes none; an archive can have some.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::open_error::OpenError;

/// Files that are opened, by their paths in git's folder.
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

/// Most bytes of a file that names another one, as in git.
const MOST_BYTES: u64 = 4096;

/// Longest chain of references.
const MOST_REFERENCES: usize = 5;

/// Fails where the repository that `folder` is in has a special file; or, if `may_be_bare`, the one that it is itself.
pub(super) fn refuse(folder: &Path, may_be_bare: bool) -> Result<(), OpenError> {
    match first(folder, may_be_bare) {
        None => Ok(()),
        Some(path) => Err(OpenError::Unreadable {
            path,
            why: "it is a named pipe or another special file, in place of a file of git's own; remove it".to_owned(),
        }),
    }
}

fn first(folder: &Path, may_be_bare: bool) -> Option<PathBuf> {
    if may_be_bare
        && folder.join("objects").is_dir()
        && let Some(found) = first_in(folder)
    {
        return Some(found);
    }
    for ancestor in folder.ancestors() {
        let dot_git = ancestor.join(".git");
        let Ok(about) = fs::metadata(&dot_git) else { continue };
        if is_special(&about) {
            return Some(dot_git);
        }
        let git_folder = match about.is_dir() {
            true => dot_git,
            false => match named_by(&dot_git, "gitdir:") {
                Some(named) => ancestor.join(named),
                None => continue,
            },
        };
        if let Some(found) = first_in(&git_folder) {
            return Some(found);
        }
        // Otherwise the search goes on above.
        if git_folder.join("HEAD").exists() {
            return None;
        }
    }
    None
}

fn first_in(git_folder: &Path) -> Option<PathBuf> {
    let common = match named_by(&git_folder.join("commondir"), "") {
        Some(named) => git_folder.join(named),
        None => git_folder.to_owned(),
    };
    let folders = [git_folder, common.as_path()];
    let mut named = folders
        .iter()
        .flat_map(|folder| FILES.iter().map(move |name| folder.join(name)));
    named
        .find(|path| fs::metadata(path).is_ok_and(|about| is_special(&about)))
        .or_else(|| first_reference(git_folder, &common))
        .or_else(|| first_pack(&common.join("objects/pack")))
}

/// In the chain that `HEAD` begins.
fn first_reference(git_folder: &Path, common: &Path) -> Option<PathBuf> {
    let mut file = git_folder.join("HEAD");
    for _ in 0..=MOST_REFERENCES {
        file = common.join(named_by(&file, "ref:")?);
        if fs::metadata(&file).is_ok_and(|about| is_special(&about)) {
            return Some(file);
        }
    }
    None
}

fn first_pack(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut special = entries.filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| !kind.is_dir() && !kind.is_file())
            && fs::metadata(entry.path()).is_ok_and(|about| is_special(&about))
    });
    special.next().map(|entry| entry.path())
}

/// The text of a small file behind `prefix`.
fn named_by(file: &Path, prefix: &str) -> Option<String> {
    let text = coord_files::regular(file, MOST_BYTES).ok()??;
    let text = String::from_utf8(text).ok()?;
    Some(text.strip_prefix(prefix)?.trim().to_owned())
}

fn is_special(about: &Metadata) -> bool {
    !about.is_dir() && !about.is_file()
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
            assert_eq!(first(&root.join(at), at.ends_with(".git")), None, "{at}");
            let path = root.join(pipe);
            let before = fs::read(&path).ok();
            let _ = fs::remove_file(&path);
            make_pipe(&path);
            let found = first(&root.join(at), at.ends_with(".git")).map(|found| found.canonicalize().unwrap());
            assert_eq!(found, Some(path.clone()), "{at}");
            fs::remove_file(&path).unwrap();
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
        }
    }
}
