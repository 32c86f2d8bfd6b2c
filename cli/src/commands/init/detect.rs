//! Detects the agents that are used here: by files of the repository, programs, and folders of the user.

use std::path::Path;

use super::agents::{AGENTS, Agent, TargetFolders};

/// Suffixes of the file name of a program.
const PROGRAM_SUFFIXES: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };

/// The detected agents, each with the evidence: a file, a program or a folder.
pub fn detect(target_folders: &TargetFolders) -> Vec<(&'static Agent, String)> {
    let agents = AGENTS.into_iter();
    agents
        .filter_map(|agent| Some((agent, find_evidence(agent, target_folders)?)))
        .collect()
}

fn find_evidence(agent: &Agent, target_folders: &TargetFolders) -> Option<String> {
    if let Some(root) = &target_folders.project
        && let Some(mark) = agent.marks.iter().find(|mark| root.join(mark).exists())
    {
        return Some((*mark).to_owned());
    }
    if let Some(program) = agent.programs.iter().find(|program| is_on_path(program)) {
        return Some(format!("program {program}"));
    }
    let folder = (agent.user_folder)(&target_folders.home);
    folder.is_dir().then(|| display_path(&folder, target_folders))
}

/// Whether the program `name` is on the PATH.
pub fn is_on_path(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
    folders.any(|folder| {
        PROGRAM_SUFFIXES
            .iter()
            .any(|suffix| folder.join(format!("{name}{suffix}")).is_file())
    })
}

/// `path` as a person writes it: from the root of the repository, or from the home folder as `~`.
pub fn display_path(path: &Path, target_folders: &TargetFolders) -> String {
    if let Some(root) = &target_folders.project
        && let Ok(path) = path.strip_prefix(root)
    {
        return path.display().to_string();
    }
    match path.strip_prefix(&target_folders.home) {
        Ok(path) => format!("~/{}", path.display()),
        Err(_) => path.display().to_string(),
    }
}
