//! The address of a running `coord serve`, in a file: beside its store, and in git's folder of each served repository,
//! with the id under which it is served. A second `coord serve` prints the address; commands of agents find their
//! server by it. A file from an archive is ignored, because it lacks the mark of its folder. The file also names the
//! container or sandbox of the process, because its process id and address mean nothing in another one.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, UNIX_EPOCH};

use coord_domain::RepoId;
use coord_files::{FILE_MODE, RootedPath};
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

use crate::{machine, private_folder};

/// The file's name, in the folder of the store and in `coord/` of git's folder.
const FILE: &str = "listening";

/// The folder of Coord's files in git's folder.
pub const FOLDER: &str = "coord";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 4096;

/// Time limit for a connection to a server on this machine.
const CONNECT_LIMIT: Duration = Duration::from_millis(500);

/// The file of the embedded store, in its folder.
pub const STORE: &str = "store.redb";

/// Whether a process has announced itself in `folder` and has not withdrawn the announcement.
#[must_use]
pub fn is_in(folder: &RootedPath) -> bool {
    !matches!(folder.join(FILE).about(), Ok(None))
}

/// The files of this process. Dropping it removes those that are still its own.
#[derive(Debug)]
pub struct Announcement {
    /// The content of each file, by its folder.
    announced: BTreeMap<RootedPath, AnnouncedServer>,
    instance: String,
}

impl Announcement {
    /// Writes the address of this process into each of `folders`, with the id of the repository that is served from
    /// there, if any. If a folder is given twice, the first counts. Only the process that has opened the store may call
    /// it, so that there is one announcement at a time.
    #[must_use]
    pub fn write(folders: impl IntoIterator<Item = (RootedPath, Option<RepoId>)>, address: SocketAddr) -> Announcement {
        let mut announced = BTreeMap::new();
        let instance = uuid::Uuid::now_v7().simple().to_string();
        for (folder, repo) in folders {
            let server = AnnouncedServer {
                socket: address,
                repo,
                instance: Some(instance.clone()),
                process: std::process::id(),
                mark: None,
                machine: machine::process_scope().map(str::to_owned),
                path: None,
            };
            announced.entry(folder).or_insert(server);
        }
        for folder in announced.keys() {
            if let Err(error) = private_folder::make_inside(folder) {
                tracing::debug!(%error, folder = %folder.full().display(), "the folder cannot be made");
            }
        }
        let announcement = Announcement { announced, instance };
        announcement.renew();
        announcement
    }

    /// The name of this process, which no other server has or had.
    #[must_use]
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Restores missing files, if their folder still exists. The file of a server with another store that serves the
    /// same repository stays as long as that server listens.
    pub fn renew(&self) {
        for (folder, own) in &self.announced {
            let own = own.in_folder(folder);
            let current = AnnouncedServer::read(folder);
            let is_gone = own.mark.is_none();
            if current.as_ref() == Some(&own) || is_gone || current.is_some_and(|other| other.is_listening()) {
                continue;
            }
            // Readers see the old text or the new one, never a part.
            let file = folder.join(FILE);
            if let Err(error) = file.write(own.text().as_bytes(), FILE_MODE) {
                tracing::debug!(%error, "other processes cannot read where this one listens");
                // The old file belongs to a process that has ended.
                let _ = file.remove();
            }
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        for (folder, own) in &self.announced {
            // The file may belong to a server with another store.
            if AnnouncedServer::read(folder).is_some_and(|current| current == own.in_folder(folder)) {
                let _ = folder.join(FILE).remove();
            }
        }
    }
}

/// A process's announcement. Displayed, it is the address, with the process in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedServer {
    socket: SocketAddr,
    /// The id under which it serves the repository of the file. `None` in a file beside a store.
    pub repo: Option<RepoId>,
    /// Its name, which no other server has or had. `None` if an earlier version has written the file.
    pub instance: Option<String>,
    pub process: u32,
    /// The mark of the file's folder.
    mark: Option<String>,
    /// The [`machine::process_scope`] of the server's process.
    machine: Option<String>,
    /// A digest of the path of the file's folder.
    path: Option<String>,
}

impl AnnouncedServer {
    /// Reads the announcement in `folder`. The process may have ended since.
    #[must_use]
    pub fn read(folder: &RootedPath) -> Option<AnnouncedServer> {
        let text = private_folder::read(&folder.join(FILE), MAX_BYTES).ok()?;
        let announced = AnnouncedServer::parse(std::str::from_utf8(&text).ok()?)?;
        let is_of_folder = announced.mark.is_some() && announced.mark == private_folder::mark(folder);
        // If the folder was renamed, the server no longer finds its files. A server in another container may have
        // another path for the same folder.
        let was_renamed =
            announced.path.is_some() && announced.path != path_digest(folder) && !announced.is_elsewhere();
        Some(announced).filter(|announced| is_of_folder && !was_renamed && announced.is_here())
    }

    /// Whether its process runs in another container or sandbox, on another machine, or ran before this machine was
    /// started. Its process id and address may belong to a different process here.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.machine.is_some()
            && machine::process_scope().is_some()
            && self.machine.as_deref() != machine::process_scope()
    }

    /// The announcement as the file in `folder` has it.
    fn in_folder(&self, folder: &RootedPath) -> AnnouncedServer {
        AnnouncedServer {
            mark: private_folder::mark(folder),
            path: path_digest(folder),
            ..self.clone()
        }
    }

    /// Whether the address belongs to this machine.
    fn is_here(&self) -> bool {
        let ip = self.socket.ip();
        ip.is_loopback() || ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
    }

    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}", self.socket)
    }

    /// The address, to connect to.
    #[must_use]
    pub fn socket(&self) -> SocketAddr {
        self.socket
    }

    /// Whether `url` names this server.
    #[must_use]
    pub fn is_at(&self, url: &str) -> bool {
        let authority = url
            .trim()
            .strip_prefix("http://")
            .map(|authority| authority.trim_end_matches('/'));
        let Some((host, port)) = authority.and_then(|authority| authority.rsplit_once(':')) else {
            return false;
        };
        let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let own = self.socket.ip();
        let is_loopback = host.eq_ignore_ascii_case("localhost") || ip.is_some_and(|ip| ip.is_loopback());
        let is_own = ip == Some(own) || own.is_unspecified() || (own.is_loopback() && is_loopback);
        is_own && port.parse() == Ok(self.socket.port())
    }

    /// Whether it is another process, which still runs and listens. If it has ended, a server of another repository may
    /// have its address.
    fn is_listening(&self) -> bool {
        (self.is_elsewhere() || self.process != std::process::id())
            && self.start_time().is_some()
            && TcpStream::connect_timeout(&self.socket, CONNECT_LIMIT).is_ok()
    }

    /// When the process with its id was started, Unix seconds. `None` if no such process is visible from here.
    fn start_time(&self) -> Option<u64> {
        if self.is_elsewhere() {
            return None;
        }
        let id = Pid::from_u32(self.process);
        let (mut system, kind) = (System::new(), ProcessRefreshKind::nothing().without_tasks());
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), true, kind);
        let process = system.process(id)?;
        (process.status() != ProcessStatus::Zombie).then(|| process.start_time())
    }

    /// Whether it surely runs: the process with its id is at least as old as the file in `folder`. A younger process
    /// would have reused the id of one that has ended.
    #[must_use]
    pub fn surely_runs(&self, folder: &RootedPath) -> bool {
        let modified = folder.join(FILE).about().ok().flatten().and_then(|file| file.modified);
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        // The system rounds to seconds.
        let is_older = |(started, modified): (u64, Duration)| started <= modified.as_secs() + 1;
        self.start_time().zip(modified).is_some_and(is_older)
    }

    fn text(&self) -> String {
        let repo = self.repo.iter().map(|repo| format!(" serving {repo}"));
        let instance = self.instance.iter().map(|instance| format!(" as {instance}"));
        let mark = self.mark.iter().map(|mark| format!(" in {mark}"));
        let machine = self.machine.iter().map(|machine| format!(" from {machine}"));
        let path = self.path.iter().map(|path| format!(" at {path}"));
        let fields: String = repo.chain(instance).chain(mark).chain(machine).chain(path).collect();
        format!("http://{}{fields} (process {})", self.socket, self.process)
    }

    fn parse(text: &str) -> Option<AnnouncedServer> {
        let (rest, process) = text.strip_prefix("http://")?.split_once(" (process ")?;
        let (rest, path) = split_field(rest, " at ");
        let (rest, machine) = split_field(rest, " from ");
        let (rest, mark) = split_field(rest, " in ");
        let (rest, instance) = split_field(rest, " as ");
        let (socket, repo) = match rest.split_once(" serving ") {
            Some((socket, repo)) => (socket, Some(RepoId::parse(repo).ok()?)),
            None => (rest, None),
        };
        Some(AnnouncedServer {
            socket: socket.parse().ok()?,
            repo,
            instance,
            process: process.strip_suffix(')')?.parse().ok()?,
            mark,
            machine,
            path,
        })
    }
}

/// Splits `text` into the text before `separator`, and the field after it.
fn split_field<'a>(text: &'a str, separator: &str) -> (&'a str, Option<String>) {
    match text.split_once(separator) {
        Some((text, field)) => (text, Some(field.to_owned())),
        None => (text, None),
    }
}

fn path_digest(folder: &RootedPath) -> Option<String> {
    let path = folder.full().canonicalize().ok()?;
    let digest = sha1_smol::Sha1::from(path.as_os_str().as_encoded_bytes())
        .digest()
        .to_string();
    Some(digest[..16].to_owned())
}

impl fmt::Display for AnnouncedServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_elsewhere() {
            return write!(out, "http://{} (in another container or sandbox)", self.socket);
        }
        write!(out, "http://{} (process {})", self.socket, self.process)
    }
}

#[cfg(test)]
mod tests;
