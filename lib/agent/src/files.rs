//! Resolves the files that a person names: paths from the current folder, and patterns for tracked files.

use std::io::Write;

use anyhow::{Context, bail};
use coord_domain::FilePaths;

use super::git;
use super::work::Work;

/// The special characters of git's patterns.
const PATTERN_CHARACTERS: [char; 3] = ['*', '?', '['];

/// The files of `names` as paths of the repository, without duplicates, in the order of `names`.
///
/// # Errors
/// When a pattern matches nothing, a path is outside of the working copy or a folder, or there are too many files for
/// one request.
pub async fn named_files(work: &Work, names: &[String]) -> anyhow::Result<Vec<String>> {
    let files = expand_names(work, names).await?;
    let paths = FilePaths::parse(files.iter().map(String::as_str));
    let paths = paths.map_err(|invalid| anyhow::anyhow!("the request {invalid}"))?;
    Ok(paths.iter().map(|path| sent(path.as_str())).collect())
}

/// As [`named_files`], for several requests: any number of files, not yet converted by [`sent`].
///
/// # Errors
/// When a pattern matches nothing, or a path is outside of the working copy or a folder.
pub async fn expand_names(work: &Work, names: &[String]) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for name in names {
        if is_pattern(work, name) {
            files.extend(match_pattern(work, name).await?);
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

/// `path` in a request. There, `*` alone means all files that the caller holds, so a file with that name becomes `./*`.
pub fn sent(path: &str) -> String {
    match path {
        FilePaths::EVERYTHING => format!("./{path}"),
        path => path.to_owned(),
    }
}

/// Whether `name` has special characters, and is not the name of a file.
fn is_pattern(work: &Work, name: &str) -> bool {
    name.contains(PATTERN_CHARACTERS) && work.folder.join(name).symlink_metadata().is_err()
}

/// The tracked files that `pattern` matches.
async fn match_pattern(work: &Work, pattern: &str) -> anyhow::Result<Vec<String>> {
    let pathspec = format!(":(glob){pattern}");
    let output = git::output(&work.folder, ["ls-files", "-z", "--full-name", "--", &pathspec]).await;
    let output = output.with_context(|| format!("the pattern '{pattern}' cannot be matched"))?;
    let files = git::paths(&output);
    let count = output.split(|byte| *byte == 0).filter(|name| !name.is_empty()).count();
    if count > files.len() {
        let omitted = count - files.len();
        // The reader may have closed standard error.
        let _ = writeln!(
            std::io::stderr(),
            "coord: '{pattern}' matches {omitted} names that are not UTF-8; they cannot be locked, and are left out"
        );
    }
    if files.is_empty() {
        bail!("'{pattern}' matches no file that git tracks; name files that are new one by one");
    }
    Ok(files)
}
