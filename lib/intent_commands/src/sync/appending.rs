//! `agent_trace.jsonl`: only ever appended to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use anyhow::Context;
use coord_agent::ledger::{LedgerLocation, lines, newest};
use coord_agent::workplace::Failure;
use coord_files::{Cause, FileError, Refusal, RootedPath};
use coord_intents::ledger::{ForeignLines, MAX_LINE_BYTES};

use super::folder::{MOST_TRACE_BYTES, TRACE};
use super::once::Sync;
use super::report::Report;
use super::{adoption, trace};

impl Sync<'_> {
    /// Appends the lines that the server has and the file has not. Lines of other programs at its beginning are adopted before.
    pub(super) async fn trace(&self, report: &mut Report) -> Result<(), Failure> {
        let client = self.callers.client;
        let ends = LedgerLocation::of(&newest(client, &self.repo_url).await?)?;
        let path = self.folder.file(TRACE);
        let (length, found) = self.end(&path, ends)?;
        let end = match found {
            Ok(end) => end,
            Err(problem) => {
                report.problems.push(format!("{TRACE}: {problem}"));
                return Ok(());
            }
        };
        let mut lines = lines(client, &self.repo_url, end.point.seq).await?;
        if let Some(foreign) = end.unadopted
            && !self.adopt(&path, foreign, end.point.seq, &mut lines, report).await?
        {
            return Ok(());
        }
        let torn = if end.is_torn {
            open(&path)?
                .map_or(Ok(Vec::new()), last_line)
                .with_context(|| cannot_be_read(&path))?
        } else {
            Vec::new()
        };
        match trace::bytes_to_append(&end, &torn, &lines) {
            Err(problem) => report.problems.push(format!("{TRACE}: {problem}")),
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => {
                if !self.is_check {
                    self.folder.append(TRACE, length, &bytes)?;
                }
                report.written.push(TRACE);
                report.appended = lines.len();
            }
        }
        Ok(())
    }

    /// The bytes of the file, and where it goes on, or why it does not.
    fn end(&self, path: &RootedPath, ends: LedgerLocation) -> anyhow::Result<(u64, Result<trace::LedgerEnd, String>)> {
        let about = || cannot_be_read(path);
        Ok(match open(path)? {
            Some(file) => (
                file.metadata().with_context(about)?.len(),
                trace::end(file, &self.repository, ends).with_context(about)?,
            ),
            None => (0, trace::end(io::empty(), &self.repository, ends).with_context(about)?),
        })
    }

    /// Has a line adopt `foreign`, unless one of `lines`, those after `after`, does. False where the server refuses it: then nothing
    /// may be appended, because a line that adopts those of another copy would stand alone.
    async fn adopt(
        &self,
        path: &RootedPath,
        foreign: ForeignLines,
        after: u64,
        found: &mut Vec<String>,
        report: &mut Report,
    ) -> Result<bool, Failure> {
        let about = || cannot_be_read(path);
        let file = open(path)?.with_context(about)?;
        let adoption = adoption::of_file(file, foreign).with_context(about)?;
        if !adoption::is_in(found, adoption) {
            if !self.is_check {
                let client = self.callers.client;
                let refusal = adoption::record(client, &self.repo_url, self.branch.as_deref(), adoption).await?;
                *found = lines(client, &self.repo_url, after).await?;
                if !adoption::is_in(found, adoption) {
                    let why = refusal.unwrap_or_else(|| "it was adopted within a day, and no line is left".to_owned());
                    report.problems.push(format!(
                        "{TRACE}: {} lines of other programs cannot be adopted, and nothing was appended: {why}",
                        adoption.lines
                    ));
                    return Ok(false);
                }
            }
            report.adopted = adoption.lines;
        }
        Ok(true)
    }
}

/// The file, unless it is larger than the largest ledger.
fn open(path: &RootedPath) -> anyhow::Result<Option<File>> {
    let file = path.open()?;
    if let Some(file) = &file
        && file.metadata().is_ok_and(|about| about.len() > MOST_TRACE_BYTES)
    {
        return Err(FileError {
            path: path.full(),
            cause: Cause::Refused(Refusal::TooLarge(MOST_TRACE_BYTES)),
        }
        .into());
    }
    Ok(file)
}

fn cannot_be_read(path: &RootedPath) -> String {
    format!("{} cannot be read", path.full().display())
}

/// The text after a file's last newline.
fn last_line(mut file: File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_LINE_BYTES as u64 + 1)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let start = end
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1);
    Ok(end.split_off(start))
}
