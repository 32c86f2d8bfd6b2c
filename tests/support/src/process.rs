//! `coord serve` on a real repository, in a process that can be killed.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::git::Repo;
use crate::waiting::block_until;

/// The repository, as it is asked for.
pub const REPO_URL: &str = "https://github.com/team/project";
/// The repository, as it is stored.
pub const REPO: &str = "github.com/team/project";
/// Seconds that a lock is held.
pub const TTL: i64 = 2;

/// A repository and a folder for the state.
pub struct ServerFolder {
    /// The binary `coord`.
    program: &'static str,
    pub folder: TempDir,
    pub head: String,
}

impl ServerFolder {
    /// A repository with one commit. None of its files imports another.
    pub fn new(program: &'static str) -> ServerFolder {
        let folder = tempfile::tempdir().expect("a folder");
        let repo = Repo::init(folder.path().join("repository"), &[]);
        repo.git(&["remote", "add", "origin", REPO_URL]);
        let head = repo.commit(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        ServerFolder { program, folder, head }
    }

    /// Starts `coord serve` here.
    pub fn serve(&self) -> Coord {
        self.serve_after("")
    }

    /// The same, by a shell that does `first` before.
    pub fn serve_after(&self, first: &str) -> Coord {
        self.serve_on(&["--data-dir", &self.data().display().to_string()], first)
    }

    /// The same, with the options that name its store.
    pub fn serve_on(&self, store: &[&str], first: &str) -> Coord {
        let address = free_address();
        // The tests may run with signals ignored (`nohup`, a job in the background), and a shell cannot undo that.
        let mut command = Command::new("env");
        command
            .arg("--default-signal=HUP,INT,TERM")
            .args(["sh", "-c", &format!("{first}\nexec \"$0\" \"$@\"")])
            .arg(self.program);
        // The load is a few holders' who never pause.
        command
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .env("COORD_LIMIT_HOLDER_PER_MINUTE", "0")
            .env("COORD_LIMIT_REPOSITORY_PER_MINUTE", "0");
        for name in ["COORD_JWT_SECRET", "COORD_LOCK_TTL_SECONDS", "COORD_NEIGHBOR_POLICY"] {
            command.env_remove(name);
        }
        command
            .arg("serve")
            .arg("--repo")
            .arg(self.folder.path().join("repository"));
        command.args(store).args(["--listen", &address.to_string()]);
        command
            .args(["--lock-ttl", &TTL.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut coord = Coord {
            process: command.spawn().expect("coord starts"),
            address,
        };
        block_until("coord listens", || {
            assert!(coord.process.try_wait().expect("a state").is_none(), "coord ended");
            coord.listens()
        });
        coord
    }

    /// The folder of the state.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

/// A port without a listener.
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

/// Processor time of all threads of a process; none where the system does not report it.
pub fn processor_time(process: u32) -> Option<Duration> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    // A thread may have ended meanwhile.
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Some(Duration::from_nanos(nanoseconds.sum()))
}

/// A running `coord serve`.
pub struct Coord {
    process: Child,
    pub address: SocketAddr,
}

impl Coord {
    /// Whether connections are accepted.
    pub fn listens(&self) -> bool {
        TcpStream::connect(self.address).is_ok()
    }

    pub fn kill(mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("gone");
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success(), "SIG{name} was sent");
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn terminal(&mut self) -> ChildStdout {
        self.process.stdout.take().expect("asked for once")
    }

    /// How it ended.
    pub fn wait(&mut self) -> ExitStatus {
        self.process.wait().expect("it ends")
    }
}

impl Drop for Coord {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
