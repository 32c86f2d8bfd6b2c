//! A repository with a remote, its worktrees, and the commands that agents run there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use coord_agent::local_server;
use coord_git::WorkingCopy;
use coord_test_support::git::Repo;
use tempfile::TempDir;

/// The remote, as it is configured; git's own traffic goes to a folder.
pub const REPO_URL: &str = "https://github.com/team/project";

/// A clone whose branch `main` was pushed. Dropping it stops the server that a command may have started.
pub struct World {
    folder: TempDir,
    pub clone: Repo,
}

impl World {
    /// With the files in the first commit.
    pub fn with(files: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let origin = Repo::init(folder.path().join("origin.git"), &["--bare"]);
        let clone = Repo::init(folder.path().join("clone"), &[]);
        clone.git(&["remote", "add", "origin", REPO_URL]);
        clone.git(&["config", &redirection(&origin), REPO_URL]);
        clone.commit(files);
        clone.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
        World { folder, clone }
    }

    /// As [`World::with`]; the clone is made by `git clone OPTIONS`.
    pub fn cloned(files: &[(&str, &str)], options: &[&str]) -> World {
        let mut world = World::with(files);
        let redirection = redirection(&world.origin());
        let setting = format!("{redirection}={REPO_URL}");
        let clone = ["-c", &setting, "clone", "--quiet"];
        Repo::at(world.folder.path()).git(&[&clone[..], options, &[REPO_URL, "cloned"]].concat());
        world.clone = Repo::at(world.folder.path().join("cloned"));
        world.clone.git(&["config", &redirection, REPO_URL]);
        world
    }

    pub fn origin(&self) -> Repo {
        Repo::at(self.folder.path().join("origin.git"))
    }

    /// A teammate commits `files` to `branch` of the remote.
    pub fn others_push(&self, branch: &str, files: &[(&str, &str)]) {
        let path = self.folder.path().join(format!("others-{branch}").replace('/', "-"));
        if !path.exists() {
            let origin = self.origin();
            let [from, to] = [origin.path(), &path].map(|path| path.display().to_string());
            origin.git(&["clone", "--quiet", "--branch", branch, &from, &to]);
        }
        let others = Repo::at(path);
        others.git(&["pull", "--quiet", "--rebase"]);
        others.commit(files);
        others.git(&["push", "--quiet", "origin", &format!("HEAD:{branch}")]);
    }

    /// Runs `COMMAND` in a shell in `folder`, as a person runs it, with git's own defaults.
    pub fn in_shell(&self, folder: &Path, command: &str) -> Output {
        let mut shell = program_like(&self.coord(folder), "sh");
        for person in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{person}_NAME"), "Ada");
            shell.env(format!("GIT_{person}_EMAIL"), "ada@example.com");
        }
        shell.args(["-c", command]).output().unwrap()
    }

    /// A clone that is pushed nowhere.
    pub fn without_remote(files: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let clone = Repo::init(folder.path().join("clone"), &[]);
        clone.commit(files);
        World { folder, clone }
    }

    /// A new worktree of the clone, on a branch of its name that has `origin/main` as its upstream.
    pub fn worktree(&self, name: &str) -> Repo {
        let path = self.folder.path().join(name);
        let add = ["worktree", "add", "--quiet", "--track", "-b", name];
        let shown = path.display().to_string();
        self.clone.git(&[&add[..], &[&shown, "origin/main"]].concat());
        Repo::at(path)
    }

    /// An empty folder beside the clone.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Runs `coord` in `folder`, with a separate home and none of the settings of the person who runs the tests.
    pub fn coord(&self, folder: &Path) -> Command {
        let mut command = Command::new(program());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["COORD_", "GIT_", "OPENCODE_", "XDG_"]
                .iter()
                .any(|prefix| text.starts_with(prefix))
            {
                command.env_remove(&name);
            }
        }
        command
            .current_dir(folder)
            .env("HOME", self.folder("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// The folder with the files of the sessions in the clone.
    pub fn sessions(&self) -> PathBuf {
        let own = self.own_sessions();
        let state = self.folder("home/.local/state/coord/sessions");
        state.join(own.file_name().unwrap())
    }

    /// The same for a test that makes sessions in its own process, whose home is that of whoever runs the tests.
    pub fn own_sessions(&self) -> PathBuf {
        local_server::sessions(&WorkingCopy::containing(self.clone.path()).unwrap()).full()
    }

    /// Gives `folder` and all in it to the user `nobody`. The test runs as root.
    pub fn give_to_nobody(folder: &Path) {
        let mut chown = Command::new("chown");
        let changed = chown.args(["-R", "65534:65534"]).arg(folder).status().unwrap();
        assert!(changed.success());
    }

    /// Writes down that every conversation in the clone has ended.
    pub fn end_conversations(&self) {
        let files = std::fs::read_dir(self.sessions())
            .unwrap()
            .map(|file| file.unwrap().path());
        for file in files.filter(|file| file.to_string_lossy().ends_with(".conversation.json")) {
            let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            record["has_ended"] = true.into();
            std::fs::write(&file, record.to_string()).unwrap();
        }
    }

    /// Another clone of the remote, beside the first one.
    pub fn another_clone(&self, name: &str) -> Repo {
        let (path, origin) = (self.folder.path().join(name), self.origin());
        let [from, to] = [origin.path(), &path].map(|path| path.display().to_string());
        origin.git(&["clone", "--quiet", &from, &to]);
        let clone = Repo::at(path);
        clone.git(&["remote", "set-url", "origin", REPO_URL]);
        clone.git(&["config", &redirection(&origin), REPO_URL]);
        clone
    }

    /// Runs `coord ARGS` in the clone.
    pub fn run(&self, args: &[&str]) -> Output {
        self.coord(self.clone.path()).args(args).output().unwrap()
    }

    /// The number of the server's process, where one runs.
    pub fn server(&self) -> Option<String> {
        server_of(&self.clone)
    }
}

/// The setting that makes git use the folder of `origin` for [`REPO_URL`].
fn redirection(origin: &Repo) -> String {
    format!("url.file://{}.insteadOf", origin.path().display())
}

/// The binary `coord`, which Cargo builds before the tests and benches of its package.
fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors()
        .nth(2)
        .unwrap()
        .join(format!("coord{}", std::env::consts::EXE_SUFFIX))
}

/// Makes a command that runs `program` in the folder and with the environment of `coord`.
pub fn program_like(coord: &Command, program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, value) in coord.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(coord.get_current_dir().unwrap());
    command
}

/// The number of the server's process of `clone`, where one runs.
pub fn server_of(clone: &Repo) -> Option<String> {
    let announced = std::fs::read_to_string(clone.path().join(".git/coord/listening")).ok()?;
    let process = announced.split("(process ").nth(1)?;
    Some(process.trim_end_matches(')').to_owned())
}

impl Drop for World {
    fn drop(&mut self) {
        // Sessions that a test made in its own process are in the home folder of the user who runs the tests.
        if let Ok(working_copy) = WorkingCopy::containing(self.clone.path()) {
            let _ = std::fs::remove_dir_all(local_server::sessions(&working_copy).full());
        }
        if let Some(process) = self.server() {
            // It may have been killed.
            let _ = Command::new("kill").arg(process).stderr(Stdio::null()).status();
        }
    }
}
