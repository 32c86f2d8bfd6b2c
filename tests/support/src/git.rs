//! Real git repositories for tests, made by the `git` program.
//!
//! Nothing of the machine's or the user's git configuration has a say, and names and dates are fixed: the same steps
//! give the same commit ids.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// A repository or worktree on disk. It does not delete its folder: put it into a `tempfile::TempDir`.
pub struct Repo {
    path: PathBuf,
    clock: AtomicU64,
}

impl Repo {
    /// `git init` with `options`, on branch `main` unless they say otherwise. Makes the folder.
    pub fn init(path: impl Into<PathBuf>, options: &[&str]) -> Repo {
        let repo = Repo::at(path);
        std::fs::create_dir_all(&repo.path).unwrap();
        let mut arguments = vec!["-c", "init.defaultBranch=main", "init", "--quiet"];
        arguments.extend(options);
        repo.git(&arguments);
        repo
    }

    /// A repository that exists, or a folder where one is about to be.
    pub fn at(path: impl Into<PathBuf>) -> Repo {
        Repo {
            path: path.into(),
            clock: AtomicU64::new(1_700_000_000),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs git there and returns its output, trimmed. Every run is a minute later than the one before.
    pub fn git(&self, arguments: &[&str]) -> String {
        match self.try_git(arguments) {
            Ok(printed) => printed,
            Err(said) => panic!("git {arguments:?} in {}: {said}", self.path.display()),
        }
    }

    /// [`Self::git`], or git's message if it fails.
    pub fn try_git(&self, arguments: &[&str]) -> Result<String, String> {
        let now = format!("{} +0000", self.clock.fetch_add(60, Ordering::Relaxed));
        let inherited = std::env::vars_os().map(|(name, _)| name);
        let mut command = Command::new("git");
        for name in inherited.filter(|name| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        let output = command
            .args([
                "-c",
                "protocol.file.allow=always",
                "-c",
                "commit.gpgSign=false",
                "-c",
                "gc.auto=0",
                // Otherwise each commit starts a second process.
                "-c",
                "maintenance.auto=false",
            ])
            .args(arguments)
            .current_dir(&self.path)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
            .envs([
                ("GIT_COMMITTER_NAME", "Ada"),
                ("GIT_COMMITTER_EMAIL", "ada@example.com"),
            ])
            .envs([("GIT_AUTHOR_DATE", &now), ("GIT_COMMITTER_DATE", &now)])
            .output()
            .expect("these tests need the program git");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }

    /// Writes `files` (path and content), commits everything, and returns the id of the commit.
    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (name, content) in files {
            let file = self.path.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "Change something"]);
        self.git(&["rev-parse", "HEAD"])
    }
}
