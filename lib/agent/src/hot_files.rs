//! Files for which agents often wait: those that many commits change, and those that many other files import.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use coord_builds::build::build;
use coord_domain::FilePath;
use coord_git::{GitSource, WorkingCopy};
use coord_graph::{Limits, Previous};
use coord_protocol::sentence::list_first;
use coord_settings::policy::SHARED_NAMES;
use coord_settings::{graph_limits, process_environment};

use crate::git;

/// Maximum number of commits that are inspected, without merges.
const MAX_COMMITS: &str = "500";

/// Minimum number of commits: a shorter history shows nothing.
const MIN_COMMITS: usize = 20;

/// A file is hot if at least one of this number of commits changes it.
const COMMITS_PER_CHANGE: usize = 20;

/// Maximum number of tracked files that are inspected.
const MAX_TRACKED: usize = 1_000_000;

/// Maximum number of hot files.
const MAX_HOT: usize = 20;

/// Maximum number of hubs.
const MAX_HUBS: usize = 3;

/// Minimum number of files that import a hub.
const MIN_IMPORTERS: usize = 21;

/// Names of manifests, in lower case.
const MANIFESTS: [&str; 15] = [
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "cargo.toml",
    "composer.json",
    "deno.json",
    "gemfile",
    "go.mod",
    "mix.exs",
    "package.json",
    "pnpm-workspace.yaml",
    "pom.xml",
    "pubspec.yaml",
    "pyproject.toml",
    "requirements.txt",
];

/// Prefixes of the names of changelogs, in lower case.
const CHANGELOGS: [&str; 4] = ["changelog", "changes.", "history.", "release-notes"];

const TRANSLATION_FOLDERS: [&str; 6] = ["i18n", "lang", "langs", "locale", "locales", "translations"];

const TRANSLATION_EXTENSIONS: [&str; 8] = ["arb", "ftl", "json", "po", "pot", "properties", "yaml", "yml"];

/// A file that many commits change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotFile {
    pub path: String,
    /// The percentage of the commits that change the file.
    pub percent: usize,
}

/// The hot manifests, translations and changelogs of a history, the hottest first. Git merges such files line by line,
/// or a tool generates them again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotFiles {
    /// The number of commits that were inspected.
    pub commits: usize,
    pub files: Vec<HotFile>,
    /// Names of the lockfiles among the tracked files, which are shared without a policy.
    lockfiles: Vec<String>,
}

impl HotFiles {
    /// Finds the hot files in the history of the current checkout.
    ///
    /// # Errors
    /// When git fails.
    pub fn of(working_copy: &WorkingCopy) -> anyhow::Result<HotFiles> {
        let log = [
            "log",
            "--no-merges",
            "--no-renames",
            "--name-only",
            "-z",
            "--format=%x01",
            "-n",
            MAX_COMMITS,
            "HEAD",
            "--",
        ];
        let output = git::ask(working_copy.root(), &log).map_err(anyhow::Error::msg)?;
        let (tracked, _) = working_copy.tracked_below("", MAX_TRACKED);
        let tracked: Vec<&str> = tracked.iter().map(FilePath::as_str).collect();
        Ok(find_hot_files(&String::from_utf8_lossy(&output), &tracked))
    }

    /// A `.coord.toml` that shares the hot files, and the files that are shared by default.
    pub fn policy(&self) -> String {
        let hot = self.files.iter().map(|file| match file.path.contains('/') {
            true => file.path.clone(),
            false => format!("/{}", file.path),
        });
        let patterns = self.lockfiles.iter().cloned().chain(hot);
        let lines: String = patterns
            .map(|pattern| format!("  {},\n", toml_edit::Value::from(pattern)))
            .collect();
        format!(
            "# Files that several agents may write at once: each claim of one is granted beside the others.\n\
             # The list replaces the default one: lockfiles, and what .gitattributes shares.\n\
             shared = [\n{lines}]\n"
        )
    }
}

/// Finds the hot files in the output of `git log`.
fn find_hot_files(log: &str, tracked: &[&str]) -> HotFiles {
    let (mut commits, mut counts) = (0, BTreeMap::<&str, usize>::new());
    for field in log.split('\0').map(|field| field.trim_start_matches('\n')) {
        match field.strip_prefix('\x01') {
            Some(_) => commits += 1,
            None if !field.is_empty() => *counts.entry(field).or_default() += 1,
            None => {}
        }
    }
    let is_hot = |path: &str, count: usize| {
        count * COMMITS_PER_CHANGE >= commits && is_merged_by_line(path) && tracked.contains(&path)
    };
    let mut files: Vec<HotFile> = counts
        .into_iter()
        .filter(|(path, count)| commits >= MIN_COMMITS && is_hot(path, *count))
        .map(|(path, count)| HotFile {
            path: path.to_owned(),
            percent: count * 100 / commits,
        })
        .collect();
    files.sort_by(|one, other| other.percent.cmp(&one.percent).then_with(|| one.path.cmp(&other.path)));
    files.truncate(MAX_HOT);
    let is_tracked = |name: &&str| tracked.iter().any(|path| file_name(path) == *name);
    let lockfiles = SHARED_NAMES
        .into_iter()
        .filter(|name| is_tracked(name))
        .map(str::to_owned);
    HotFiles {
        commits,
        files,
        lockfiles: lockfiles.collect(),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether git can usually merge concurrent changes of the file: a manifest, a changelog, or a translation.
fn is_merged_by_line(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = file_name(&path);
    let has_extension = Path::new(name)
        .extension()
        .is_some_and(|own| TRANSLATION_EXTENSIONS.iter().any(|extension| own == *extension));
    let is_translation = has_extension && path.split('/').any(|folder| TRANSLATION_FOLDERS.contains(&folder));
    let is_changelog = CHANGELOGS.iter().any(|prefix| name.starts_with(prefix));
    MANIFESTS.contains(&name) || is_changelog || is_translation
}

/// A file that many others import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    pub path: String,
    /// The number of files that import it.
    pub importers: usize,
}

/// Finds the files of the checked-out commit with the most importers.
///
/// # Errors
/// When the graph cannot be built.
pub async fn hubs(working_copy: &WorkingCopy) -> anyhow::Result<Vec<Hub>> {
    let source = GitSource::open_once(working_copy.root())?;
    let clone = source.opened().into_iter().next().context("there is no repository")?;
    let Some(head) = &clone.head else {
        return Ok(Vec::new());
    };
    let limits = Limits {
        interfaces: false,
        ..graph_limits(&process_environment)?
    };
    let snapshot = build(&source, &clone.repo, head, Previous::Nothing, limits, Arc::new(|_| {})).await?;
    let graph = snapshot.graph();
    let hub = |(importers, id)| Hub {
        path: graph.path(id).to_owned(),
        importers,
    };
    Ok(graph
        .most_imported(MIN_IMPORTERS, MAX_HUBS)
        .into_iter()
        .map(hub)
        .collect())
}

/// A clause that lists the hubs. `None` if there are none.
pub fn describe_hubs(hubs: &[Hub]) -> Option<String> {
    let names: Vec<String> = hubs
        .iter()
        .map(|hub| format!("{} ({} files import it)", hub.path, hub.importers))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "changing their interfaces locks many files for others: {}",
            names.join(", ")
        )
    })
}

/// A clause that lists the hot files. `None` if there are none.
pub fn describe_hot_files(hot: &HotFiles) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let names = hot
        .files
        .iter()
        .map(|file| format!("{} ({} %)", file.path, file.percent));
    (!hot.files.is_empty()).then(|| {
        format!(
            "many of the last {} commits change {}",
            hot.commits,
            list_first(names, MAX_NAMED)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of `count` commits, the first of which change these files as often as is said.
    fn log(count: usize, files: &[(&str, usize)]) -> String {
        let commit = |number: usize| {
            let changed = files.iter().filter(|(_, times)| number < *times);
            let names: String = changed.map(|(file, _)| format!("{file}\0")).collect();
            format!("\x01\0\n{names}\0")
        };
        (0..count).map(commit).collect()
    }

    #[test]
    fn manifests_changelogs_and_translations_are_hot_where_the_history_shows_it() {
        let files = [
            ("package.json", 30),
            ("packages/ui/package.json", 4),
            ("CHANGELOG.md", 10),
            ("src/App.tsx", 60),
            ("src/locales/de/main.json", 5),
            ("locales/tool.ts", 50),
            ("gone/CHANGES.md", 50),
            ("pnpm-lock.yaml", 40),
        ];
        let tracked: Vec<&str> = files
            .iter()
            .map(|(file, _)| *file)
            .filter(|file| !file.starts_with("gone"))
            .collect();
        let hot = find_hot_files(&log(100, &files), &tracked);
        let found: Vec<(&str, usize)> = hot
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.percent))
            .collect();
        assert_eq!(
            found,
            [
                ("package.json", 30),
                ("CHANGELOG.md", 10),
                ("src/locales/de/main.json", 5)
            ]
        );
        assert_eq!(
            describe_hot_files(&hot).unwrap(),
            "many of the last 100 commits change package.json (30 %), CHANGELOG.md (10 %), \
             src/locales/de/main.json (5 %)"
        );
        let policy = hot.policy();
        let parsed = coord_settings::policy::file::PolicyFile::parse(policy.as_bytes()).unwrap();
        assert_eq!(
            parsed.shared.unwrap(),
            [
                "pnpm-lock.yaml",
                "/package.json",
                "/CHANGELOG.md",
                "src/locales/de/main.json"
            ]
        );
    }

    #[test]
    fn a_short_history_shows_nothing() {
        let hot = find_hot_files(&log(19, &[("package.json", 19)]), &["package.json"]);
        assert_eq!((hot.commits, hot.files.len()), (19, 0));
        assert_eq!(describe_hot_files(&hot), None);
        assert_eq!(find_hot_files("", &[]), HotFiles::default());
    }

    #[test]
    fn hubs_are_named_with_their_importers() {
        let hub = |path: &str, importers| Hub {
            path: path.to_owned(),
            importers,
        };
        assert_eq!(describe_hubs(&[]), None);
        assert_eq!(
            describe_hubs(&[hub("src/types.ts", 224), hub("src/i18n.ts", 112)]).unwrap(),
            "changing their interfaces locks many files for others: src/types.ts (224 files import it), \
             src/i18n.ts (112 files import it)"
        );
    }
}
