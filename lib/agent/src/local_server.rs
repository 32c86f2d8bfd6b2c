//! The `coord serve` of a repository on this machine. Agents' commands start it if none runs. A clone without a store
//! uses the server of another clone of its repository, if one is listed.

use std::fs::File;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_files::{Cause, EntryInfo, EntryKind, FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::{GitSource, WorkingCopy, display_path};
use coord_protocol::{Client, ClientError, ClientSettings};
use coord_settings::{env_vars, process_environment, value_of};

use crate::announcement::{AnnouncedServer, FOLDER, STORE};
use crate::clone_list::{self, CloneList};
use crate::{private_folder, store_location, user_state};

/// Time limit of a connection to a server on this machine.
const CONNECT_TIME: Duration = Duration::from_millis(500);

/// Time limit of a server's start, which checks the store.
const START_TIME: Duration = Duration::from_secs(10);

/// The interval of checks whether the server has started.
const POLL: Duration = Duration::from_millis(10);

/// Pause before another start, if the first server has ended at once.
const PAUSE: Duration = Duration::from_millis(500);

/// A server that was started for agents ends after this number of seconds without a request.
const IDLE_SECONDS: u64 = 3600;

/// The log of a server that was started for agents.
const LOG: &str = "serve.log";

/// Maximum size of the log, in bytes: a start empties a larger one.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// The setting for the port of servers that are started for agents.
const PORT: &str = "coord.port";

/// The clone whose folder has the store of a working copy's locks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoreClone {
    /// Git's own folder of the clone.
    clone: PathBuf,
    /// Whether it is another clone than the working copy's.
    is_other: bool,
}

impl StoreClone {
    /// The clone of `working_copy` if it has, or has had, a server. Otherwise the clone that is listed for the
    /// repository.
    fn of(working_copy: &WorkingCopy) -> StoreClone {
        let own = StoreClone {
            clone: working_copy.shared_folder().to_owned(),
            is_other: false,
        };
        if !working_copy.has_remote() || has_server(&own.folder()) {
            return own;
        }
        match CloneList::read(working_copy.repo()).home() {
            Some(home) if home != own.clone => StoreClone {
                clone: home.to_owned(),
                is_other: true,
            },
            _ => own,
        }
    }

    fn folder(&self) -> RootedPath {
        RootedPath::new(&self.clone, FOLDER)
    }

    /// The announcement of the clone's running server.
    fn running_server(&self, working_copy: &WorkingCopy) -> Option<AnnouncedServer> {
        let folder = self.folder();
        let announced = AnnouncedServer::read(&folder).filter(|announced| runs(announced, &folder))?;
        if self.is_other {
            // The server must read the commits of this clone too.
            clone_list::join(working_copy.repo(), working_copy.shared_folder());
            // The other clone may now be one of another repository.
            return Some(announced).filter(|announced| announced.repo.as_ref() == Some(working_copy.repo()));
        }
        Some(announced)
    }
}

/// Whether the server that has announced itself in `folder` runs, and can be reached. The announcement may be that of a
/// killed server, whose address now belongs to another program.
pub(super) fn runs(announced: &AnnouncedServer, folder: &RootedPath) -> bool {
    match announced.is_elsewhere() {
        true => answers_probe(announced) == Some(true),
        // A probe takes a good part of the time of a command, so it comes last.
        false => is_listening(announced) && (announced.surely_runs(folder) || answers_probe(announced).unwrap_or(true)),
    }
}

/// Whether the clone with Coord's folder `folder` has, or has had, a server.
pub(super) fn has_server(folder: &RootedPath) -> bool {
    crate::announcement::is_in(folder) || has_store(folder) || store_location::elsewhere(folder).is_some()
}

/// Whether the clone with Coord's folder `folder` has a store.
pub fn has_store(folder: &RootedPath) -> bool {
    matches!(
        folder.join(STORE).about(),
        Ok(Some(EntryInfo {
            kind: EntryKind::File,
            ..
        }))
    )
}

/// The announcement of the running server of this repository.
pub fn running(working_copy: &WorkingCopy) -> Option<AnnouncedServer> {
    StoreClone::of(working_copy).running_server(working_copy)
}

/// The announcement of the last server of this repository, unless that has removed it.
pub fn read_announcement(working_copy: &WorkingCopy) -> Option<AnnouncedServer> {
    AnnouncedServer::read(&StoreClone::of(working_copy).folder())
}

/// The other clone of the repository whose server this clone's commands use.
pub(super) fn other_clone(working_copy: &WorkingCopy) -> Option<PathBuf> {
    let home = StoreClone::of(working_copy);
    home.is_other.then(|| display_path(&home.clone))
}

/// The reason why the locks are unknown, if a server is announced that does not answer: it may run in a container that
/// cannot be reached from here.
pub fn unreachable(working_copy: &WorkingCopy) -> Option<String> {
    let folder = StoreClone::of(working_copy).folder();
    if let Some(reason) = out_of_reach(&folder) {
        return Some(reason);
    }
    let is_announced = crate::announcement::is_in(&folder);
    is_announced.then(|| {
        "a coord serve is announced for this clone and cannot be reached from here; set COORD_URL to its address, or \
         run `coord status`, which starts one if it has ended"
            .to_owned()
    })
}

/// The reason why the server of the clone with Coord's folder `folder` can neither be reached from here nor started: it
/// runs elsewhere and has the store, or the folder belongs to another user.
fn out_of_reach(folder: &RootedPath) -> Option<String> {
    if let Err(error) = folder.join(STORE).about()
        && let Cause::System(cause) = &error.cause
        && cause.kind() == ErrorKind::PermissionDenied
    {
        let owner = private_folder::owner(&folder.full()).unwrap_or_else(|| "another user".to_owned());
        return Some(format!(
            "{} belongs to {owner}, so commands do not use its coord serve by themselves; set {} to the address of \
             that server, which `coord doctor` shows to {owner}",
            folder.full().display(),
            env_vars::COORD_URL
        ));
    }
    let announced = AnnouncedServer::read(folder)?;
    if !announced.is_elsewhere() {
        return is_forbidden(&announced).then(|| {
            format!(
                "this sandbox does not permit a connection to the coord serve of this clone at {}; permit it, or set \
                 {} to an address that it permits",
                announced.address(),
                env_vars::COORD_URL
            )
        });
    }
    is_in_use(&folder.join(STORE)).then(|| {
        format!(
            "the coord serve of this clone runs in another container or sandbox, and cannot be reached from here; \
             start `coord serve --listen` outside of it, with an address that can be reached, and set {} to that \
             address, or run all agents in one place",
            env_vars::COORD_URL
        )
    })
}

/// Whether the system refuses this process a connection to the server.
fn is_forbidden(announced: &AnnouncedServer) -> bool {
    let stream = TcpStream::connect_timeout(&announced.socket(), CONNECT_TIME);
    stream.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Whether a process has the store open, in any container: it holds the system's lock on the file.
fn is_in_use(store: &RootedPath) -> bool {
    let file: Option<File> = store.open().ok().flatten();
    file.is_some_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

/// Whether a server runs for this repository, or has run.
pub fn has_run(working_copy: &WorkingCopy) -> bool {
    running(working_copy).is_some()
        || has_store(&StoreClone::of(working_copy).folder())
        || other_store(working_copy).is_some()
}

/// The file in which a server of this repository stores its locks, unless [`other_store`] names another store.
pub fn store_file(working_copy: &WorkingCopy) -> PathBuf {
    StoreClone::of(working_copy).folder().join(STORE).full()
}

/// The store of this repository's locks, if it is not in the clone's folder.
pub fn other_store(working_copy: &WorkingCopy) -> Option<String> {
    store_location::elsewhere(&StoreClone::of(working_copy).folder())
}

/// Fails if the locks are in a store outside of this repository's folder: agents may hold files although no server
/// runs.
///
/// # Errors
/// A sentence that names the store.
pub(super) fn ensure_kept_here(working_copy: &WorkingCopy) -> anyhow::Result<()> {
    match other_store(working_copy) {
        None => Ok(()),
        Some(store) => bail!(
            "the locks of this clone are kept elsewhere, in the {store}, whose coord serve does not run: start it \
             again as before, or run `coord serve` without options here to keep them in the clone from now on"
        ),
    }
}

/// The server of this repository, which is started if none runs.
///
/// # Errors
/// When the server does not start in time, with its output. When none runs and the locks are in another store: a new
/// server would not see them.
pub(super) fn find_or_start(working_copy: &WorkingCopy) -> anyhow::Result<AnnouncedServer> {
    if let Some(announced) = running(working_copy) {
        return Ok(announced);
    }
    ensure_kept_here(working_copy)?;
    if working_copy.has_remote() && !has_server(&folder(working_copy)) {
        // If commands start in several clones at once, the list decides which clone has the store.
        clone_list::join(working_copy.repo(), working_copy.shared_folder());
    }
    let mut home = StoreClone::of(working_copy);
    if home.is_other && GitSource::id_at(&home.clone).as_ref() != Some(working_copy.repo()) {
        clone_list::forget_home(working_copy.repo(), &home.clone);
        clone_list::join(working_copy.repo(), working_copy.shared_folder());
        home = StoreClone::of(working_copy);
    }
    if let Some(reason) = out_of_reach(&home.folder()) {
        bail!("{reason}");
    }
    let root = match home.is_other {
        true => home.clone.as_path(),
        false => working_copy.root(),
    };
    let port = configured_port(working_copy)?;
    let log = home.folder().join(LOG);
    let mut server = start(root, port, &log)?;
    let deadline = Instant::now() + START_TIME;
    // If several agents start servers at once, one server gets the store. The others end, and their agents find it.
    while Instant::now() < deadline {
        if let Some(announced) = running(working_copy) {
            return Ok(announced);
        }
        if server.try_wait().is_ok_and(|status| status.is_some()) {
            // A server that ends removes its announcement before it closes the store.
            std::thread::sleep(PAUSE);
            if running(working_copy).is_none() {
                server = start(root, port, &log)?;
            }
        }
        std::thread::sleep(POLL);
    }
    let output = log.read(2 * MAX_LOG_BYTES).ok().flatten().unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let last_line = output
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("nothing");
    bail!(
        "coord serve did not start within {} seconds; {} says: {last_line}",
        START_TIME.as_secs(),
        log.full().display()
    )
}

/// The log of a server that was started for agents.
pub fn log(working_copy: &WorkingCopy) -> PathBuf {
    StoreClone::of(working_copy).folder().join(LOG).full()
}

/// The folder of Coord's files for this repository. Links in it are not followed: another user may have created them.
fn folder(working_copy: &WorkingCopy) -> RootedPath {
    RootedPath::new(working_copy.shared_folder(), FOLDER)
}

/// A text that identifies the folder of Coord's files on this machine.
pub(super) fn mark(working_copy: &WorkingCopy) -> Option<String> {
    private_folder::mark(&folder(working_copy))
}

/// The folder of the files of agents' sessions. It is in the user's own folder for state, because several users may
/// share a clone. If the user has none, it is in git's folder.
pub fn sessions(working_copy: &WorkingCopy) -> RootedPath {
    let clone = working_copy.shared_folder().as_os_str().as_encoded_bytes();
    let digest = sha1_smol::Sha1::from(clone).digest().to_string();
    let own = user_state::inside(&format!("sessions/{}", &digest[..16]));
    own.unwrap_or_else(|| file(working_copy, "sessions"))
}

/// The port that the user has set for servers that are started for agents. A repository's own settings are ignored.
fn configured_port(working_copy: &WorkingCopy) -> anyhow::Result<Option<u16>> {
    let setting = value_of(&process_environment, env_vars::COORD_PORT).map(|port| (env_vars::COORD_PORT, port));
    let setting = setting.or_else(|| Some((PORT, working_copy.user_setting(PORT)?)));
    let parse = |(name, port): (&str, String)| match port.trim().parse() {
        Ok(number) => Ok(number),
        Err(_) => bail!("{name} is {port:?}: set it to a port, such as 4100"),
    };
    setting.map(parse).transpose()
}

/// A file of Coord's, by its path in [`folder`].
pub fn file(working_copy: &WorkingCopy, path: &str) -> RootedPath {
    folder(working_copy).join(path)
}

fn is_listening(announced: &AnnouncedServer) -> bool {
    TcpStream::connect_timeout(&announced.socket(), CONNECT_TIME).is_ok()
}

/// Whether the server that announced the address listens there; `None` if it does not answer in time.
fn answers_probe(announced: &AnnouncedServer) -> Option<bool> {
    let client = Client::with_settings(ClientSettings {
        base: &announced.address(),
        token: None,
        agent_id: None,
        server: Some(announced.instance.as_deref()?),
        limit: CONNECT_TIME,
    });
    let client = client.ok()?;
    // On a separate thread, because the caller may be blocking a runtime.
    let probe = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.ok().map(|runtime| runtime.block_on(client.finds_server()))
    });
    match probe.join().ok()?? {
        Ok(is_same_server) => Some(is_same_server),
        Err(ClientError::Unreachable(error)) if error.is_timeout() => None,
        // Another program listens there.
        Err(_) => Some(false),
    }
}

/// Starts a server that outlives this process.
fn start(root: &Path, port: Option<u16>, log: &RootedPath) -> anyhow::Result<Child> {
    log.create_parents(PRIVATE_MODE)?;
    let log = log.append(FILE_MODE)?;
    if log.metadata().is_ok_and(|metadata| metadata.len() > MAX_LOG_BYTES) {
        // A running server appends, so that it continues at the new end.
        log.set_len(0).context("the log of coord serve")?;
    }
    let program = std::env::current_exe().context("the program of coord cannot be found")?;
    let mut server = Command::new(program);
    server
        .args(["serve", "--exit-when-idle", &IDLE_SECONDS.to_string(), "--repo"])
        .arg(root)
        .args(port.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]))
        // The folder of this process may be a worktree that is removed later.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(log.try_clone().context("the log of coord serve")?)
        .stderr(log);
    crate::git::environment::clear_hook_variables(&mut server);
    detach(&mut server);
    server.spawn().context("coord serve cannot be started")
}

/// Starts a new process group, so that Ctrl-C in the terminal of an agent does not reach the server.
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
