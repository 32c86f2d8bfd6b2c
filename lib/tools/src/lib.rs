//! The MCP tools of the extensions that a build links, by its features. `lib/extensions` has their routes. This crate
//! is separate, because only the function of MCP links the SDK.

use coord_http::Protocol;
use coord_mcp::ToolSets;
use futures::FutureExt;

/// The tools of the extensions. Clients list them in this order.
pub const SETS: ToolSets = &[
    #[cfg(feature = "intents")]
    &coord_intent_tools::INTENTS,
    #[cfg(feature = "teams")]
    &coord_team_tools::TEAMS,
    #[cfg(feature = "opencode")]
    &coord_opencode_tools::OPENCODE,
];

/// The handler of `/api/mcp`, as an extension of the router.
pub fn protocol() -> Protocol {
    Protocol(|session, request| coord_mcp::serve(SETS, session, request).boxed())
}

#[cfg(test)]
mod tests {
    use coord_protocol::tool_names;

    use super::SETS;

    #[test]
    #[cfg(all(feature = "intents", feature = "teams", feature = "opencode"))]
    fn each_tool_has_a_name_of_the_list_and_each_name_a_tool() {
        let core_tools = [tool_names::CHECK_STATUS, tool_names::POST_STATUS];
        let extension_tools = SETS.iter().flat_map(|set| set.tools).map(|tool| tool.name);
        let names: Vec<&str> = core_tools.into_iter().chain(extension_tools).collect();
        assert_eq!(names, tool_names::ALL);
    }
}
