//! The process of an agent: the first above this one that is no shell. The hooks of an agent and its `coord mcp` both have it
//! above them.

use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind, get_current_pid};

/// Most processes that are looked at.
const MOST: usize = 8;

/// Most processes that are looked at from a hook of git, which other programs may have started.
const MOST_OF_ALL: usize = 24;

/// Programs that start others for an agent, by the beginning of their name.
const LAUNCHERS: [&str; 12] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ash",
    "ksh",
    "cmd",
    "powershell",
    "pwsh",
    "env",
    "coord",
];

/// A process, distinct from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentProcess {
    /// Its number.
    pub id: u32,
    /// When it was started, Unix seconds.
    pub started: u64,
}

impl AgentProcess {
    /// That of the agent that has started this process. `None` where the system does not tell.
    pub fn above() -> Option<AgentProcess> {
        let mut system = System::new();
        let mut id = get_current_pid().ok()?;
        for _ in 0..MOST {
            let parent = look(&mut system, id)?.parent()?;
            let process = look(&mut system, parent)?;
            if !is_launcher(process) {
                return Some(AgentProcess {
                    id: parent.as_u32(),
                    started: process.start_time(),
                });
            }
            id = parent;
        }
        None
    }

    /// All processes above this one, the nearest first.
    pub fn all_above() -> Vec<AgentProcess> {
        let mut system = System::new();
        let mut above = Vec::new();
        let Ok(mut id) = get_current_pid() else { return above };
        while above.len() < MOST_OF_ALL {
            let Some(parent) = look(&mut system, id).and_then(Process::parent) else {
                break;
            };
            let Some(process) = look(&mut system, parent) else {
                break;
            };
            above.push(AgentProcess {
                id: parent.as_u32(),
                started: process.start_time(),
            });
            id = parent;
        }
        above
    }

    /// Whether it still runs.
    pub fn is_running(self) -> bool {
        let mut system = System::new();
        look(&mut system, Pid::from_u32(self.id)).is_some_and(|process| process.start_time() == self.started)
    }
}

fn look(system: &mut System, id: Pid) -> Option<&Process> {
    let wanted = ProcessRefreshKind::nothing()
        .with_exe(UpdateKind::Never)
        .without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, wanted);
    system.process(id)
}

fn is_launcher(process: &Process) -> bool {
    let name = process.name().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    LAUNCHERS.contains(&name.trim_start_matches('-'))
}
