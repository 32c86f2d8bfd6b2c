//! The tools of MCP that a build links, by its features: a row for each extension. `lib/extensions` has its routes; this crate is apart
//! from it, because the function of MCP alone links the SDK.

use coord_http::Protocol;
use coord_mcp::ToolSets;
use futures::FutureExt;

/// The extensions, in the order of the list of tools.
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
