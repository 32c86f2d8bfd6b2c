//! One table: which event of each agent is which moment, and which of its tools reads or changes. A tool that is not here, such as
//! one of an MCP server, changes something, unless the repository's `coord.toml` says otherwise.

use super::super::event::Moment::{
    self, AfterTool, BeforeTool, Compaction, Environment, Interruption, Prompt, SessionEnd, SessionStart, TurnEnd,
    WriterEnd, WriterStart,
};
use Use::{Edits, Patches, Reads, ReadsFile, Shell};

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It changes no file.
    Reads,
    /// It hands the content of the file that it names to the model.
    ReadsFile,
    /// It writes the file that it names.
    Edits,
    /// It applies a patch.
    Patches,
    /// It runs a command.
    Shell,
}

/// The events and tools of one agent.
pub(super) struct Rows {
    pub(super) events: &'static [(&'static str, Moment)],
    pub(super) tools: &'static [(Use, &'static [&'static str])],
}

impl Rows {
    /// What the tool `name` does.
    pub(super) fn tool(&self, name: &str) -> Option<Use> {
        let found = self.tools.iter().find(|(_, names)| names.contains(&name));
        found.map(|(does, _)| *does)
    }
}

pub(super) const CLAUDE_CODE: Rows = Rows {
    events: &[
        ("SessionStart", SessionStart),
        ("PostCompact", Compaction),
        ("UserPromptSubmit", Prompt),
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("Stop", TurnEnd),
        ("SubagentStart", WriterStart),
        ("SubagentStop", WriterEnd),
        ("SessionEnd", SessionEnd),
    ],
    tools: &[
        (Edits, &["Edit", "MultiEdit", "Write", "NotebookEdit"]),
        (Shell, &["Bash"]),
        (ReadsFile, &["Read", "NotebookRead"]),
        (
            Reads,
            &[
                "Agent",
                "AskUserQuestion",
                "BashOutput",
                "EnterPlanMode",
                "ExitPlanMode",
                "Glob",
                "Grep",
                "KillShell",
                "LS",
                "LSP",
                "ListMcpResourcesTool",
                "ReadMcpResourceTool",
                "Skill",
                "SlashCommand",
                "Task",
                "TaskCreate",
                "TaskGet",
                "TaskList",
                "TaskOutput",
                "TaskStop",
                "TaskUpdate",
                "TodoWrite",
                "ToolSearch",
                "WebFetch",
                "WebSearch",
            ],
        ),
    ],
};

pub(super) const CODEX: Rows = Rows {
    events: &[
        ("SessionStart", SessionStart),
        ("PostCompact", Compaction),
        ("UserPromptSubmit", Prompt),
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("Stop", TurnEnd),
        ("Interrupt", Interruption),
        ("SubagentStart", WriterStart),
        ("SubagentStop", WriterEnd),
        ("SessionEnd", SessionEnd),
    ],
    tools: &[
        (Patches, &["apply_patch", "Edit", "Write"]),
        (Shell, &["Bash"]),
        (ReadsFile, &["read_file"]),
        (
            Reads,
            &["grep_files", "list_dir", "update_plan", "view_image", "web_search"],
        ),
    ],
};

pub(super) const CURSOR: Rows = Rows {
    events: &[
        ("sessionStart", SessionStart),
        ("beforeSubmitPrompt", Prompt),
        ("preToolUse", BeforeTool),
        ("beforeShellExecution", BeforeTool),
        ("beforeMCPExecution", BeforeTool),
        ("postToolUse", AfterTool),
        ("postToolUseFailure", AfterTool),
        ("afterShellExecution", AfterTool),
        ("afterFileEdit", AfterTool),
        ("stop", TurnEnd),
        ("sessionEnd", SessionEnd),
    ],
    tools: &[
        (
            Edits,
            &[
                "Write",
                "Edit",
                "MultiEdit",
                "StrReplace",
                "Delete",
                "EditNotebook",
                "NotebookEdit",
                "TabWrite",
            ],
        ),
        (Patches, &["ApplyPatch"]),
        (Shell, &["Shell", "Bash"]),
        (ReadsFile, &["Read", "TabRead"]),
        (
            Reads,
            &[
                "AskQuestion",
                "FetchMcpResource",
                "Glob",
                "Grep",
                "LS",
                "ListMcpResources",
                "ReadLints",
                "SemanticSearch",
                "SwitchMode",
                "Task",
                "TodoWrite",
                "WebFetch",
                "WebSearch",
            ],
        ),
    ],
};

pub(super) const GEMINI: Rows = Rows {
    events: &[
        ("SessionStart", SessionStart),
        ("BeforeAgent", Prompt),
        ("BeforeTool", BeforeTool),
        ("AfterTool", AfterTool),
        ("AfterAgent", TurnEnd),
        ("SessionEnd", SessionEnd),
    ],
    tools: &[
        (Edits, &["write_file", "replace", "edit"]),
        (Shell, &["run_shell_command"]),
        (ReadsFile, &["read_file"]),
        (
            Reads,
            &[
                "activate_skill",
                "ask_user",
                "enter_plan_mode",
                "exit_plan_mode",
                "get_internal_docs",
                "glob",
                "google_web_search",
                "grep_search",
                "list_directory",
                "read_many_files",
                "search_file_content",
                "web_fetch",
                "write_todos",
            ],
        ),
    ],
};

pub(super) const COPILOT: Rows = Rows {
    events: &[
        ("sessionStart", SessionStart),
        ("userPromptSubmitted", Prompt),
        ("preToolUse", BeforeTool),
        ("postToolUse", AfterTool),
        ("postToolUseFailure", AfterTool),
        ("agentStop", TurnEnd),
        ("subagentStart", WriterStart),
        ("sessionEnd", SessionEnd),
        ("SessionStart", SessionStart),
        ("UserPromptSubmit", Prompt),
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("Stop", TurnEnd),
        ("SubagentStart", WriterStart),
        ("SessionEnd", SessionEnd),
    ],
    tools: &[
        (Edits, &["edit", "create", "str_replace_editor", "Edit", "Write"]),
        (Patches, &["apply_patch"]),
        (Shell, &["bash", "Bash"]),
        (ReadsFile, &["view", "Read"]),
        (
            Reads,
            &[
                "Glob",
                "Grep",
                "ask_user",
                "fetch_copilot_cli_documentation",
                "glob",
                "grep",
                "list_bash",
                "read_bash",
                "report_intent",
                "rg",
                "show_file",
                "skill",
                "stop_bash",
                "task",
                "update_todo",
                "web_fetch",
                "web_search",
            ],
        ),
    ],
};

pub(super) const OPENCODE: Rows = Rows {
    events: &[
        ("session.created", SessionStart),
        ("session.compacted", Compaction),
        ("chat.message", Prompt),
        ("tool.execute.before", BeforeTool),
        ("tool.execute.after", AfterTool),
        ("session.idle", TurnEnd),
        ("session.deleted", SessionEnd),
        ("shell.env", Environment),
    ],
    tools: &[
        (Edits, &["edit", "write", "multiedit"]),
        (Patches, &["patch", "apply_patch"]),
        (Shell, &["bash"]),
        (ReadsFile, &["read"]),
        (
            Reads,
            &[
                "codesearch",
                "glob",
                "grep",
                "invalid",
                "list",
                "lsp",
                "question",
                "skill",
                "task",
                "todoread",
                "todowrite",
                "webfetch",
                "websearch",
            ],
        ),
    ],
};

/// The tools of Coord's own MCP server: its own ones, then those of the plugin opencode-teams.
const OWN: [&str; 25] = [
    "check_status",
    "post_status",
    "select_active_intent",
    "update_intent",
    "team",
    "task_create",
    "task_list",
    "task_claim",
    "task_update",
    "message_send",
    "message_read",
    "spawn-team",
    "discover-teams",
    "join-team",
    "get-team-info",
    "send-message",
    "broadcast-message",
    "read-messages",
    "poll-inbox",
    "create-task",
    "get-tasks",
    "claim-task",
    "update-task",
    "request-shutdown",
    "approve-shutdown",
];

/// The tool of Coord's own MCP server that an agent calls `name`, such as `mcp__coord__check_status`: each agent joins server and
/// tool in its own way.
pub(super) fn own(name: &str) -> Option<&'static str> {
    let tool = OWN.into_iter().find(|tool| name.ends_with(tool))?;
    let server = name.strip_suffix(tool)?.trim_end_matches(['_', '-', ':', '.', '/']);
    let server = server.rsplit(['_', '-', ':', '.', '/']).next().unwrap_or_default();
    (server == "coord" || name == tool).then_some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_of_an_agent_is_in_two_rows() {
        for rows in [CLAUDE_CODE, CODEX, CURSOR, GEMINI, COPILOT, OPENCODE] {
            let mut names: Vec<&str> = rows.tools.iter().flat_map(|(_, names)| names.iter().copied()).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }

    #[test]
    fn tools_of_coords_own_server_are_known_in_the_form_of_each_agent() {
        for name in [
            "mcp__coord__check_status",
            "mcp_coord_check_status",
            "coord-check_status",
            "coord_check_status",
            "MCP:coord:check_status",
            "check_status",
        ] {
            assert_eq!(own(name), Some("check_status"), "{name}");
        }
        for name in [
            "mcp__other__check_status",
            "discoord_check_status",
            "x_check_status",
            "coord",
            "mcp__coord__delete",
        ] {
            assert_eq!(own(name), None, "{name}");
        }
        assert_eq!(own("coord_read-messages"), Some("read-messages"));
        assert_eq!(own("other_read-messages"), None);
    }
}
