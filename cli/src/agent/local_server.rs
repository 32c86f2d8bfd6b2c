//! The `coord serve` of a repository on this machine. Commands of agents start it where none runs, so that nobody has to.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_files::{About, FILE_MODE, Inside, Kind, PRIVATE_MODE};
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientError, ClientSettings};

use crate::announcement::{Announced, FOLDER, STORE};
use crate::{private_folder, store_place};

/// Time limit of a connection to a server on this machine.
const CONNECT_TIME: Duration = Duration::from_millis(500);

/// Time that a server has to start: a store is checked when it is opened.
const START_TIME: Duration = Duration::from_secs(10);

/// Interval of looks whether it has started.
const POLL: Duration = Duration::from_millis(10);

/// Pause before another start, where a server has ended at once.
const PAUSE: Duration = Duration::from_millis(500);

/// A server that was started for agents ends when nobody has asked it anything for this long, in seconds.
pub const IDLE_SECONDS: u64 = 3600;

/// The log of a server that was started for agents.
const LOG: &str = "serve.log";

/// A start begins the log anew where it is larger, in bytes: each start adds some lines.
const MOST_LOG_BYTES: u64 = 1 << 20;

/// What the running server of this repository announces. One that was killed may have left an announcement behind, whose address is another
/// server's by now, or any program's.
pub fn running(working_copy: &WorkingCopy) -> Option<Announced> {
    let is_it = |announced: &Announced| {
        // To ask takes a good part of the time of a command.
        announced.surely_runs(&folder(working_copy)) || is_found(announced).unwrap_or(true)
    };
    announced(working_copy).filter(|announced| is_listening(announced) && is_it(announced))
}

/// What the last server of this repository has announced, unless it has taken that back.
pub fn announced(working_copy: &WorkingCopy) -> Option<Announced> {
    Announced::read(&folder(working_copy))
}

/// Why nothing is known of locks, where a server is announced that does not answer: it may run where it cannot be reached from here, as
/// from a container.
pub fn unreachable(working_copy: &WorkingCopy) -> Option<String> {
    let is_announced = crate::announcement::is_in(&folder(working_copy));
    is_announced.then(|| {
        "a coord serve is announced for this clone and cannot be reached from here; set COORD_URL to its address, or run `coord status`, \
         which starts one where it has ended"
            .to_owned()
    })
}

/// Whether a server runs for this repository, or has run.
pub fn is_known(working_copy: &WorkingCopy) -> bool {
    running(working_copy).is_some()
        || matches!(
            file(working_copy, STORE).about(),
            Ok(Some(About { kind: Kind::File, .. }))
        )
        || kept_elsewhere(working_copy).is_some()
}

/// The store that keeps the locks of this repository, where it is not that of its folder.
pub fn kept_elsewhere(working_copy: &WorkingCopy) -> Option<String> {
    store_place::elsewhere(&folder(working_copy))
}

/// Fails where the locks are kept in another store than that of this repository's folder: somebody may hold files although no server runs.
///
/// # Errors
/// A sentence, which names that store.
pub fn ensure_kept_here(working_copy: &WorkingCopy) -> anyhow::Result<()> {
    match kept_elsewhere(working_copy) {
        None => Ok(()),
        Some(place) => bail!(
            "the locks of this clone are kept elsewhere, in the {place}, whose coord serve does not run: start it again as before, or run \
             `coord serve` without options here to keep them in the clone from now on"
        ),
    }
}

/// The server of this repository, which is started if none runs.
///
/// # Errors
/// When it does not start in time, with what it says. When none runs and the locks are kept in another store, in which this one's server
/// would see none of them.
pub fn running_or_started(working_copy: &WorkingCopy) -> anyhow::Result<Announced> {
    if let Some(announced) = running(working_copy) {
        return Ok(announced);
    }
    ensure_kept_here(working_copy)?;
    let log = file(working_copy, LOG);
    let mut server = start(working_copy.root(), &log)?;
    let deadline = Instant::now() + START_TIME;
    // Where several agents start at once, one server gets the store; the others end, and their agents find the first.
    while Instant::now() < deadline {
        if let Some(announced) = running(working_copy) {
            return Ok(announced);
        }
        if server.try_wait().is_ok_and(|ended| ended.is_some()) {
            // One that is about to end keeps the store a little longer than its announcement.
            std::thread::sleep(PAUSE);
            if running(working_copy).is_none() {
                server = start(working_copy.root(), &log)?;
            }
        }
        std::thread::sleep(POLL);
    }
    let said = log.read(2 * MOST_LOG_BYTES).ok().flatten().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = said
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("nothing");
    bail!(
        "coord serve did not start within {} seconds; {} says: {said}",
        START_TIME.as_secs(),
        log.full().display()
    )
}

/// The log of a server that was started for agents.
pub fn log(working_copy: &WorkingCopy) -> PathBuf {
    file(working_copy, LOG).full()
}

/// The folder of Coord's files for this repository. Links there are not followed: another user may have made them.
fn folder(working_copy: &WorkingCopy) -> Inside {
    Inside::new(working_copy.shared_folder(), FOLDER)
}

/// A text that only this folder has, as it is on this machine.
pub fn mark(working_copy: &WorkingCopy) -> Option<String> {
    private_folder::mark(&folder(working_copy))
}

/// The folder of the files of agents' sessions.
pub fn sessions(working_copy: &WorkingCopy) -> Inside {
    file(working_copy, "sessions")
}

/// A file of Coord's, by its path in [`folder`].
pub fn file(working_copy: &WorkingCopy, path: &str) -> Inside {
    folder(working_copy).join(path)
}

fn is_listening(announced: &Announced) -> bool {
    TcpStream::connect_timeout(&announced.socket(), CONNECT_TIME).is_ok()
}

/// Whether what listens at the address is the server that has announced it; `None` where nobody says so in time.
fn is_found(announced: &Announced) -> Option<bool> {
    let client = Client::with_settings(ClientSettings {
        base: &announced.address(),
        token: None,
        agent_id: None,
        server: Some(announced.instance.as_deref()?),
        limit: CONNECT_TIME,
    });
    let client = client.ok()?;
    // On a thread of its own, because this may be called where a runtime waits for it.
    let asking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.ok().map(|runtime| runtime.block_on(client.finds_server()))
    });
    match asking.join().ok()?? {
        Ok(is_found) => Some(is_found),
        Err(ClientError::Unreachable(error)) if error.is_timeout() => None,
        // It listens, and speaks no HTTP.
        Err(_) => Some(false),
    }
}

/// Starts a server that outlives this process.
fn start(root: &Path, log: &Inside) -> anyhow::Result<Child> {
    log.make_parents(PRIVATE_MODE)?;
    let log = log.append(FILE_MODE)?;
    if log.metadata().is_ok_and(|about| about.len() > MOST_LOG_BYTES) {
        // A server that runs appends, so that it goes on at the new end.
        log.set_len(0).context("the log of coord serve")?;
    }
    let program = std::env::current_exe().context("the program of coord cannot be found")?;
    let mut server = Command::new(program);
    server
        .args(["serve", "--exit-when-idle", &IDLE_SECONDS.to_string(), "--repo"])
        .arg(root)
        .stdin(Stdio::null())
        .stdout(log.try_clone().context("the log of coord serve")?)
        .stderr(log);
    crate::git::environment::clear_of_git(&mut server);
    detach(&mut server);
    server.spawn().context("coord serve cannot be started")
}

/// Ctrl-C in the terminal of an agent does not reach the server.
#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    /// `DETACHED_PROCESS` and `CREATE_NEW_PROCESS_GROUP`
    const FLAGS: u32 = 0x0000_0008 | 0x0000_0200;
    command.creation_flags(FLAGS);
}
