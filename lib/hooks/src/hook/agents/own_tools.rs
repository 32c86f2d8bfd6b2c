//! The tools of Coord's own MCP server, by the names that agents give them.

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
