//! Ledger records that were not sent yet: one request per line of a file in git's folder, in order. They are sent
//! before later records, so that the ledger has the events of a machine in their order. If two processes send the same
//! request at once, it is recorded once, because each event has an id.
//!
//! The records are sent under the user's login, so a file from an archive counts as empty: its first line must be the
//! mark of its folder.

use std::fs::File;
use std::io::{self, Read, Write};

use anyhow::bail;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_protocol::RecordRequest;

use super::local_server;
use crate::private_folder;

/// Maximum size of the spool, in bytes. Excess records are lost, and the agent is notified.
const MAX_BYTES: u64 = 1 << 20;

/// The spool of a repository on this machine.
pub struct Spool {
    path: RootedPath,
    /// The first line, with its newline.
    first: Vec<u8>,
}

impl Spool {
    /// The spool of the repository of `working_copy`.
    pub fn of(working_copy: &WorkingCopy) -> Spool {
        let path = local_server::file(working_copy, "ledger-spool.jsonl");
        // Only an existing folder has a mark.
        let _ = path.create_parents(PRIVATE_MODE);
        let first = local_server::mark(working_copy).map(first_line).unwrap_or_default();
        Spool { path, first }
    }

    /// Adds `request` at the end.
    ///
    /// # Errors
    /// When there is no room, or the file cannot be written.
    pub fn add(&self, request: &RecordRequest) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let mut file = self.open_locked()?;
        let lines = self.read_lines(&mut file)?;
        if (self.first.len() + lines.len() + line.len()) as u64 > MAX_BYTES {
            bail!("{} is full", self.path.full().display());
        }
        match lines.is_empty() {
            true => self.write(&mut file, &line)?,
            false => file.write_all(&line)?,
        }
        Ok(())
    }

    /// The requests, in order. Lines that cannot be parsed are skipped.
    pub fn requests(&self) -> Vec<RecordRequest> {
        if self.path.about().ok().flatten().is_none_or(|entry| entry.len == 0) {
            return Vec::new();
        }
        let lines = self
            .open_locked()
            .and_then(|mut file| self.read_lines(&mut file))
            .unwrap_or_default();
        let lines = lines.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Removes `request`, which was sent, and all requests before it. Another process may have removed it already.
    pub fn remove(&self, request: &RecordRequest) {
        let removed = self.open_locked().and_then(|mut file| {
            let text = self.read_lines(&mut file)?;
            let is_sent =
                |line: &&[u8]| serde_json::from_slice::<RecordRequest>(line).is_ok_and(|spooled| spooled == *request);
            let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            if let Some(index) = lines.iter().position(is_sent) {
                self.write(&mut file, &lines[index + 1..].concat())?;
            }
            Ok(())
        });
        if let Err(error) = removed {
            tracing::debug!(%error, "the spool of the ledger cannot be written");
        }
    }

    /// Reads the lines after the first. Empty if the first line is not that of this spool.
    fn read_lines(&self, file: &mut File) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        file.take(2 * MAX_BYTES).read_to_end(&mut text)?;
        let is_own = !self.first.is_empty() && text.starts_with(&self.first);
        Ok(if is_own {
            text.split_off(self.first.len())
        } else {
            Vec::new()
        })
    }

    /// Replaces all lines with `lines`.
    fn write(&self, file: &mut File, lines: &[u8]) -> io::Result<()> {
        file.set_len(0)?;
        match lines.is_empty() {
            true => Ok(()),
            false => file.write_all(&[self.first.as_slice(), lines].concat()),
        }
    }

    /// Opens the file, and locks it against other processes.
    fn open_locked(&self) -> io::Result<File> {
        self.path.create_parents(PRIVATE_MODE)?;
        let file = self.path.append(FILE_MODE)?;
        private_folder::ensure_own(&file)?;
        file.lock()?;
        Ok(file)
    }
}

fn first_line(mark: String) -> Vec<u8> {
    format!("coord spool {mark}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(path: RootedPath) -> Spool {
        Spool {
            path,
            first: first_line("1-2".to_owned()),
        }
    }

    fn request(number: usize) -> RecordRequest {
        RecordRequest {
            repo_url: Some(format!("https://github.com/team/project-{number}")),
            ..RecordRequest::default()
        }
    }

    #[test]
    fn spooled_requests_come_back_in_order_and_are_removed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(RootedPath::new(folder.path(), "coord/spool"));
        assert!(spool.requests().is_empty());
        (0..3).for_each(|number| spool.add(&request(number)).unwrap());
        let all = || spool.requests();
        assert_eq!(all(), [request(0), request(1), request(2)]);
        spool.remove(&request(0));
        spool.remove(&request(0));
        spool.add(&request(3)).unwrap();
        assert_eq!(all(), [request(1), request(2), request(3)]);
    }

    #[test]
    fn a_spool_has_a_bound_and_a_damaged_line_stops_none_of_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(RootedPath::new(folder.path(), "spool"));
        std::fs::write(spool.path.full(), "coord spool 1-2\n{\"repo_url\"\n").unwrap();
        spool.add(&request(1)).unwrap();
        assert_eq!(spool.requests().len(), 1);
        let large = RecordRequest {
            branch: Some("x".repeat(MAX_BYTES as usize)),
            ..request(2)
        };
        assert!(spool.add(&large).unwrap_err().to_string().ends_with("is full"));
        spool.remove(&request(1));
        assert_eq!(spool.path.about().unwrap().unwrap().len, 0);
    }

    #[test]
    fn a_spool_of_another_folder_counts_as_empty_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = spool(RootedPath::new(folder.path(), "spool"));
        theirs.add(&request(1)).unwrap();
        let own = Spool {
            path: theirs.path.clone(),
            first: first_line("3-4".to_owned()),
        };
        assert!(own.requests().is_empty());
        own.add(&request(2)).unwrap();
        assert_eq!(own.requests(), [request(2)]);
        let without_mark = Spool {
            path: theirs.path.clone(),
            first: Vec::new(),
        };
        assert!(without_mark.requests().is_empty());
    }
}
