//! Appends lines of the ledger to `agent_trace.jsonl`. No sync changes or removes a line. One line of Coord adopts the
//! lines of other programs at the beginning of the file.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use anyhow::Context;
use coord_agent::ledger::{LedgerLocation, lines, newest};
use coord_agent::workplace::Failure;
use coord_files::{Cause, FileError, Refusal, RootedPath};
use coord_intents::ledger::{Adoption, ContentHash, ForeignLines, MAX_LINE_BYTES};
use coord_protocol::{ClientError, RecordEntry, RecordKind, RecordRequest};
use serde_json::json;

use super::folder::{MAX_TRACE_BYTES, TRACE};
use super::once::Sync;
use super::report::Report;
use super::trace;

impl Sync<'_> {
    /// Appends the lines that the file lacks. Before that, adopts lines of other programs at the beginning of the
    /// file.
    pub(super) async fn append_trace(&self, report: &mut Report) -> Result<(), Failure> {
        let client = self.callers.client;
        let location = LedgerLocation::of(&newest(client, &self.repo_url).await?)?;
        let path = self.folder.file(TRACE);
        let (length, end) = self.find_end(&path, location)?;
        let end = match end {
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
                .map_or(Ok(Vec::new()), read_last_line)
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

    /// The length of the file, and the end of its ledger, or the reason why nothing can be appended.
    fn find_end(
        &self,
        path: &RootedPath,
        location: LedgerLocation,
    ) -> anyhow::Result<(u64, Result<trace::LedgerEnd, String>)> {
        let context = || cannot_be_read(path);
        Ok(match open(path)? {
            Some(file) => (
                file.metadata().with_context(context)?.len(),
                trace::find_end(file, &self.repository, location).with_context(context)?,
            ),
            None => (
                0,
                trace::find_end(io::empty(), &self.repository, location).with_context(context)?,
            ),
        })
    }

    /// Records an adoption of `foreign`, unless `new_lines` has one. Then reads `new_lines`, those after `seq`, again.
    /// Returns false if the server refuses. Then nothing may be appended, because an adoption of the lines of another
    /// copy does not fit this file.
    async fn adopt(
        &self,
        path: &RootedPath,
        foreign: ForeignLines,
        seq: u64,
        new_lines: &mut Vec<String>,
        report: &mut Report,
    ) -> Result<bool, Failure> {
        let context = || cannot_be_read(path);
        let file = open(path)?.with_context(context)?;
        let adoption = Adoption::of(BufReader::new(file.take(foreign.bytes))).with_context(context)?;
        let is_adoption = |line: &String| Adoption::read(line.as_bytes()) == Some(adoption);
        if !new_lines.iter().any(is_adoption) {
            if !self.is_check {
                let refusal = self.record_adoption(adoption).await?;
                *new_lines = lines(self.callers.client, &self.repo_url, seq).await?;
                if !new_lines.iter().any(is_adoption) {
                    let reason = refusal.unwrap_or_else(|| {
                        "it was adopted within the last day, and the ledger no longer has that line".to_owned()
                    });
                    report.problems.push(format!(
                        "{TRACE}: {} lines of other programs cannot be adopted, and nothing was appended: {reason}",
                        adoption.lines
                    ));
                    return Ok(false);
                }
            }
            report.adopted = adoption.lines;
        }
        Ok(true)
    }

    /// Records `adoption`. Returns a sentence if the server refuses it.
    async fn record_adoption(&self, adoption: Adoption) -> Result<Option<String>, ClientError> {
        let input = json!({ "bytes": adoption.bytes, "lines": adoption.lines });
        let entry = RecordEntry {
            tool_input: input.as_object().cloned(),
            hash: Some(ContentHash::Sha256(adoption.hash).to_string()),
            ..RecordEntry::new(adoption.trace_id().to_string(), RecordKind::Adoption)
        };
        let request = RecordRequest {
            repo_url: Some(self.repo_url.clone()),
            branch: self.branch.clone(),
            entries: Some(vec![entry]),
            ..RecordRequest::default()
        };
        match self.callers.client.record(&request).await {
            Ok(_) => Ok(None),
            Err(ClientError::Refused { error, .. }) => Ok(Some(error.message.clone())),
            Err(error) => Err(error),
        }
    }
}

/// Opens the file, unless it is larger than the largest ledger.
fn open(path: &RootedPath) -> anyhow::Result<Option<File>> {
    let file = path.open()?;
    if let Some(file) = &file
        && file.metadata().is_ok_and(|metadata| metadata.len() > MAX_TRACE_BYTES)
    {
        return Err(FileError {
            path: path.full(),
            cause: Cause::Refused(Refusal::TooLarge(MAX_TRACE_BYTES)),
        }
        .into());
    }
    Ok(file)
}

fn cannot_be_read(path: &RootedPath) -> String {
    format!("{} cannot be read", path.full().display())
}

/// Reads the text after the last newline of `file`.
fn read_last_line(mut file: File) -> io::Result<Vec<u8>> {
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
