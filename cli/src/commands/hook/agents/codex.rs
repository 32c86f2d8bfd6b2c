//! Codex: <https://developers.openai.com/codex/hooks>, and the schemas in `codex-rs/hooks/schema` of its repository. The answers are
//! those of Claude Code, but `ask` and `allow` without new arguments are rejected, and the tool runs; neither is ever sent. Edits
//! are patches: the tool is `apply_patch` also where a matcher says `Edit` or `Write`.

use super::super::event::Moment;
use super::{Form, claude_code, table};

pub(super) const FORM: Form = Form {
    agent: "codex",
    rows: &table::CODEX,
    conversation: &["session_id"],
    has_many_conversations: false,
    arguments: &["tool_input"],
    name: &["tool_name"],
    exception: |_, _, _| None,
    takes_context: |_, moment| !matches!(moment, Moment::TurnEnd | Moment::SessionEnd),
    has_failed: |_| false,
    answer: claude_code::answer,
    denies_by_any_status: false,
};
