//! Finds the root folder in the same way as the plugin.

use std::path::{Path, PathBuf};

/// The variable that names the root itself.
pub const TEAMS_DIR: &str = "OPENCODE_TEAMS_DIR";
/// The variable that names the project.
pub const PROJECT_ROOT: &str = "OPENCODE_PROJECT_ROOT";
/// Entries that mark a project's folder.
pub const MARKERS: [&str; 4] = [".git", "package.json", "opencode.json", ".opencode"];
/// The root in a project.
pub const BELOW_PROJECT: &str = ".opencode/opencode-teams";

/// The values that a search for the folder of teams begins with.
#[derive(Clone, Copy, Debug)]
pub struct SearchStart<'a> {
    /// The value of [`TEAMS_DIR`]. An empty value counts as unset.
    pub teams_dir: Option<&'a str>,
    /// The value of [`PROJECT_ROOT`]. An empty value counts as unset.
    pub project_root: Option<&'a str>,
    /// The working directory, absolute.
    pub working_folder: &'a Path,
}

/// The root, which need not exist. Without variables, the search goes up from the working directory to a folder with a
/// marker. So each worktree of git has its own root, and a package of a monorepo may.
pub fn root(start: SearchStart, exists: impl Fn(&Path) -> bool) -> PathBuf {
    let SearchStart { working_folder, .. } = start;
    let resolve = |value: Option<&str>| {
        value
            .filter(|value| !value.is_empty())
            .map(|value| working_folder.join(value))
    };
    if let Some(root) = resolve(start.teams_dir) {
        return root;
    }
    let has_marker = |folder: &&Path| MARKERS.iter().any(|marker| exists(&folder.join(marker)));
    let nearest = || {
        working_folder
            .ancestors()
            .find(has_marker)
            .unwrap_or(working_folder)
            .to_owned()
    };
    resolve(start.project_root).unwrap_or_else(nearest).join(BELOW_PROJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_where_the_plugin_finds_it() {
        let there = ["/r/.git", "/r/packages/a/package.json", "/o/.opencode"];
        //  OPENCODE_TEAMS_DIR, OPENCODE_PROJECT_ROOT, working directory, root
        let table = [
            (Some("/x/y"), Some("/p"), "/r", "/x/y"),
            (Some("x"), None, "/r", "/r/x"),
            (Some(""), Some("/p"), "/r", "/p/.opencode/opencode-teams"),
            (None, Some(""), "/r/src/deep", "/r/.opencode/opencode-teams"),
            (None, None, "/r", "/r/.opencode/opencode-teams"),
            (
                None,
                None,
                "/r/packages/a/src",
                "/r/packages/a/.opencode/opencode-teams",
            ),
            (None, None, "/r/packages/b", "/r/.opencode/opencode-teams"),
            (None, None, "/o/src", "/o/.opencode/opencode-teams"),
            (None, None, "/nothing/here", "/nothing/here/.opencode/opencode-teams"),
        ];
        for (teams_dir, project_root, working_folder, expected) in table {
            let surroundings = SearchStart {
                teams_dir,
                project_root,
                working_folder: Path::new(working_folder),
            };
            let found = root(surroundings, |path| {
                there.iter().any(|marker| Path::new(marker) == path)
            });
            assert_eq!(found, Path::new(expected), "{surroundings:?}");
        }
    }
}
