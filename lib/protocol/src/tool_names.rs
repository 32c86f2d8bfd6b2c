//! The names of all tools of Coord's MCP server.

/// Declares a constant for each name, and a list of all names.
macro_rules! names {
    ($($constant:ident = $name:literal;)*) => {
        $(#[expect(missing_docs, reason = "its value says it")] pub const $constant: &str = $name;)*

        /// The names of all tools.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

names! {
    CHECK_STATUS = "check_status";
    POST_STATUS = "post_status";

    SELECT_ACTIVE_INTENT = "select_active_intent";
    UPDATE_INTENT = "update_intent";

    TEAM = "team";
    TASK_CREATE = "task_create";
    TASK_LIST = "task_list";
    TASK_CLAIM = "task_claim";
    TASK_UPDATE = "task_update";
    MESSAGE_SEND = "message_send";
    MESSAGE_READ = "message_read";

    SPAWN_TEAM = "spawn-team";
    DISCOVER_TEAMS = "discover-teams";
    JOIN_TEAM = "join-team";
    GET_TEAM_INFO = "get-team-info";
    SEND_MESSAGE = "send-message";
    BROADCAST_MESSAGE = "broadcast-message";
    READ_MESSAGES = "read-messages";
    POLL_INBOX = "poll-inbox";
    CREATE_TASK = "create-task";
    GET_TASKS = "get-tasks";
    CLAIM_TASK = "claim-task";
    UPDATE_TASK = "update-task";
    REQUEST_SHUTDOWN = "request-shutdown";
    APPROVE_SHUTDOWN = "approve-shutdown";
}

/// Whether the tool belongs to the plugin opencode-teams: only names of its tools have hyphens.
pub fn is_opencode_tool(name: &str) -> bool {
    name.contains('-')
}
