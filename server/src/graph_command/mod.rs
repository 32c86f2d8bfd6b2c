//! `coord graph`: the import graph of a commit, cold and without a server.
//!
//! - `print`: the graph as tab-separated lines, JSON, Graphviz or Mermaid
//! - `statistics`: figures about it
//! - `explanation`: where each import of one file leads
//! - `progress`: the bar on a terminal

mod explanation;
mod print;
mod progress;
mod statistics;

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use coord::config::{graph_limits, process_environment};
use coord::domain::CommitSha;
use coord::graph::build::build;
use coord::graph::update::Previous;
use progress::ProgressBar;

use crate::cli::{GraphArgs, Kinds};
use crate::git_source::{GitSource, Opened};

/// Runs `coord graph`: builds the graph and prints what is asked for to standard output.
///
/// # Errors
/// When the repository, the revision or the file cannot be read, with a sentence for the terminal.
pub async fn print_graph(args: GraphArgs) -> anyhow::Result<()> {
    let limits = graph_limits(&process_environment)?;
    let started = Instant::now();
    // On this thread: there is nothing else for it to do.
    let (source, opened, commit) = open(&args.repo, args.rev.as_deref())?;
    let bar = ProgressBar::on_terminal();
    let snapshot = build(&source, &opened.repo, &commit, Previous::Nothing, limits, bar.sink()).await;
    bar.finish();
    let snapshot = snapshot?;
    let graph = snapshot.graph();
    let text = if let Some(file) = &args.explain {
        let path = tracked_path(file, &args.repo, &opened.path, |path| graph.id(path).is_some())
            .with_context(|| format!("{file} is not among the files of commit {}", commit.short()))?;
        explanation::text(&snapshot, &path)
    } else if args.stats {
        statistics::text(&snapshot, &commit, args.kinds, started.elapsed())?
    } else {
        print::text(graph, &commit, args.format, args.kinds)?
    };
    let written = match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever read the output has seen enough, as in `coord graph | head`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the output cannot be written"),
    };
    // The process ends here; taking a graph apart piece by piece would only make people wait.
    std::mem::forget((source, snapshot));
    written
}

fn open(path: &Path, rev: Option<&str>) -> anyhow::Result<(GitSource, Opened, CommitSha)> {
    let source = GitSource::open_once(path)?;
    let Some(opened) = source.opened().into_iter().next() else {
        bail!("there is no repository at {}", path.display());
    };
    let commit = match (rev, &opened.head) {
        (Some(rev), _) => GitSource::revision(path, rev)?,
        (None, Some(head)) => head.clone(),
        (None, None) => bail!(
            "{} has no commit yet; the graph is that of a commit, so make the first one",
            opened.path.display()
        ),
    };
    Ok((source, opened, commit))
}

/// The tracked file that a person means: a path from the root of the repository, or else from the folder where they are
/// or that they named.
fn tracked_path(file: &str, folder: &Path, root: &Path, is_tracked: impl Fn(&str) -> bool) -> Option<String> {
    let from_root = file.strip_prefix("./").unwrap_or(file);
    if is_tracked(from_root) {
        return Some(from_root.to_owned());
    }
    let below_root = |base: &Path| {
        let path = base.join(file);
        // The file may be gone from the disk; its folder is enough.
        let folder = path.parent()?.canonicalize().ok()?;
        let path = folder.join(path.file_name()?);
        let path = path.strip_prefix(root).ok()?;
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    };
    let here = std::env::current_dir().ok();
    let candidates = here.as_deref().into_iter().chain([folder]).filter_map(below_root);
    candidates.into_iter().find(|path| is_tracked(path))
}

/// Whether an edge is among those that were asked for.
fn counts(kinds: Kinds, language: Option<coord::graph::language::Language>, edge: coord::graph::KindSet) -> bool {
    match kinds {
        Kinds::All => true,
        Kinds::Core => language.is_some_and(|language| edge.is_core(language)),
    }
}
