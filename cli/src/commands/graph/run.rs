//! Builds the graph of a commit, and prints the requested part.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use coord_builds::build::build;
use coord_domain::CommitSha;
use coord_git::{GitSource, OpenedRepository};
use coord_graph::{Limits, Previous};
use coord_settings::{graph_limits, process_environment};

use super::args::{GraphArgs, GraphFormat};
use super::incomplete::MissingParts;
use super::progress::ProgressBar;
use super::{explanation, interface, print, statistics};

/// Size of the output buffer, in bytes.
const OUTPUT_BUFFER: usize = 256 * 1024;

impl GraphArgs {
    /// Builds the graph and prints the requested part to standard output.
    ///
    /// # Errors
    /// When the repository, the revision or the file cannot be read, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<()> {
        let limits = Limits {
            interfaces: !self.interface.is_empty(),
            ..graph_limits(&process_environment)?
        };
        let started = Instant::now();
        // Blocks this thread, which has nothing else to do.
        let (source, opened, commit) = open(&self.repo, self.rev.as_deref())?;
        let bar = ProgressBar::on_terminal();
        let snapshot = build(&source, &opened.repo, &commit, Previous::Nothing, limits, bar.sink()).await;
        bar.finish();
        let snapshot = snapshot?;
        let names_left_out = source.names_left_out(&opened.repo) + snapshot.names_left_out();
        let incomplete = MissingParts::of(snapshot.graph(), names_left_out);
        let path_of = |file: &str| {
            let is_tracked = |path: &str| snapshot.graph().id(path).is_some();
            tracked_path(file, &self.repo, &opened.path, is_tracked)
                .with_context(|| format!("{file} is not among the files of commit {}", commit.short()))
        };
        let mut out = BufWriter::with_capacity(OUTPUT_BUFFER, io::stdout().lock());
        let output = if !self.interface.is_empty() {
            let paths: Vec<String> = self
                .interface
                .iter()
                .map(|file| path_of(file))
                .collect::<anyhow::Result<_>>()?;
            interface::write(&mut out, &snapshot, &commit, self.format, &paths)
        } else if let Some(file) = &self.explain {
            let text = explanation::explain(&snapshot, &path_of(file)?);
            out.write_all(text.as_bytes()).map_err(anyhow::Error::from)
        } else if self.stats {
            let elapsed = started.elapsed();
            statistics::write(&mut out, &snapshot, &commit, &self, elapsed, &incomplete)
        } else {
            let focus = self.focus.as_deref().map(path_of).transpose()?;
            let filtered = snapshot
                .graph()
                .filtered(|node, edge| self.kinds.has(node.language, edge));
            if self.cycles {
                let format = self.format.unwrap_or(GraphFormat::Tsv);
                if matches!(format, GraphFormat::Dot | GraphFormat::Mermaid) {
                    bail!("--cycles prints tsv or json");
                }
                print::write_cycles(&mut out, &filtered, &commit, format, &incomplete.json())
            } else {
                print::write(
                    &mut out,
                    &filtered,
                    &commit,
                    &self,
                    focus.as_deref(),
                    &incomplete.json(),
                )
            }
        };
        let written = match output.and_then(|()| out.flush().map_err(anyhow::Error::from)) {
            // The reader has closed the pipe, as in `coord graph | head`.
            Err(error) => match error.downcast::<io::Error>() {
                Ok(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                Ok(error) => Err(error).context("the output cannot be written"),
                Err(other) => Err(other),
            },
            Ok(()) => Ok(()),
        };
        if written.is_ok()
            && self.explain.is_none()
            && self.interface.is_empty()
            && let Some(line) = incomplete.line()
        {
            // An error means that the reader has closed standard error.
            let _ = writeln!(io::stderr(), "{line}");
        }
        // The process ends here; freeing the graph piece by piece would only take time.
        std::mem::forget((source, snapshot, out));
        written
    }
}

/// Opens the repository at `path`, and finds the commit of `rev`, or the one that is checked out.
fn open(path: &Path, rev: Option<&str>) -> anyhow::Result<(GitSource, OpenedRepository, CommitSha)> {
    let source = GitSource::open_once(path)?;
    let Some(opened) = source.opened().into_iter().next() else {
        bail!("there is no repository at {}", path.display());
    };
    let commit = match (rev, &opened.head) {
        (Some(rev), _) => GitSource::revision(path, rev)?,
        (None, Some(head)) => head.clone(),
        (None, None) => bail!(
            "{} has no commit yet, and a graph is that of a commit: make the first one",
            opened.path.display()
        ),
    };
    Ok((source, opened, commit))
}

/// The tracked file that `file` means: a path from the root of the repository, or else from the current folder, or else
/// from `folder`.
fn tracked_path(file: &str, folder: &Path, root: &Path, is_tracked: impl Fn(&str) -> bool) -> Option<String> {
    let from_root = file.strip_prefix("./").unwrap_or(file);
    if is_tracked(from_root) {
        return Some(from_root.to_owned());
    }
    let below_root = |base: &Path| {
        let path = base.join(file);
        // The file may be missing on the disk; its folder is enough.
        let folder = path.parent()?.canonicalize().ok()?;
        let path = folder.join(path.file_name()?);
        let path = path.strip_prefix(root).ok()?;
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    };
    let current_folder = std::env::current_dir().ok();
    let mut candidates = current_folder
        .as_deref()
        .into_iter()
        .chain([folder])
        .filter_map(below_root);
    candidates.find(|path| is_tracked(path))
}
