//! The files that a person names: paths from the current folder, and patterns, which stand for the tracked files that they match.

use std::io::Write;

use anyhow::{Context, bail};
use coord_domain::FilePaths;

use super::git;
use super::work::Work;

/// Characters of a pattern, as git has them.
const OF_PATTERNS: [char; 3] = ['*', '?', '['];

/// The files of `named` as paths of the repository, each once, in the order in which they are named.
///
/// # Errors
/// When a pattern matches nothing, a path is outside of the working copy or a folder, or they are more than a request has room for.
pub async fn named_files(work: &Work, named: &[String]) -> anyhow::Result<Vec<String>> {
    let files = all_named(work, named).await?;
    let parsed = FilePaths::parse(files.iter().map(String::as_str));
    let parsed = parsed.map_err(|invalid| anyhow::anyhow!("the request {invalid}"))?;
    Ok(parsed.iter().map(|path| sent(path.as_str())).collect())
}

/// As [`named_files`], for as many requests as they need: any number, and as paths of the repository.
///
/// # Errors
/// When a pattern matches nothing, or a path is outside of the working copy or a folder.
pub async fn all_named(work: &Work, named: &[String]) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for name in named {
        if is_pattern(work, name) {
            files.extend(matched(work, name).await?);
            continue;
        }
        if work.folder.join(name).is_dir() {
            let folder = name.trim_end_matches('/');
            bail!("{name} is a folder, and locks are on files; '{folder}/**' names those of it that git tracks");
        }
        files.push(work.path(name).map_err(anyhow::Error::msg)?.as_str().to_owned());
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

/// `path` as requests name it, in which `*` alone would be everything that the caller holds.
pub fn sent(path: &str) -> String {
    match path {
        FilePaths::EVERYTHING => format!("./{path}"),
        path => path.to_owned(),
    }
}

/// A name with these characters that no file has.
fn is_pattern(work: &Work, name: &str) -> bool {
    name.contains(OF_PATTERNS) && work.folder.join(name).symlink_metadata().is_err()
}

async fn matched(work: &Work, pattern: &str) -> anyhow::Result<Vec<String>> {
    let pathspec = format!(":(glob){pattern}");
    let listed = git::output(&work.folder, ["ls-files", "-z", "--full-name", "--", &pathspec]).await;
    let listed = listed.with_context(|| format!("the pattern '{pattern}' cannot be matched"))?;
    let files = git::paths(&listed);
    let count = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).count();
    if count > files.len() {
        let left_out = count - files.len();
        // The reader may have closed standard error.
        let _ = writeln!(
            std::io::stderr(),
            "coord: '{pattern}' matches {left_out} names that are not UTF-8; they cannot be locked, and are left out"
        );
    }
    if files.is_empty() {
        bail!("'{pattern}' matches no file that git tracks; name files that are new one by one");
    }
    Ok(files)
}
