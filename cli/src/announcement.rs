//! The address of a running `coord serve`, in a file: of a store that is in use, and in git's folder of each repository that is
//! served, with the id that it is served by. A second `coord serve` prints it; commands of agents find their server by it. A file that
//! came with an archive counts as none: it cannot name the mark of the folder that it is in.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, UNIX_EPOCH};

use coord::domain::RepoId;
use coord_files::{FILE_MODE, Inside};
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

use crate::private_folder;

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

/// Whether a process has announced itself in `folder` and has not taken that back, whoever may read it.
#[must_use]
pub fn is_in(folder: &Inside) -> bool {
    !matches!(folder.join(FILE).about(), Ok(None))
}

/// The files of this process; dropping it removes those that are still its own.
#[derive(Debug)]
pub struct Announcement {
    /// By the folder that the file is in.
    announced: BTreeMap<Inside, Announced>,
    instance: String,
}

impl Announcement {
    /// Writes the address of this process into each of `folders`, with the id of the repository where one is served from there.
    /// Of a folder that is given twice, the first counts. Only the process that has the store open may call it, so that there
    /// is one at a time.
    #[must_use]
    pub fn write(folders: impl IntoIterator<Item = (Inside, Option<RepoId>)>, address: SocketAddr) -> Announcement {
        let mut all = BTreeMap::new();
        let instance = uuid::Uuid::now_v7().simple().to_string();
        for (folder, repo) in folders {
            let announced = Announced {
                socket: address,
                repo,
                instance: Some(instance.clone()),
                process: std::process::id(),
                mark: None,
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

    /// Writes what is missing again, where the folder is still there. A server with another store that serves the same repository, and
    /// still listens, keeps its place.
    pub fn renew(&self) {
        for (folder, own) in &self.announced {
            let own = own.in_folder(folder);
            let now = Announced::read(folder);
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
            if Announced::read(folder).is_some_and(|now| now == own.in_folder(folder)) {
                let _ = folder.join(FILE).remove();
            }
        }
    }
}

/// What a process announces. Displayed, it is the address, with the process in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    socket: SocketAddr,
    /// The id by which it serves the repository that the file is of. `None` in the file of a store alone.
    pub repo: Option<RepoId>,
    /// Its name among all servers, those that have ended too. `None` where an earlier version has written the file.
    pub instance: Option<String>,
    /// Its number.
    pub process: u32,
    /// The mark of the folder that the file is in.
    mark: Option<String>,
}

impl Announced {
    /// What the file in `folder` announces. The process may have ended since.
    #[must_use]
    pub fn read(folder: &Inside) -> Option<Announced> {
        let text = private_folder::read(&folder.join(FILE), MOST_BYTES).ok()?;
        let announced = Announced::parse(std::str::from_utf8(&text).ok()?)?;
        let is_of_folder = announced.mark.is_some() && announced.mark == private_folder::mark(folder);
        Some(announced).filter(|announced| is_of_folder && announced.is_here())
    }

    /// The same, as the file in `folder` has it.
    fn in_folder(&self, folder: &Inside) -> Announced {
        Announced {
            mark: private_folder::mark(folder),
            ..self.clone()
        }
    }

    /// Whether the address is one of this machine.
    fn is_here(&self) -> bool {
        let ip = self.socket.ip();
        ip.is_loopback() || ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
    }

    /// The address.
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
        self.process != std::process::id()
            && self.started().is_some()
            && TcpStream::connect_timeout(&self.socket, ANSWERS_WITHIN).is_ok()
    }

    /// When the process with its number was started, Unix seconds, if one runs that can be seen from here.
    fn started(&self) -> Option<u64> {
        let id = Pid::from_u32(self.process);
        let (mut system, kind) = (System::new(), ProcessRefreshKind::nothing().without_tasks());
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), true, kind);
        let process = system.process(id)?;
        (process.status() != ProcessStatus::Zombie).then(|| process.start_time())
    }

    /// Whether it surely runs: the process with its number is as old as the file in `folder`, and so none that has the number of one
    /// that has ended.
    #[must_use]
    pub fn surely_runs(&self, folder: &Inside) -> bool {
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
        let about: String = serving.chain(named).chain(marked).collect();
        format!("http://{}{about} (process {})", self.socket, self.process)
    }

    fn parse(text: &str) -> Option<Announced> {
        let (place, process) = text.strip_prefix("http://")?.split_once(" (process ")?;
        let (place, mark) = match place.split_once(" in ") {
            Some((place, mark)) => (place, Some(mark.to_owned())),
            None => (place, None),
        };
        let (place, instance) = match place.split_once(" as ") {
            Some((place, instance)) => (place, Some(instance.to_owned())),
            None => (place, None),
        };
        let (socket, repo) = match place.split_once(" serving ") {
            Some((socket, repo)) => (socket, Some(RepoId::parse(repo).ok()?)),
            None => (place, None),
        };
        Some(Announced {
            socket: socket.parse().ok()?,
            repo,
            instance,
            process: process.strip_suffix(')')?.parse().ok()?,
            mark,
        })
    }
}

impl fmt::Display for Announced {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "http://{} (process {})", self.socket, self.process)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    #[cfg(unix)]
    use std::net::TcpListener;

    use super::*;

    fn inside(folder: &tempfile::TempDir) -> Inside {
        Inside::new(folder.path(), "")
    }

    /// Writes what a server there would.
    fn announce(folder: &tempfile::TempDir, announced: &Announced) {
        let text = announced.in_folder(&inside(folder)).text();
        fs::write(folder.path().join(FILE), text).unwrap();
    }

    fn announced(socket: &str) -> Announced {
        Announced {
            socket: socket.parse().unwrap(),
            repo: None,
            instance: None,
            process: 7,
            mark: None,
        }
    }

    #[test]
    fn an_announcement_is_read_as_it_was_written_and_an_earlier_versions_too() {
        let of_store = announced("127.0.0.1:3000");
        let of_repository = Announced {
            repo: RepoId::parse("localhost/local/work-ebf61c96").ok(),
            ..announced("[::1]:3000")
        };
        let of_named = Announced {
            instance: Some("0198f0c2".to_owned()),
            ..of_repository.clone()
        };
        let of_named_store = Announced {
            repo: None,
            ..of_named.clone()
        };
        let of_folder = Announced {
            mark: Some("3-4".to_owned()),
            ..of_named.clone()
        };
        for announced in [&of_store, &of_repository, &of_named, &of_named_store, &of_folder] {
            assert_eq!(Announced::parse(&announced.text()).as_ref(), Some(announced));
        }
        assert_eq!(
            of_repository.repo.as_ref().unwrap().as_str(),
            "localhost/local/work-ebf61c96"
        );
        assert_eq!(Announced::parse("http://127.0.0.1:3000 (process 7)"), Some(of_store));
        for damaged in [
            "",
            "http://",
            "http://127.0.0.1:3000",
            "http://127.0.0.1:3000 serving a (process 7)",
        ] {
            assert_eq!(Announced::parse(damaged), None, "{damaged:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_server_that_still_listens_keeps_its_place_and_the_next_one_follows_it() {
        let folder = tempfile::tempdir().unwrap();
        let (first, own) = (
            TcpListener::bind("127.0.0.1:0").unwrap(),
            "127.0.0.1:1".parse().unwrap(),
        );
        let other = Announced {
            // The process that has started this one.
            process: std::os::unix::process::parent_id(),
            ..announced(&first.local_addr().unwrap().to_string())
        };
        let place = inside(&folder);
        announce(&folder, &other);
        let second = Announcement::write([(place.clone(), None)], own);
        assert_eq!(Announced::read(&place), Some(other.in_folder(&place)));
        // One that came with an archive keeps no place.
        fs::write(folder.path().join(FILE), other.text()).unwrap();
        assert_eq!(Announced::read(&place), None);
        second.renew();
        assert_eq!(Announced::read(&place).unwrap().socket(), own);
        // Its address is another's by now.
        announce(
            &folder,
            &Announced {
                process: u32::MAX,
                ..other.clone()
            },
        );
        second.renew();
        assert_eq!(Announced::read(&place).unwrap().socket(), own);
        drop(first);
        // Nothing listens on a reserved port: the one that was left may be another test's by now.
        announce(
            &folder,
            &Announced {
                socket: "127.0.0.1:1".parse().unwrap(),
                ..other
            },
        );
        second.renew();
        assert_eq!(Announced::read(&place).unwrap().process, std::process::id());
        let gone = folder.path().to_owned();
        folder.close().unwrap();
        second.renew();
        assert!(!gone.exists(), "a folder that was deleted is not made again");
    }

    #[test]
    fn a_server_is_named_by_its_address_and_on_its_machine_by_localhost() {
        let is_at = |socket, url| announced(socket).is_at(url);
        for url in ["http://127.0.0.1:3000", "http://localhost:3000/", "http://[::1]:3000"] {
            assert!(is_at("127.0.0.1:3000", url), "{url}");
        }
        assert!(is_at("0.0.0.0:3000", "http://build-host:3000"));
        assert!(is_at("10.0.0.5:3000", "http://10.0.0.5:3000"));
        for url in [
            "http://127.0.0.1:3001",
            "http://build-host:3000",
            "https://127.0.0.1:3000",
            "http://127.0.0.1",
            "",
        ] {
            assert!(!is_at("127.0.0.1:3000", url), "{url}");
        }
        assert!(!is_at("10.0.0.5:3000", "http://localhost:3000"));
    }

    #[test]
    fn an_announcement_of_another_machine_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        for (socket, is_here) in [
            ("127.0.0.1:3000", true),
            ("0.0.0.0:3000", true),
            ("192.0.2.1:3000", false),
        ] {
            announce(&folder, &announced(socket));
            assert_eq!(Announced::read(&inside(&folder)).is_some(), is_here, "{socket}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_everybody_may_write_and_a_link_count_as_none() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        announce(&folder, &announced("127.0.0.1:3000"));
        assert!(Announced::read(&inside(&folder)).is_some());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(Announced::read(&inside(&folder)).is_none());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&file, folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", &file).unwrap();
        assert!(Announced::read(&inside(&folder)).is_none());
    }

    #[test]
    fn a_process_that_is_younger_than_the_file_has_not_written_it() {
        let folder = tempfile::tempdir().unwrap();
        let own = Announced {
            process: std::process::id(),
            ..announced("127.0.0.1:3000")
        };
        let file = folder.path().join(FILE);
        announce(&folder, &own);
        let place = inside(&folder);
        assert!(own.surely_runs(&place));
        assert!(!announced("127.0.0.1:3000").surely_runs(&place.join("elsewhere")));
        let ended = Announced {
            process: u32::MAX,
            ..own.clone()
        };
        assert!(!ended.surely_runs(&place));
        let before = std::time::SystemTime::now() - Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(&file).unwrap();
        file.set_modified(before).unwrap();
        assert!(!own.surely_runs(&place));
    }
}
