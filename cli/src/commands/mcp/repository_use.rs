//! The extensions that a repository uses.

use coord_mcp::ToolGroup;

/// Whether the repository has intents and teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepositoryUse {
    pub intents: bool,
    pub teams: bool,
}

impl RepositoryUse {
    /// The groups of tools that the repository has a use for.
    pub fn groups(self) -> Vec<ToolGroup> {
        let mut extension_groups: Vec<ToolGroup> = Vec::new();
        #[cfg(feature = "intents")]
        if self.intents {
            extension_groups.push(coord_intent_tools::INTENT_TOOLS);
        }
        #[cfg(feature = "teams")]
        if self.teams {
            extension_groups.extend([coord_team_tools::TASKS, coord_team_tools::MESSAGES]);
        }
        ToolGroup::in_use(&extension_groups)
    }
}
