//! The environment in which Coord runs git.

use std::process::Command;

/// Variables that git sets for its hooks.
const HOOK_VARIABLES: [&str; 13] = [
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

/// The prefixes of other variables that git does not receive.
const PREFIXES: [&str; 4] = ["COORD_", "UPSTASH_", "KV_REST_", "GIT_TRACE"];

/// Removes variables that name another repository, and Coord's secrets, which git would pass on to its children.
pub(super) fn clear(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if PREFIXES.iter().any(|prefix| text.starts_with(prefix))
            || HOOK_VARIABLES.contains(&&*text)
            || SECRETS.contains(&&*text)
        {
            command.env_remove(&name);
        }
    }
}

/// Removes the variables that git sets for its hooks, which name one repository.
pub fn clear_hook_variables(command: &mut Command) {
    for name in HOOK_VARIABLES {
        command.env_remove(name);
    }
}
