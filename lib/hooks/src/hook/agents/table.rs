//! The table of all agents: the moment of each event, and the effect of each tool. A tool that is not in it, such as
//! one of an MCP server, counts as one that changes something, unless the repository's `coord.toml` says otherwise.

use super::super::event::Moment::{
    self, AfterTool, BeforeTool, Compaction, Environment, Idle, Interruption, Prompt, SessionEnd, SessionStart,
    TurnEnd, WriterEnd, WriterStart,
};
use ToolEffect::{Edits, Patches, PowerShell, Reads, ReadsFile, Shell};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// It changes no file.
    Reads,
    /// It gives the content of the file that it names to the model.
    ReadsFile,
    /// It writes the file that it names.
    Edits,
    /// It applies a patch.
    Patches,
    /// It runs a command.
    Shell,
    /// It runs a command of PowerShell.
    PowerShell,
}

/// The events and tools of one agent.
pub(super) struct Rows {
    pub(super) events: &'static [(&'static str, Moment)],
    pub(super) tools: &'static [Row],
    /// Whether VS Code's own agent runs these hooks too.
    pub(super) runs_in_vscode: bool,
}

/// Effects, and the names of their tools.
type Row = (ToolEffect, &'static [&'static str]);

/// The tools of VS Code's own agent, which runs the hooks that are written for Claude Code and for Copilot.
const OF_VSCODE: [Row; 4] = [
    (
        Edits,
        &[
            "create_file",
            "replace_string_in_file",
            "multi_replace_string_in_file",
            "insert_edit_into_file",
            "edit_notebook_file",
            "editFiles",
        ],
    ),
    (Shell, &["run_in_terminal"]),
    (ReadsFile, &["read_file"]),
    (
        Reads,
        &[
            "copilot_getNotebookSummary",
            "create_directory",
            "fetch_webpage",
            "file_search",
            "get_changed_files",
            "get_errors",
            "get_project_setup_info",
            "get_search_view_results",
            "get_terminal_output",
            "get_vscode_api",
            "github_repo",
            "grep_search",
            "list_code_usages",
            "list_dir",
            "manage_todo_list",
            "open_simple_browser",
            "runSubagent",
            "semantic_search",
            "terminal_last_command",
            "terminal_selection",
            "test_failure",
            "tool_search",
            "vscode_askQuestions",
        ],
    ),
];

impl Rows {
    pub(super) fn tool(&self, name: &str) -> Option<ToolEffect> {
        let of_vscode: &[_] = match self.runs_in_vscode {
            true => &OF_VSCODE,
            false => &[],
        };
        let mut rows = self.tools.iter().chain(of_vscode);
        let row = rows.find(|(_, names)| names.contains(&name));
        row.map(|(effect, _)| *effect)
    }
}

pub(super) const CLAUDE_CODE: Rows = Rows {
    runs_in_vscode: true,
    events: &[
        ("SessionStart", SessionStart),
        ("PostCompact", Compaction),
        ("UserPromptSubmit", Prompt),
        ("PreToolUse", BeforeTool),
        ("PostToolUse", AfterTool),
        ("PostToolUseFailure", AfterTool),
        ("Stop", TurnEnd),
        ("SubagentStart", WriterStart),
        // A second hook at Stop, in the background.
        ("Idle", Idle),
        ("SubagentStop", WriterEnd),
        ("SessionEnd", SessionEnd),
    ],
    tools: &[
        (Edits, &["Edit", "MultiEdit", "Write", "NotebookEdit"]),
        (Patches, &["apply_patch"]),
        (Shell, &["Bash"]),
        (PowerShell, &["PowerShell"]),
        (ReadsFile, &["Read", "NotebookRead"]),
        (
            Reads,
            &[
                "Agent",
                "AskUserQuestion",
                "BashOutput",
                "CronCreate",
                "CronDelete",
                "CronList",
                "EnterPlanMode",
                "ExitPlanMode",
                "Glob",
                "Grep",
                "KillShell",
                "LS",
                "LSP",
                "ListAgents",
                "ListMcpResourcesTool",
                "Monitor",
                "ReadMcpResourceDirTool",
                "ReadMcpResourceTool",
                "ReportFindings",
                "ScheduleWakeup",
                "SendMessage",
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
    runs_in_vscode: false,
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
            &[
                "close_agent",
                "create_goal",
                "get_goal",
                "grep_files",
                "list_dir",
                "list_mcp_resource_templates",
                "list_mcp_resources",
                "read_mcp_resource",
                "request_user_input",
                "resume_agent",
                "send_input",
                "send_message",
                "spawn_agent",
                "update_goal",
                "update_plan",
                "view_image",
                "wait_agent",
                "web_search",
            ],
        ),
    ],
};

pub(super) const CURSOR: Rows = Rows {
    runs_in_vscode: false,
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
    runs_in_vscode: false,
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
                "invoke_agent",
                "list_background_processes",
                "list_directory",
                "read_background_output",
                "read_many_files",
                "search_file_content",
                "update_topic",
                "web_fetch",
                "write_todos",
            ],
        ),
    ],
};

pub(super) const COPILOT: Rows = Rows {
    runs_in_vscode: true,
    events: &[
        ("sessionStart", SessionStart),
        ("userPromptSubmitted", Prompt),
        ("preToolUse", BeforeTool),
        ("postToolUse", AfterTool),
        ("postToolUseFailure", AfterTool),
        ("agentStop", TurnEnd),
        ("subagentStart", WriterStart),
        ("notification", Idle),
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
        (PowerShell, &["powershell"]),
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
                "list_agents",
                "list_bash",
                "list_powershell",
                "read_agent",
                "read_bash",
                "read_powershell",
                "report_intent",
                "rg",
                "session_store_sql",
                "show_file",
                "skill",
                "sql",
                "stop_bash",
                "stop_powershell",
                "task",
                "update_todo",
                "web_fetch",
                "web_search",
                "write_agent",
            ],
        ),
    ],
};

pub(super) const OPENCODE: Rows = Rows {
    runs_in_vscode: false,
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
                "list_mcp_resource_templates",
                "list_mcp_resources",
                "lsp",
                "question",
                "read_mcp_resource",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_of_an_agent_is_in_two_rows() {
        for rows in [CLAUDE_CODE, CODEX, CURSOR, GEMINI, COPILOT, OPENCODE] {
            let of_vscode = OF_VSCODE.iter().filter(|_| rows.runs_in_vscode);
            let tools = rows.tools.iter().chain(of_vscode);
            let mut names: Vec<&str> = tools.flat_map(|(_, names)| names.iter().copied()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
