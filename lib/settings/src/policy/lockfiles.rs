//! Lockfiles that a tool regenerates: two versions of one are merged by running the tool.

/// The names of these lockfiles, in any folder.
pub const SHARED_NAMES: [&str; 19] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "go.sum",
    "Gemfile.lock",
    "gems.locked",
    "composer.lock",
    "gradle.lockfile",
    "buildscript-gradle.lockfile",
    "packages.lock.json",
    "Package.resolved",
    "pubspec.lock",
    "go.work.sum",
];

/// Whether the file at `path` has one of these names.
pub(super) fn is_lockfile(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    SHARED_NAMES.contains(&name)
}
