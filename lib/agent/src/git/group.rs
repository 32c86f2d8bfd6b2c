//! The process group of git, and its output.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};

/// Kills the process of a [`super::command()`], and all processes that it has started, when this is dropped before
/// [`Group::disarm`].
#[derive(Debug)]
pub struct Group(Option<u32>);

impl Group {
    /// The group of the process with the id `process`.
    pub fn of(process: u32) -> Group {
        Group(Some(process))
    }

    /// Notes that the process has ended by itself, so that nothing is killed.
    pub fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(process) = self.0 {
            signal(process, rustix::process::Signal::KILL);
        }
    }
}

/// Sends a signal to the processes of the group of `process`.
#[cfg(unix)]
pub fn signal(process: u32, signal: rustix::process::Signal) {
    let group = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // The group may have ended.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Reads `pipe` on a separate thread, up to `most` bytes.
pub(super) fn spawn_reader(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let result = match pipe {
            Some(pipe) => pipe.take(most).read_to_end(&mut text),
            None => Ok(0),
        };
        // The receiver is gone after the time limit.
        let _ = sender.send(result.map(|_| text));
    });
    receiver
}
