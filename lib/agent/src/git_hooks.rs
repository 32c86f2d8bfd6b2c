//! The hooks that git runs in a working copy, and the programs that manage them. A manager generates git's hooks from
//! its own file, so it overwrites lines that were added to a hook.

use std::path::{Path, PathBuf};

use anyhow::Context;
use coord_git::WorkingCopy;

use super::git;

/// A hook that contains this text runs the guard.
pub const GUARD: &str = "coord guard";

/// The file that `coord init` writes beside lefthook's own file. Lefthook merges it.
pub const LEFTHOOK_FILE: &str = "lefthook-coord.yml";

/// Maximum size of a file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A program that manages git's hooks.
#[derive(Debug)]
pub struct Manager {
    /// The manager's name, which its hooks contain.
    pub name: &'static str,
    /// The command that generates git's hooks from the manager's file.
    pub install: &'static str,
    /// The manager's possible files, below the root of the working copy.
    files: &'static [&'static str],
    /// A text in the manager's section of `package.json`.
    key: &'static str,
}

static MANAGERS: [Manager; 3] = [
    Manager {
        name: "lefthook",
        install: "lefthook install",
        files: &[
            "lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yml",
            ".lefthook.yaml",
            "lefthook.toml",
            "lefthook.json",
        ],
        key: "",
    },
    Manager {
        name: "pre-commit",
        install: "pre-commit install",
        files: &[".pre-commit-config.yaml"],
        key: "",
    },
    Manager {
        name: "simple-git-hooks",
        install: "npx simple-git-hooks",
        files: &[".simple-git-hooks.json", "simple-git-hooks.json", "package.json"],
        key: "simple-git-hooks",
    },
];

impl Manager {
    /// The manager's file in the working copy at `root`, and its content.
    fn file(&self, root: &Path) -> Option<(PathBuf, String)> {
        let mut files = self.files.iter().map(|file| root.join(file));
        files.find_map(|file| {
            let text = read(&file)?;
            let is_used = self.key.is_empty() || !file.ends_with("package.json") || text.contains(self.key);
            is_used.then_some((file, text))
        })
    }
}

/// The managers of the working copy at `root`, each with its file and the content.
pub fn managers(root: &Path) -> impl Iterator<Item = (&'static Manager, PathBuf, String)> {
    MANAGERS.iter().filter_map(move |manager| {
        let (path, text) = manager.file(root)?;
        Some((manager, path, text))
    })
}

/// The folder whose hooks git runs in `working_copy`.
///
/// # Errors
/// When git fails.
pub async fn folder(working_copy: &WorkingCopy) -> anyhow::Result<PathBuf> {
    let output = git::output(working_copy.root(), ["rev-parse", "--git-path", "hooks"]).await?;
    let path = String::from_utf8(output).context("the path of git's hooks is not UTF-8")?;
    Ok(working_copy.root().join(path.trim_end_matches(['\n', '\r'])))
}

/// The folder of Husky's own hooks, if git runs the hooks that Husky generates in `folder`.
pub fn of_husky(folder: &Path) -> Option<&Path> {
    folder.parent().filter(|_| folder.ends_with(".husky/_"))
}

/// Whether git's hook `name` in `folder` runs the guard, by itself or by the file of its manager in the working copy at
/// `root`.
pub fn runs_guard(folder: &Path, root: &Path, name: &str) -> bool {
    let path = folder.join(name);
    let Some(text) = read(&path).filter(|_| is_executable(&path)) else {
        return false;
    };
    let husky_runs_guard = || {
        let own_text = of_husky(folder).and_then(|own_folder| read(&own_folder.join(name)));
        own_text.is_some_and(|text| text.contains(GUARD))
    };
    let manager_runs_guard = |manager: &Manager| {
        let file = manager.file(root).filter(|_| text.contains(manager.name));
        file.is_some_and(|(path, mut text)| {
            if text.contains(LEFTHOOK_FILE) {
                text += &read(&path.with_file_name(LEFTHOOK_FILE)).unwrap_or_default();
            }
            text.contains(&format!("{GUARD} {name}"))
        })
    };
    text.contains(GUARD) || husky_runs_guard() || MANAGERS.iter().any(manager_runs_guard)
}

/// Whether git runs the guard before a commit or a push in `working_copy`.
pub async fn is_guarded(working_copy: &WorkingCopy) -> bool {
    let root = working_copy.root();
    match folder(working_copy).await {
        Ok(folder) => ["pre-commit", "pre-push"]
            .iter()
            .any(|name| runs_guard(&folder, root, name)),
        Err(_) => false,
    }
}

fn read(path: &Path) -> Option<String> {
    let text = coord_files::regular(path, MAX_BYTES).ok()??;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Whether git runs the hook at `path`.
#[cfg(unix)]
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Whether git runs the hook at `path`.
#[cfg(not(unix))]
pub fn is_executable(_: &Path) -> bool {
    true
}
