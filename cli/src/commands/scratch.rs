//! A throw-away repository with its own server, for the self-test of `coord init`, `coord simulate` and `coord demo`:
//! they must leave no trace in the user's repository, on its server, or in the times of its hooks.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_agent::announcement::AnnouncedServer;
use coord_agent::git::environment;
use coord_agent::{git, local_server};
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientSettings};
use tempfile::TempDir;

/// Time limit for the start of the server.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for its end, after which it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between two checks whether the server has started or ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Idle time after which the server ends, for the case that this process is killed.
const IDLE_SECONDS: &str = "60";

/// The branch of the repository.
pub const BRANCH: &str = "main";

/// The author of commits: the user's settings may name none.
const IDENTITY: [&str; 4] = ["-c", "user.name=Coord", "-c", "user.email=coord@localhost"];

/// The repository and its server.
pub struct Scratch {
    pub working_copy: WorkingCopy,
    server: Child,
    announced: AnnouncedServer,
    /// Fields are dropped in order, so the folder is removed last.
    _folder: TempDir,
}

impl Scratch {
    /// Creates a repository called `name` with `files`, and starts its server at `port`. `None` is the default port or
    /// the next free one; 0 is any free port.
    ///
    /// # Errors
    /// When git fails, or the server does not start.
    pub async fn start(name: &str, files: &[(&str, &str)], port: Option<u16>) -> anyhow::Result<Scratch> {
        let folder = tempfile::Builder::new().prefix("coord-").tempdir();
        let folder = folder.context("a folder for temporary files")?;
        let root = folder.path().join(name);
        fs::create_dir(&root)?;
        git::output(&root, ["init", "--quiet", "--template="]).await?;
        fs::write(root.join(".git/HEAD"), format!("ref: refs/heads/{BRANCH}\n"))?;
        commit(&root, None, files, "First commit").await?;
        let working_copy = WorkingCopy::containing(&root)?;
        let mut server = serve(&root, port)?;
        let announced = match wait_for_announcement(&mut server, &working_copy) {
            Ok(announced) => announced,
            Err(error) => {
                stop(&mut server);
                return Err(error);
            }
        };
        // The user's own settings may name another server.
        let mut config = fs::OpenOptions::new().append(true).open(root.join(".git/config"))?;
        let settings = format!(
            "[coord]\n\turl = {}\n\ttokenFile =\n\tbranch = {BRANCH}\n",
            announced.address()
        );
        std::io::Write::write_all(&mut config, settings.as_bytes())?;
        Ok(Scratch {
            working_copy: WorkingCopy::containing(&root)?,
            server,
            announced,
            _folder: folder,
        })
    }

    /// The address of the server.
    #[cfg(feature = "teams")]
    pub fn address(&self) -> String {
        self.announced.address()
    }

    /// Writes `files`, and commits them. Without a remote, a commit counts as pushed.
    ///
    /// # Errors
    /// When a file cannot be written, or git fails.
    pub async fn commit(&self, files: &[(&str, &str)], message: &str) -> anyhow::Result<()> {
        let head = self.working_copy.head().map(|head| head.to_string());
        commit(self.working_copy.root(), head.as_deref(), files, message).await
    }

    /// A client of the server.
    ///
    /// # Errors
    /// When its address cannot be used.
    pub fn client(&self, limit: Duration) -> anyhow::Result<Client> {
        let client = Client::with_settings(ClientSettings {
            base: &self.announced.address(),
            token: None,
            agent_id: None,
            server: self.announced.instance.as_deref(),
            limit,
        });
        Ok(client?)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        stop(&mut self.server);
    }
}

/// Writes `files`, and commits all tracked files on top of `parent`. Git runs no hook for `commit-tree`.
async fn commit(root: &Path, parent: Option<&str>, files: &[(&str, &str)], message: &str) -> anyhow::Result<()> {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
    }
    let paths = files.iter().map(|(path, _)| *path);
    git::output(root, ["update-index", "--add", "--"].into_iter().chain(paths)).await?;
    let tree = String::from_utf8(git::output(root, ["write-tree"]).await?)?;
    let parent = parent.into_iter().flat_map(|parent| ["-p", parent]);
    let arguments = IDENTITY.into_iter().chain(["commit-tree", "-m", message, tree.trim()]);
    let commit = git::output(root, arguments.chain(parent)).await?;
    // The server reads the old commit or the new one, never a part.
    let branch = RootedPath::new(root, format!(".git/refs/heads/{BRANCH}"));
    branch.create_parents(PRIVATE_MODE)?;
    Ok(branch.write_unsynced(&commit, FILE_MODE)?)
}

fn serve(root: &Path, port: Option<u16>) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("the program of coord cannot be found")?;
    let mut server = Command::new(program);
    environment::clear_hook_variables(&mut server);
    remove_coord_variables(&mut server);
    let log = fs::File::create(root.join(".git/serve.log")).context("a log")?;
    server
        .args(["serve", "--exit-when-idle", IDLE_SECONDS])
        .args(port.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]))
        .arg("--repo")
        .arg(root)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    server.spawn().context("coord serve cannot be started")
}

/// Removes Coord's variables from the environment of `command`: they are for the user's own repositories.
pub fn remove_coord_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("COORD_") {
            command.env_remove(name);
        }
    }
}

fn wait_for_announcement(server: &mut Child, working_copy: &WorkingCopy) -> anyhow::Result<AnnouncedServer> {
    let deadline = Instant::now() + START_TIMEOUT;
    while Instant::now() < deadline {
        if let Some(announced) = local_server::running(working_copy) {
            return Ok(announced);
        }
        if server.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let log = fs::read_to_string(working_copy.git_folder().join("serve.log")).unwrap_or_default();
    bail!(
        "the server of a throw-away repository does not start: {}",
        log.lines().last().unwrap_or("it says nothing")
    )
}

/// Asks the server to stop, so that it withdraws its announcement, and waits. After [`STOP_TIMEOUT`], kills it.
fn stop(server: &mut Child) {
    #[cfg(unix)]
    if let Some(process) = i32::try_from(server.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if server.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    let _ = server.kill();
    let _ = server.wait();
}
