//! The tokens of a session, from the file in which its agent stores the conversation. They are as accurate as the
//! agent's own counts.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use coord_agent::session_notes::SessionNotes;
use coord_files::RootedPath;
use coord_intents::intent::is_valid_id;
use coord_protocol::{SessionTokens, UsageRequest};
use serde::Deserialize;

use super::agents::Agent;
use super::caller::Caller;
use super::connected_session::ConnectedSession;
use super::usage;

/// Maximum part of the file that is read, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum length of a parsed line, in bytes. Lines with counts have some kilobytes; longer lines have contents.
const MAX_LINE: u64 = 8 << 20;

/// The tokens of a conversation so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tokens {
    /// Sent and received tokens, without those read from a cache.
    total: u64,
    /// Tokens read from a cache.
    cached: u64,
}

/// Reports the running total of the session, if it has selected an intent and the total has grown.
pub(super) async fn report(caller: &Caller<'_>, session: ConnectedSession<'_>) {
    let ConnectedSession { work, holder, .. } = session;
    let notes = SessionNotes::read(&work.working_copy, holder);
    let (Some(intent), Some(path)) = (&notes.intent, &caller.call.transcript) else {
        return;
    };
    let Some(tokens) = read(caller.agent, Path::new(path)).filter(|tokens| tokens.total > notes.tokens) else {
        return;
    };
    let agent_session = usage::session(caller, &notes);
    if !is_valid_id(intent) || agent_session.session_id.is_empty() {
        return;
    }
    let request = UsageRequest {
        repo_url: Some(work.repo_url()),
        tool_call: None,
        tokens: Some(SessionTokens {
            session_id: agent_session.session_id.clone(),
            total: tokens.total,
        }),
        session: Some(agent_session),
        agent_id: Some(holder.as_str().to_owned()),
    };
    match session.connection.client.use_intent(intent, &request).await {
        Ok(_) => SessionNotes::change(&work.working_copy, holder, |notes| notes.tokens = tokens.total),
        Err(error) => tracing::debug!(%error, "the tokens are not reported"),
    }
}

/// Reads the tokens in the file at `path`. `None` if the file does not exist, or the agent's format is unknown.
fn read(agent: Agent, path: &Path) -> Option<Tokens> {
    let lines = || Some(BufReader::new(RootedPath::beside(path).open().ok()??.take(MAX_BYTES)));
    match agent {
        Agent::ClaudeCode => Some(of_claude_code(lines()?)),
        Agent::Codex => of_codex(lines()?),
        _ => None,
    }
}

/// Claude Code writes a line for each block of a message, all with the same ids. Only the counts of the last line are
/// final.
fn of_claude_code(lines: impl BufRead) -> Tokens {
    #[derive(Deserialize)]
    struct Line {
        #[serde(rename = "requestId", default)]
        request: String,
        message: Message,
    }
    #[derive(Deserialize)]
    struct Message {
        id: String,
        usage: Usage,
    }
    #[derive(Clone, Copy, Default, Deserialize)]
    #[serde(default)]
    struct Usage {
        input_tokens: u64,
        cache_creation_input_tokens: u64,
        cache_read_input_tokens: u64,
        output_tokens: u64,
    }
    let mut messages: HashMap<(String, String), Usage> = HashMap::new();
    for_each_line_with(b"\"usage\"", lines, |line| {
        if let Ok(Line { request, message }) = serde_json::from_slice(line) {
            messages.insert((message.id, request), message.usage);
        }
    });
    messages.values().fold(Tokens::default(), |sum, usage| {
        let sent = usage.input_tokens.saturating_add(usage.cache_creation_input_tokens);
        Tokens {
            total: sum.total.saturating_add(sent).saturating_add(usage.output_tokens),
            cached: sum.cached.saturating_add(usage.cache_read_input_tokens),
        }
    })
}

/// Codex writes running totals, which count cached tokens as sent.
fn of_codex(lines: impl BufRead) -> Option<Tokens> {
    #[derive(Deserialize)]
    struct Total {
        input_tokens: u64,
        #[serde(default)]
        cached_input_tokens: u64,
        output_tokens: u64,
    }
    let mut last = None;
    for_each_line_with(b"\"total_token_usage\"", lines, |line| {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
        let total = line.pointer("/payload/info/total_token_usage").cloned();
        if let Some(total) = total.and_then(|total| serde_json::from_value::<Total>(total).ok()) {
            last = Some(Tokens {
                total: total
                    .input_tokens
                    .saturating_sub(total.cached_input_tokens)
                    .saturating_add(total.output_tokens),
                cached: total.cached_input_tokens,
            });
        }
    });
    last
}

/// Calls `handle` with each of `lines` that contains `text`. Lines that are too long are skipped, in bounded memory.
fn for_each_line_with(text: &[u8], mut lines: impl BufRead, mut handle: impl FnMut(&[u8])) {
    let finder = memchr::memmem::Finder::new(text);
    let mut line = Vec::new();
    let mut is_rest = false;
    while (&mut lines)
        .take(MAX_LINE)
        .read_until(b'\n', &mut line)
        .is_ok_and(|bytes| bytes > 0)
    {
        let is_cut = line.len() as u64 == MAX_LINE && !line.ends_with(b"\n");
        if !is_cut && !is_rest && finder.find(&line).is_some() {
            handle(&line);
        }
        is_rest = is_cut;
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_lines_of_one_message_the_last_counts_and_cache_reads_are_apart() {
        let line = |id: &str, request: &str, sent: u64, received: u64| {
            serde_json::json!({ "type": "assistant", "requestId": request, "message": { "id": id, "role": "assistant", "usage": {
                "input_tokens": sent, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 5000, "output_tokens": received,
            } } })
            .to_string()
        };
        let text = [
            line("m1", "r1", 3, 1),
            line("m1", "r1", 3, 1),
            line("m1", "r1", 3, 250),
            "{\"type\":\"user\",\"message\":{\"content\":\"\\\"usage\\\"\"}}".to_owned(),
            line("m2", "r2", 10, 20),
            line("m2", "r3", 10, 20),
            "{\"usage\"".to_owned(),
        ];
        let tokens = of_claude_code(text.join("\n").as_bytes());
        assert_eq!(
            tokens,
            Tokens {
                total: 3 + 250 + 30 + 30 + 300,
                cached: 15_000
            }
        );
        assert_eq!(of_claude_code(&b""[..]), Tokens::default());
    }

    #[test]
    fn a_line_of_100_mb_is_passed_over_and_the_next_one_counts() {
        let counted = |sent: u64| {
            serde_json::json!({ "requestId": "r", "message": { "id": sent.to_string(), "usage": { "input_tokens": sent } } }).to_string()
        };
        let long = format!("{{\"requestId\":\"{}", counted(5).repeat(3)).into_bytes();
        let filler = std::io::repeat(b'x').take(100 << 20);
        let end = format!("{}\n{}\n", counted(7), counted(1));
        let lines = BufReader::new(std::io::Cursor::new(long).chain(filler).chain(end.as_bytes()));
        let mut longest = 0;
        for_each_line_with(b"", lines, |line| longest = longest.max(line.len()));
        assert_eq!(longest, counted(1).len() + 1, "with its newline");
        let lines = std::io::repeat(b'x').take(3 * MAX_LINE).chain(end.as_bytes());
        assert_eq!(of_claude_code(BufReader::new(lines)), Tokens { total: 1, cached: 0 });
        let exact = format!(
            "{}{}\n",
            counted(3),
            " ".repeat(usize::try_from(MAX_LINE).unwrap() - counted(3).len() - 1)
        );
        assert_eq!(exact.len() as u64, MAX_LINE);
        assert_eq!(of_claude_code(exact.as_bytes()).total, 3);
    }

    #[test]
    fn of_codex_the_last_running_total_counts() {
        let line = |sent: u64| {
            serde_json::json!({ "type": "event_msg", "payload": { "type": "token_count", "info": { "total_token_usage": {
                "input_tokens": sent, "cached_input_tokens": 40, "output_tokens": 7, "reasoning_output_tokens": 3, "total_tokens": sent + 7,
            } } } })
            .to_string()
        };
        let text = [line(50), "{\"payload\":{\"info\":null}}".to_owned(), line(100)].join("\n");
        assert_eq!(of_codex(text.as_bytes()), Some(Tokens { total: 67, cached: 40 }));
        assert_eq!(of_codex(&b"{}"[..]), None);
    }
}
