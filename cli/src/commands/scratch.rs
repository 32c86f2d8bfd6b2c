//! A throw-away repository with its own server, for what has to leave no trace in the user's repository, on its server, or in the times of
//! its hooks: the self-test of `coord init`, `coord simulate` and `coord demo`.

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

/// Time that the server has to start.
const START_TIME: Duration = Duration::from_secs(10);

/// Time that it has to end.
const END_TIME: Duration = Duration::from_secs(2);

/// Interval of looks.
const POLL: Duration = Duration::from_millis(10);

/// The server ends by itself if this process is killed.
const IDLE_SECONDS: &str = "60";

/// The branch of the repository.
pub const BRANCH: &str = "main";

/// Settings for the commit: the user may have none, or sign what they commit.
const IDENTITY: [&str; 4] = ["-c", "user.name=Coord", "-c", "user.email=coord@localhost"];

/// The repository and its server.
pub struct Scratch {
    pub working_copy: WorkingCopy,
    server: Child,
    announced: AnnouncedServer,
    /// Removed last.
    _folder: TempDir,
}

impl Scratch {
    /// Makes a repository called `name` with `files`, and starts its server at `port`: the usual one or the next
    /// free one if it is left out, any free one if it is 0.
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
                end(&mut server);
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

    /// Writes `files`, and commits them: there is no remote, so that they count as pushed.
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
        end(&mut self.server);
    }
}

/// Writes `files` and commits all that is tracked after `parent`. Git runs no hook for it.
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
    branch.make_parents(PRIVATE_MODE)?;
    Ok(branch.write_unsynced(&commit, FILE_MODE)?)
}

fn serve(root: &Path, port: Option<u16>) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("the program of coord cannot be found")?;
    let mut server = Command::new(program);
    environment::clear_of_git(&mut server);
    clear_of_coord(|name| _ = server.env_remove(name));
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

/// Calls `remove` with each variable that is set for Coord: they are for the user's own repositories.
pub fn clear_of_coord(mut remove: impl FnMut(&std::ffi::OsStr)) {
    let names = std::env::vars_os().map(|(name, _)| name);
    let of_coord = names.filter(|name| name.to_string_lossy().starts_with("COORD_"));
    of_coord.for_each(|name| remove(&name));
}

fn wait_for_announcement(server: &mut Child, working_copy: &WorkingCopy) -> anyhow::Result<AnnouncedServer> {
    let deadline = Instant::now() + START_TIME;
    while Instant::now() < deadline {
        if let Some(announced) = local_server::running(working_copy) {
            return Ok(announced);
        }
        if server.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        std::thread::sleep(POLL);
    }
    let log = fs::read_to_string(working_copy.git_folder().join("serve.log")).unwrap_or_default();
    bail!(
        "the server of a throw-away repository does not start: {}",
        log.lines().last().unwrap_or("it says nothing")
    )
}

/// Ends it, and waits until it has: it withdraws its announcement.
fn end(server: &mut Child) {
    #[cfg(unix)]
    if let Some(process) = i32::try_from(server.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        let deadline = Instant::now() + END_TIME;
        while Instant::now() < deadline {
            if server.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            std::thread::sleep(POLL);
        }
    }
    let _ = server.kill();
    let _ = server.wait();
}
