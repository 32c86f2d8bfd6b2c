//! Which arguments a caller sends: to a deployment, all of them; to `coord mcp`, only those that git does not know.

/// The server that offers tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// An endpoint. A caller sends repository, branch, commits and agent.
    Deployment,
    /// `coord mcp`, in the working copy of the agent.
    WorkingCopy,
}

impl Offer {
    /// The arguments that the server fills in, so schemas leave them out. Calls may still have them.
    pub(super) fn filled_arguments(self) -> &'static [&'static str] {
        match self {
            Offer::Deployment => &[],
            Offer::WorkingCopy => &["repo_url", "agent_head", "base_head", "agent_id", "new_repo_head"],
        }
    }

    /// Whether a call may lack the argument `name`, though a request must have it.
    pub(super) fn is_optional(self, name: &str) -> bool {
        self == Offer::WorkingCopy && (name == "branch" || self.filled_arguments().contains(&name))
    }

    /// The template of a URI. Has no repository if the server fills it in.
    pub(super) fn uri_template(self, template: &str) -> String {
        match self {
            Offer::Deployment => template.to_owned(),
            Offer::WorkingCopy => template.replace("{?repo_url,", "{?").replace("{?repo_url}", ""),
        }
    }
}
