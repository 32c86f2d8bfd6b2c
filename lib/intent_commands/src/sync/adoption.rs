//! Adopts the lines of other programs at the beginning of `agent_trace.jsonl`, by one line of Coord.

use std::fs::File;
use std::io::{BufReader, Read};

use coord_intents::ledger::{Adoption, ContentHash, ForeignLines};
use coord_protocol::{Client, ClientError, RecordEntry, RecordKind, RecordRequest};
use serde_json::json;

/// Reads the lines at the beginning of `file`.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn read(file: File, foreign: ForeignLines) -> std::io::Result<Adoption> {
    Adoption::of(BufReader::new(file.take(foreign.bytes)))
}

/// Whether one of `lines` records `adoption`.
pub(super) fn is_recorded(lines: &[String], adoption: Adoption) -> bool {
    lines
        .iter()
        .any(|line| Adoption::read(line.as_bytes()) == Some(adoption))
}

/// Records `adoption`. Returns a sentence if the server refuses it.
///
/// # Errors
/// When the server returns no response.
pub(super) async fn record(
    client: &Client,
    repo_url: &str,
    branch: Option<&str>,
    adoption: Adoption,
) -> Result<Option<String>, ClientError> {
    let input = json!({ "bytes": adoption.bytes, "lines": adoption.lines });
    let entry = RecordEntry {
        trace_id: adoption.trace_id().to_string(),
        kind: RecordKind::Adoption,
        tool_name: None,
        tool_input: input.as_object().cloned(),
        reasoning: None,
        file_path: None,
        hash: Some(ContentHash::Sha256(adoption.hash).to_string()),
        token: None,
        output_summary: String::new(),
        error_message: None,
        mutation_class: None,
    };
    let request = RecordRequest {
        repo_url: Some(repo_url.to_owned()),
        branch: branch.map(str::to_owned),
        entries: Some(vec![entry]),
        ..RecordRequest::default()
    };
    match client.record(&request).await {
        Ok(_) => Ok(None),
        Err(ClientError::Refused { error, .. }) => Ok(Some(error.message.clone())),
        Err(error) => Err(error),
    }
}
