//! The server that runs the tools. It determines the arguments that a caller sends: to a deployment, all of them; to
//! `coord mcp`, only those that git does not know.

/// The server that runs the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolHost {
    /// An endpoint. A caller sends repository, branch, commits and agent.
    Deployment,
    /// `coord mcp`, in the working copy of the agent.
    WorkingCopy,
}

impl ToolHost {
    /// The arguments that the server fills in, so schemas leave them out. Calls may still have them.
    pub(super) fn filled_arguments(self) -> &'static [&'static str] {
        match self {
            ToolHost::Deployment => &[],
            ToolHost::WorkingCopy => &["repo_url", "agent_head", "base_head", "agent_id", "new_repo_head"],
        }
    }

    /// Whether a call may lack the argument `name`, though a request must have it.
    pub(super) fn is_optional(self, name: &str) -> bool {
        self == ToolHost::WorkingCopy && (name == "branch" || self.filled_arguments().contains(&name))
    }

    /// The template of a URI. Has no repository if the server fills it in.
    pub(super) fn uri_template(self, template: &str) -> String {
        match self {
            ToolHost::Deployment => template.to_owned(),
            ToolHost::WorkingCopy => template.replace("{?repo_url,", "{?").replace("{?repo_url}", ""),
        }
    }
}
