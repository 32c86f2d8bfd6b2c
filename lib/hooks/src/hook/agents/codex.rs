//! Codex: <https://developers.openai.com/codex/hooks>, and the schemas in `codex-rs/hooks/schema` of its repository.
//! Fields and answers are those of Claude Code. But Codex rejects `ask`, and `allow` without new arguments, and then
//! runs the tool; neither is ever sent. Edits are patches: the tool is `apply_patch` even if a matcher says `Edit` or
//! `Write`.

use serde_json::json;

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::{claude_code, table};

pub(super) const FORM: Form = Form {
    agent: "codex",
    rows: &table::CODEX,
    conversation_fields: &["session_id"],
    answer,
    ..claude_code::FORM
};

/// Codex accepts new arguments only with `allow`. It still asks its user if its own rules require that.
fn answer(event: &str, decision: &Decision) -> Answer {
    let mut answer = claude_code::answer(event, decision);
    if let (Decision::Rewrite { .. }, Some(body)) = (decision, &mut answer.body) {
        body["hookSpecificOutput"]["permissionDecision"] = json!("allow");
    }
    answer
}
