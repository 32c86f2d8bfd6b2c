//! The environment that git gets from Coord.

use std::process::Command;

/// Variables that git sets for its hooks.
const OF_HOOKS: [&str; 13] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// Secrets of Coord.
const SECRETS: [&str; 4] = [
    "CRON_SECRET",
    "REDIS_URL",
    "GITHUB_APP_PRIVATE_KEY",
    "GITHUB_WEBHOOK_SECRET",
];

/// Beginnings of names that git does not get either.
const PREFIXES: [&str; 4] = ["COORD_", "UPSTASH_", "KV_REST_", "GIT_TRACE"];

/// Lets `command` run git with the user's environment, but without variables that would point it to another repository,
/// and without secrets of Coord, which git would pass on to its children.
pub fn clear(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if PREFIXES.iter().any(|prefix| text.starts_with(prefix))
            || OF_HOOKS.contains(&&*text)
            || SECRETS.contains(&&*text)
        {
            command.env_remove(&name);
        }
    }
}

/// Removes variables that git sets for its hooks, which name one repository.
pub fn clear_of_git(command: &mut Command) {
    for name in OF_HOOKS {
        command.env_remove(name);
    }
}
