//! The process group of git.

/// Ends the process that was made by a [`super::command()`], and all that it has started, when it is dropped before [`Group::ended`].
#[derive(Debug)]
pub struct Group(Option<u32>);

impl Group {
    /// That of the process with this number.
    pub fn of(process: u32) -> Group {
        Group(Some(process))
    }

    /// Its first process has ended by itself.
    pub fn ended(&mut self) {
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
        // It may have ended.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}
