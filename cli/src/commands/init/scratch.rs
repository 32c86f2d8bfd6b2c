//! A repository for the self-test, with a server of its own, that is gone afterwards: hooks are run with no trace in the user's repository,
//! on its server, or in the times of its hooks.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientSettings};
use tempfile::TempDir;

use crate::agent::{git, local_server};
use crate::announcement::Announced;
use crate::git::environment;

/// Time that the server has to start.
const START_TIME: Duration = Duration::from_secs(10);

/// Time that it has to end.
const END_TIME: Duration = Duration::from_secs(2);

/// Interval of looks.
const POLL: Duration = Duration::from_millis(10);

/// It ends by itself where this process is killed.
const IDLE_SECONDS: &str = "60";

/// The branch of the repository.
pub const BRANCH: &str = "main";

/// Settings for the commit: the user may have none, or sign what they commit.
const IDENTITY: [&str; 4] = ["-c", "user.name=coord init", "-c", "user.email=coord@localhost"];

/// The repository and its server.
pub struct Scratch {
    pub working_copy: WorkingCopy,
    server: Child,
    announced: Announced,
    /// Removed last.
    _folder: TempDir,
}

impl Scratch {
    /// Makes the repository, and starts its server.
    ///
    /// # Errors
    /// When git fails, or the server does not start.
    pub async fn start() -> anyhow::Result<Scratch> {
        let folder = tempfile::Builder::new().prefix("coord-init-").tempdir();
        let folder = folder.context("a folder for temporary files")?;
        let root = folder.path();
        let run = |args: Vec<&'static str>| git::output(root, args);
        run(vec!["init", "--quiet", "--template="]).await?;
        let tree = run(vec!["hash-object", "-t", "tree", "-w", "--stdin"]).await?;
        let tree = String::from_utf8(tree)?;
        let commit = [&IDENTITY[..], &["commit-tree", "-m", "Self-test", tree.trim()]].concat();
        let commit = git::output(root, commit).await?;
        fs::create_dir_all(root.join(".git/refs/heads"))?;
        fs::write(root.join(".git/refs/heads").join(BRANCH), commit)?;
        fs::write(root.join(".git/HEAD"), format!("ref: refs/heads/{BRANCH}\n"))?;
        let working_copy = WorkingCopy::containing(root)?;
        let mut server = serve(root)?;
        let announced = match announced(&mut server, &working_copy) {
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
            working_copy: WorkingCopy::containing(root)?,
            server,
            announced,
            _folder: folder,
        })
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

fn serve(root: &Path) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("the program of coord cannot be found")?;
    let mut server = Command::new(program);
    environment::clear_of_git(&mut server);
    clear_of_coord(|name| _ = server.env_remove(name));
    let log = fs::File::create(root.join(".git/serve.log")).context("a log")?;
    server
        .args(["serve", "--port", "0", "--exit-when-idle", IDLE_SECONDS, "--repo"])
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

fn announced(server: &mut Child, working_copy: &WorkingCopy) -> anyhow::Result<Announced> {
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
        "a server for the self-test does not start: {}",
        log.lines().last().unwrap_or("it says nothing")
    )
}

/// Ends it, and waits until it has: it takes back what it has announced.
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
