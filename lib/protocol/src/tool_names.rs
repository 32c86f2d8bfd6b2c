//! The names of all tools of Coord's MCP server.

/// Declares the names, and a list of them.
macro_rules! names {
    ($($constant:ident = $name:literal;)*) => {
        $(#[expect(missing_docs, reason = "its value says it")] pub const $constant: &str = $name;)*

        /// All of them.
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

/// Whether the tool is one of the plugin opencode-teams, whose names have hyphens.
pub fn is_of_opencode(name: &str) -> bool {
    name.contains('-')
}
