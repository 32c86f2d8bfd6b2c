//! The processes above this one. The hooks of an agent, its `coord mcp`, and the commands in its shell have the agent's
//! process above them, with launchers between: shells, `env`, `timeout`, the shim of a package manager.
//!
//! Most launchers are recognized by their command line, which ends with the arguments of this process. A launcher that
//! hides them looks like an agent at the first call. `conversations` drops it at the next call, which has another such
//! process above it.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sysinfo::{
    Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind, get_current_pid,
};

/// Maximum number of processes that are inspected.
const MAX_ANCESTORS: usize = 24;

/// Maximum age of a process that may be a launcher although its command line does not show it.
const YOUNG: Duration = Duration::from_secs(2);

/// Shells, by the beginning of their name.
const SHELLS: [&str; 15] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ash",
    "ksh",
    "csh",
    "tcsh",
    "nu",
    "elvish",
    "busybox",
    "cmd",
    "powershell",
    "pwsh",
];

/// Other programs that start a command.
const LAUNCHERS: [&str; 2] = ["env", "coord"];

/// First processes of a system or container that are not agents.
const INITS: [&str; 8] = [
    "init",
    "systemd",
    "launchd",
    "tini",
    "dumb-init",
    "docker-init",
    "catatonit",
    "s6-svscan",
];

/// A process, distinct from a later process with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct AgentProcess {
    pub id: u32,
    /// When the process was started, Unix seconds.
    pub started: u64,
}

impl AgentProcess {
    /// Whether the process still runs.
    pub fn is_running(self) -> bool {
        let mut system = System::new();
        let process = find_process(&mut system, Pid::from_u32(self.id));
        process.is_some_and(|process| process.start_time() == self.started && process.status() != ProcessStatus::Zombie)
    }

    /// Whether the process was started just now, so that it may be a launcher.
    pub fn is_young(self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.saturating_sub(Duration::from_secs(self.started)) <= YOUNG
    }
}

/// A process above this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ancestor {
    process: AgentProcess,
    role: Role,
}

/// A process's role, by its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A program that started this process for another program.
    Launcher,
    /// An interactive shell: agents and people may share the processes above it.
    Terminal,
    /// Perhaps an agent.
    Other,
}

/// All processes above this one, the nearest first. Empty if the system does not report them.
pub fn all_above() -> impl Iterator<Item = AgentProcess> {
    ancestors().iter().map(|ancestor| ancestor.process)
}

/// The processes above this one that may be the agent's, the nearest first: without launchers, and up to the terminal.
/// If the nearest process besides launchers is a terminal, it counts as the agent's.
pub fn candidates() -> Vec<AgentProcess> {
    let mut candidates = Vec::new();
    for ancestor in ancestors() {
        match ancestor.role {
            Role::Launcher => {}
            Role::Other => candidates.push(ancestor.process),
            Role::Terminal if candidates.is_empty() => return vec![ancestor.process],
            Role::Terminal => break,
        }
    }
    candidates
}

/// The ancestors of this process, as they were at the first call.
fn ancestors() -> &'static [Ancestor] {
    static ANCESTORS: OnceLock<Vec<Ancestor>> = OnceLock::new();
    ANCESTORS.get_or_init(find_ancestors)
}

fn find_ancestors() -> Vec<Ancestor> {
    let program = std::env::current_exe().ok();
    let name = program.as_ref().and_then(|program| program.file_name()?.to_str());
    let own_arguments: Vec<String> = match name.is_some_and(|name| name.starts_with("coord")) {
        true => std::env::args().skip(1).collect(),
        // The arguments of another program that uses this crate do not identify its launchers.
        false => Vec::new(),
    };
    let mut system = System::new();
    let mut ancestors = Vec::new();
    let Ok(id) = get_current_pid() else { return ancestors };
    let mut next = find_process(&mut system, id).and_then(Process::parent);
    while let Some(parent) = next
        && ancestors.len() < MAX_ANCESTORS
        && let Some(process) = find_process(&mut system, parent)
    {
        let name = process.name().to_string_lossy().into_owned();
        // All users share the first process of a system. In a container it may be the agent.
        if parent.as_u32() <= 1 && INITS.contains(&name.as_str()) {
            break;
        }
        let arguments: Vec<String> = process
            .cmd()
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        ancestors.push(Ancestor {
            process: AgentProcess {
                id: parent.as_u32(),
                started: process.start_time(),
            },
            role: role(&name, &arguments, &own_arguments),
        });
        next = process.parent();
    }
    ancestors
}

fn find_process(system: &mut System, id: Pid) -> Option<&Process> {
    let refresh = ProcessRefreshKind::nothing()
        .with_exe(UpdateKind::Never)
        .with_cmd(UpdateKind::OnlyIfNotSet)
        .without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, refresh);
    system.process(id)
}

/// The role of the process `name`. `arguments` is its command line with the program, `own` are the arguments of this
/// process.
fn role(name: &str, arguments: &[String], own: &[String]) -> Role {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name).trim_start_matches('-');
    let operands = arguments.get(1..).unwrap_or_default();
    if SHELLS.contains(&name) {
        let is_option = |argument: &String| argument.starts_with('-') && !argument.starts_with("-c");
        let is_interactive = operands.iter().all(is_option)
            || operands
                .iter()
                .any(|argument| matches!(argument.as_str(), "-i" | "--init-file" | "--rcfile" | "-NoExit"));
        return match is_interactive {
            true => Role::Terminal,
            false => Role::Launcher,
        };
    }
    let has_own_arguments = match own.len() {
        0 => false,
        // Many agents have a single word such as `mcp` in their command line too.
        1 => operands.ends_with(own) && arguments.iter().any(|argument| argument.contains("coord")),
        _ => operands.join(" ").contains(&own.join(" ")),
    };
    match has_own_arguments || LAUNCHERS.contains(&name) {
        true => Role::Launcher,
        false => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_shows_itself_by_its_command_line() {
        for (name, line, expected) in [
            ("timeout", "timeout 20 coord hook claude-code Stop", Role::Launcher),
            ("node", "node /opt/shim.js hook claude-code Stop", Role::Launcher),
            (
                "python3",
                "python3 run.py coord hook claude-code Stop --x",
                Role::Launcher,
            ),
            ("bash", "bash -c run", Role::Launcher),
            ("sh", "/bin/sh /opt/hook.sh", Role::Launcher),
            ("bash", "-bash", Role::Terminal),
            ("bash", "bash --init-file /x/integration.sh", Role::Terminal),
            ("zsh", "zsh -l", Role::Terminal),
            ("cmd.exe", "cmd.exe /d /s /c run", Role::Launcher),
            ("node", "node /opt/agent.js --resume hook", Role::Other),
            ("claude", "claude", Role::Other),
            ("env", "env A=1 x", Role::Launcher),
        ] {
            let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
            let own = words("hook claude-code Stop");
            assert_eq!(role(name, &words(line), &own), expected, "{line}");
        }
    }
}
