//! The address of a running `coord serve`, in a file: of a store that is in use, and in git's folder of each repository that is
//! served, with the id that it is served by. A second `coord serve` prints it; commands of agents find their server by it. A file that
//! came with an archive counts as none: it cannot name the mark of the folder that it is in. It also says in which container or sandbox the
//! process runs, whose number and address mean nothing in another one.

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

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4096;

/// Longest time in which a server on this machine accepts a connection.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// The file of the embedded store, in its folder.
pub const STORE: &str = "store.redb";

/// Whether a process has announced itself in `folder` and has not withdrawn that.
#[must_use]
pub fn is_in(folder: &RootedPath) -> bool {
    !matches!(folder.join(FILE).about(), Ok(None))
}

/// The files of this process; dropping it removes those that are still its own.
#[derive(Debug)]
pub struct Announcement {
    /// By the folder that the file is in.
    announced: BTreeMap<RootedPath, AnnouncedServer>,
    instance: String,
}

impl Announcement {
    /// Writes the address of this process into each of `folders`, with the id of the repository where one is served from there.
    /// Of a folder that is given twice, the first counts. Only the process that has the store open may call it, so that there
    /// is one at a time.
    #[must_use]
    pub fn write(folders: impl IntoIterator<Item = (RootedPath, Option<RepoId>)>, address: SocketAddr) -> Announcement {
        let mut all = BTreeMap::new();
        let instance = uuid::Uuid::now_v7().simple().to_string();
        for (folder, repo) in folders {
            let announced = AnnouncedServer {
                socket: address,
                repo,
                instance: Some(instance.clone()),
                process: std::process::id(),
                mark: None,
                machine: machine::process_scope().map(str::to_owned),
                path: None,
            };
            all.entry(folder).or_insert(announced);
        }
        for folder in all.keys() {
            if let Err(error) = private_folder::make_inside(folder) {
                tracing::debug!(%error, folder = %folder.full().display(), "the folder cannot be made");
            }
        }
        let announcement = Announcement {
            announced: all,
            instance,
        };
        announcement.renew();
        announcement
    }

    /// The name of this process among all servers, those that have ended too.
    #[must_use]
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Restores missing files, if the folder is still there. A server with another store that serves the same repository, and still
    /// listens, keeps its place.
    pub fn renew(&self) {
        for (folder, own) in &self.announced {
            let own = own.in_folder(folder);
            let now = AnnouncedServer::read(folder);
            let is_gone = own.mark.is_none();
            if now.as_ref() == Some(&own) || is_gone || now.is_some_and(|other| other.is_listening()) {
                continue;
            }
            // Readers see the old text or the new one, never a part.
            let file = folder.join(FILE);
            if let Err(error) = file.write(own.text().as_bytes(), FILE_MODE) {
                tracing::debug!(%error, "other processes cannot read where this one listens");
                // An old file is that of a process that has ended.
                let _ = file.remove();
            }
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        for (folder, own) in &self.announced {
            // The file may be that of a server with another store.
            if AnnouncedServer::read(folder).is_some_and(|now| now == own.in_folder(folder)) {
                let _ = folder.join(FILE).remove();
            }
        }
    }
}

/// A process's announcement. Displayed, it is the address, with the process in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedServer {
    socket: SocketAddr,
    /// The id by which it serves the repository that the file is of. `None` in the file of a store alone.
    pub repo: Option<RepoId>,
    /// Its name among all servers, those that have ended too. `None` where an earlier version has written the file.
    pub instance: Option<String>,
    pub process: u32,
    /// The mark of the folder that the file is in.
    mark: Option<String>,
    /// The [`machine::process_scope`] of the server's process.
    machine: Option<String>,
    /// A digest of the path of the folder that the file is in.
    path: Option<String>,
}

impl AnnouncedServer {
    /// The announcement in `folder`. The process may have ended since.
    #[must_use]
    pub fn read(folder: &RootedPath) -> Option<AnnouncedServer> {
        let text = private_folder::read(&folder.join(FILE), MOST_BYTES).ok()?;
        let announced = AnnouncedServer::parse(std::str::from_utf8(&text).ok()?)?;
        let is_of_folder = announced.mark.is_some() && announced.mark == private_folder::mark(folder);
        // Under a folder that was renamed, the server finds nothing any more. Elsewhere it may have another path for the same one.
        let was_renamed = announced.path.is_some() && announced.path != digest_of(folder) && !announced.is_elsewhere();
        Some(announced).filter(|announced| is_of_folder && !was_renamed && announced.is_here())
    }

    /// Whether its process runs in another container or sandbox, on another machine, or ran before this one was started: its number and
    /// address may belong to a different process here.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.machine.is_some()
            && machine::process_scope().is_some()
            && self.machine.as_deref() != machine::process_scope()
    }

    /// The same, as the file in `folder` has it.
    fn in_folder(&self, folder: &RootedPath) -> AnnouncedServer {
        AnnouncedServer {
            mark: private_folder::mark(folder),
            path: digest_of(folder),
            ..self.clone()
        }
    }

    /// Whether the address is one of this machine.
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
        let place = url
            .trim()
            .strip_prefix("http://")
            .map(|place| place.trim_end_matches('/'));
        let Some((host, port)) = place.and_then(|place| place.rsplit_once(':')) else {
            return false;
        };
        let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let own = self.socket.ip();
        let is_here = host.eq_ignore_ascii_case("localhost") || ip.is_some_and(|ip| ip.is_loopback());
        let is_own = ip == Some(own) || own.is_unspecified() || (own.is_loopback() && is_here);
        is_own && port.parse() == Ok(self.socket.port())
    }

    /// Whether it is another process, which still runs and listens. A server of another repository may have the address of one that
    /// has ended.
    fn is_listening(&self) -> bool {
        (self.is_elsewhere() || self.process != std::process::id())
            && self.started().is_some()
            && TcpStream::connect_timeout(&self.socket, ANSWERS_WITHIN).is_ok()
    }

    /// When the process with its number was started, Unix seconds, if one runs that can be seen from here.
    fn started(&self) -> Option<u64> {
        if self.is_elsewhere() {
            return None;
        }
        let id = Pid::from_u32(self.process);
        let (mut system, kind) = (System::new(), ProcessRefreshKind::nothing().without_tasks());
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), true, kind);
        let process = system.process(id)?;
        (process.status() != ProcessStatus::Zombie).then(|| process.start_time())
    }

    /// Whether it surely runs: the process with its number is as old as the file in `folder`, and so none that has the number of one
    /// that has ended.
    #[must_use]
    pub fn surely_runs(&self, folder: &RootedPath) -> bool {
        let written = folder.join(FILE).about().ok().flatten().and_then(|file| file.modified);
        let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        // The system rounds to seconds.
        let is_older = |(started, written): (u64, Duration)| started <= written.as_secs() + 1;
        self.started().zip(written).is_some_and(is_older)
    }

    fn text(&self) -> String {
        let serving = self.repo.iter().map(|repo| format!(" serving {repo}"));
        let named = self.instance.iter().map(|instance| format!(" as {instance}"));
        let marked = self.mark.iter().map(|mark| format!(" in {mark}"));
        let from = self.machine.iter().map(|machine| format!(" from {machine}"));
        let at = self.path.iter().map(|path| format!(" at {path}"));
        let about: String = serving.chain(named).chain(marked).chain(from).chain(at).collect();
        format!("http://{}{about} (process {})", self.socket, self.process)
    }

    fn parse(text: &str) -> Option<AnnouncedServer> {
        let (place, process) = text.strip_prefix("http://")?.split_once(" (process ")?;
        let (place, path) = without_part(place, " at ");
        let (place, machine) = without_part(place, " from ");
        let (place, mark) = without_part(place, " in ");
        let (place, instance) = without_part(place, " as ");
        let (socket, repo) = match place.split_once(" serving ") {
            Some((socket, repo)) => (socket, Some(RepoId::parse(repo).ok()?)),
            None => (place, None),
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

/// A text without the part behind `word`, and that part.
fn without_part<'a>(text: &'a str, word: &str) -> (&'a str, Option<String>) {
    match text.split_once(word) {
        Some((text, part)) => (text, Some(part.to_owned())),
        None => (text, None),
    }
}

/// A digest of the path of `folder`.
fn digest_of(folder: &RootedPath) -> Option<String> {
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
