//! The agents that are used here: by files of the repository, files of the user, and programs.

use std::path::Path;

use super::agents::{AGENTS, Agent, TargetFolders};

/// Endings of programs.
const ENDINGS: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };

/// The agents, each with the file or program that revealed it.
pub fn detect(places: &TargetFolders) -> Vec<(&'static Agent, String)> {
    let found = AGENTS.into_iter().map(|agent| (agent, trace(agent, places)));
    found.filter_map(|(agent, trace)| Some((agent, trace?))).collect()
}

fn trace(agent: &Agent, places: &TargetFolders) -> Option<String> {
    if let Some(root) = &places.project
        && let Some(mark) = agent.marks.iter().find(|mark| root.join(mark).exists())
    {
        return Some((*mark).to_owned());
    }
    if let Some(program) = agent.programs.iter().find(|program| is_on_path(program)) {
        return Some(format!("program {program}"));
    }
    let folder = (agent.user_folder)(&places.home);
    folder.is_dir().then(|| display_path(&folder, places))
}

/// Whether the program `name` is on the PATH.
pub fn is_on_path(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
    folders.any(|folder| {
        ENDINGS
            .iter()
            .any(|ending| folder.join(format!("{name}{ending}")).is_file())
    })
}

/// `path` as a person writes it: from the root of the repository, or with `~`.
pub fn display_path(path: &Path, places: &TargetFolders) -> String {
    if let Some(root) = &places.project
        && let Ok(path) = path.strip_prefix(root)
    {
        return path.display().to_string();
    }
    match path.strip_prefix(&places.home) {
        Ok(path) => format!("~/{}", path.display()),
        Err(_) => path.display().to_string(),
    }
}
