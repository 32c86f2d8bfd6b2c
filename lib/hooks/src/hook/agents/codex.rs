//! Codex: <https://developers.openai.com/codex/hooks>, and the schemas in `codex-rs/hooks/schema` of its repository. The answers are
//! those of Claude Code, but `ask` and `allow` without new arguments are rejected, and the tool runs; neither is ever sent. Edits
//! are patches: the tool is `apply_patch` also where a matcher says `Edit` or `Write`.

use serde_json::json;

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::{claude_code, table};

pub(super) const FORM: Form = Form {
    agent: "codex",
    rows: &table::CODEX,
    conversation: &["session_id"],
    writer: &["agent_id"],
    takes_arguments: true,
    arguments: &["tool_input"],
    name: &["tool_name"],
    exception: |_, _, _| None,
    takes_context: |_, moment| !moment.is_end(),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

/// New arguments are accepted with `allow` alone; Codex still asks its user if its own rules say so.
fn answer(event: &str, decision: &Decision) -> Answer {
    let mut answer = claude_code::answer(event, decision);
    if let (Decision::Rewrite { .. }, Some(body)) = (decision, &mut answer.body) {
        body["hookSpecificOutput"]["permissionDecision"] = json!("allow");
    }
    answer
}
