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
        let mut groups = vec![ToolGroup::Files];
        if self.intents {
            groups.push(ToolGroup::Intents);
        }
        if self.teams {
            groups.extend([ToolGroup::Tasks, ToolGroup::Messages]);
        }
        groups
    }
}
