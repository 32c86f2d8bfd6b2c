//! The processes above this one. The hooks of an agent, its `coord mcp`, and the commands in its shell have the agent's process
//! above them, with launchers between: shells, `env`, `timeout`, the shim of a package manager.
//!
//! Most launchers show themselves: their command line ends with the arguments of this process. A program that hides them looks like an
//! agent at the first call, and `conversations` drops it at the next one, which has another such process above it.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sysinfo::{
    Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind, get_current_pid,
};

/// Most processes that are looked at.
const MOST: usize = 24;

/// A process that is younger may be a launcher, although its command line does not show it.
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

/// First processes of a system or container that are no agents.
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

/// A process, distinct from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct AgentProcess {
    pub id: u32,
    /// When it was started, Unix seconds.
    pub started: u64,
}

impl AgentProcess {
    /// Whether it still runs.
    pub fn is_running(self) -> bool {
        let mut system = System::new();
        let found = look(&mut system, Pid::from_u32(self.id));
        found.is_some_and(|process| process.start_time() == self.started && process.status() != ProcessStatus::Zombie)
    }

    /// Whether it was started just now, so that it may be a launcher.
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
    /// It has started this process for another one.
    Launcher,
    /// An interactive shell: agents and people may share the processes above it.
    Terminal,
    /// Perhaps an agent.
    Other,
}

/// All processes above this one, the nearest first. Empty if the system does not report them.
pub fn all_above() -> impl Iterator<Item = AgentProcess> {
    above().iter().map(|ancestor| ancestor.process)
}

/// Those of them that may be the agent's, the nearest first: without launchers, and up to the terminal. Where a terminal is the
/// nearest of all, it counts for the agent.
pub fn candidates() -> Vec<AgentProcess> {
    let mut found = Vec::new();
    for ancestor in above() {
        match ancestor.role {
            Role::Launcher => {}
            Role::Other => found.push(ancestor.process),
            Role::Terminal if found.is_empty() => return vec![ancestor.process],
            Role::Terminal => break,
        }
    }
    found
}

/// Looked for once: they do not change while this process waits for nothing.
fn above() -> &'static [Ancestor] {
    static ABOVE: OnceLock<Vec<Ancestor>> = OnceLock::new();
    ABOVE.get_or_init(find_above)
}

fn find_above() -> Vec<Ancestor> {
    let program = std::env::current_exe().ok();
    let name = program.as_ref().and_then(|program| program.file_name()?.to_str());
    let own: Vec<String> = match name.is_some_and(|name| name.starts_with("coord")) {
        true => std::env::args().skip(1).collect(),
        // A program that uses this crate has arguments that say nothing.
        false => Vec::new(),
    };
    let mut system = System::new();
    let mut found = Vec::new();
    let Ok(own_id) = get_current_pid() else { return found };
    let mut next = look(&mut system, own_id).and_then(Process::parent);
    while let Some(parent) = next
        && found.len() < MOST
        && let Some(process) = look(&mut system, parent)
    {
        let name = process.name().to_string_lossy().into_owned();
        // The first process is above everybody's; in a container it may be the agent.
        if parent.as_u32() <= 1 && INITS.contains(&name.as_str()) {
            break;
        }
        let arguments: Vec<String> = process
            .cmd()
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        found.push(Ancestor {
            process: AgentProcess {
                id: parent.as_u32(),
                started: process.start_time(),
            },
            role: role(&name, &arguments, &own),
        });
        next = process.parent();
    }
    found
}

fn look(system: &mut System, id: Pid) -> Option<&Process> {
    let wanted = ProcessRefreshKind::nothing()
        .with_exe(UpdateKind::Never)
        .with_cmd(UpdateKind::OnlyIfNotSet)
        .without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, wanted);
    system.process(id)
}

/// The role of the process `name` with the command line `arguments`, its program included. `own` are the arguments of this process.
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
    let carries_own = match own.len() {
        0 => false,
        // One word, such as `mcp`, is in the command line of many an agent.
        1 => operands.ends_with(own) && arguments.iter().any(|argument| argument.contains("coord")),
        _ => operands.join(" ").contains(&own.join(" ")),
    };
    match carries_own || LAUNCHERS.contains(&name) {
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
