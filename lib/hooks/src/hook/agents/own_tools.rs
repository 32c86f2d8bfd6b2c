//! The tools of Coord's own MCP server, by the names that agents give them.

use coord_protocol::tool_names;

/// The tool of Coord's own MCP server that an agent calls `name`, such as `mcp__coord__check_status`: each agent joins
/// the names of server and tool in its own way.
pub(super) fn find(name: &str) -> Option<&'static str> {
    const SEPARATORS: [char; 5] = ['_', '-', ':', '.', '/'];
    let has_name = |tool: &&str| {
        name.strip_suffix(*tool).is_some_and(|server| {
            let server = server.trim_end_matches(SEPARATORS).rsplit(SEPARATORS).next();
            name == *tool || server == Some("coord")
        })
    };
    tool_names::ALL.iter().copied().find(has_name)
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
            assert_eq!(find(name), Some("check_status"), "{name}");
        }
        for name in [
            "mcp__other__check_status",
            "discoord_check_status",
            "x_check_status",
            "coord",
            "mcp__coord__delete",
        ] {
            assert_eq!(find(name), None, "{name}");
        }
        for (name, tool) in [
            ("coord_read-messages", "read-messages"),
            // One that ends like another.
            ("mcp__coord__join-team", "join-team"),
            ("mcp__coord__team", "team"),
        ] {
            assert_eq!(find(name), Some(tool), "{name}");
        }
        assert_eq!(find("other_read-messages"), None);
    }
}
